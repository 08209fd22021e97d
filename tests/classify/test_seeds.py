"""The examples that the seeds give for their own classification, judged without a model."""

from __future__ import annotations

import pytest

from tests.classify.encoders import classifier

RUNNER = {
    "patch": (
        "always send email when price drops",
        "whenever user signs up, notify slack",
        "add notification step after processing",
        "if error occurs then alert ops team",
    ),
    "execute": (
        "show me top 10 flights",
        "fetch latest prices",
        "what are the most expensive items?",
        "get users who signed up today",
    ),
}
FUNCTIONS = {
    "Calculate factorial": "code",
    "Generate user profile JSON": "object",
    "Build a blog application": "agentic",
    "Review code for security": "human",
}

pytestmark = pytest.mark.slow


def test_the_eight_prompts_of_the_agent_runner_are_judged_as_it_says() -> None:
    expected = {text: (label, False) for label, texts in RUNNER.items() for text in texts}
    judged = {text: classifier().judge("lane", text) for text in expected}
    assert {text: (found.label, found.unsure) for text, found in judged.items()} == expected


def test_the_four_kinds_of_functions_are_told_apart() -> None:
    assert {text: classifier().judge("function", text).label for text in FUNCTIONS} == FUNCTIONS
