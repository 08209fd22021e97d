"""The examples that the seeds give for their own classification, judged without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import load

PATCH = (
    "always send email when price drops",
    "whenever user signs up, notify slack",
    "add notification step after processing",
    "if error occurs then alert ops team",
)
EXECUTE = (
    "show me top 10 flights",
    "fetch latest prices",
    "what are the most expensive items?",
    "get users who signed up today",
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def local(request: pytest.FixtureRequest) -> LocalClassifier:
    """By the shipped weights; while they are being changed, by those in pytest's cache."""
    cache: Path = request.config.cache.mkdir("classify")
    return LocalClassifier({name: load()[name] for name in ("lane", "function")}, cache)


@pytest.mark.timeout(300)
def test_the_eight_prompts_of_the_agent_runner_are_judged_as_it_says(local: LocalClassifier) -> None:
    judged = {text: local.judge("lane", text) for text in (*PATCH, *EXECUTE)}
    assert [text for text in PATCH if judged[text].label != "patch"] == []
    assert [text for text in EXECUTE if judged[text].label != "execute"] == []
    assert [text for text, found in judged.items() if found.unsure] == []


FUNCTIONS = (
    ("Calculate factorial", "code"),
    ("Generate user profile JSON", "object"),
    ("Build a blog application", "agentic"),
    ("Review code for security", "human"),
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("description", "kind"), FUNCTIONS)
def test_the_four_kinds_of_functions_are_told_apart(local: LocalClassifier, description: str, kind: str) -> None:
    assert local.judge("function", description).label == kind
