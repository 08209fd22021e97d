"""The offline model, driven by a real agent with the real tools."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.test import TestModel

from laneway.lanes.tools.read_file import read_file as read_file_below
from laneway.lanes.tools.server_info import server_info_with_log
from laneway.llm.offline import NEEDS_KEY, OfflineModel

HERE = Path(__file__).parent
LOG = """\
Nov 15 20:00:01 vm cron[11]: job started
Nov 15 20:00:02 vm app[12]: error: connection refused, token=abcdef123456
Nov 15 20:00:03 vm app[12]: recovered
"""


class Point(BaseModel):
    x: int
    y: int


@dataclass(frozen=True)
class Exchange:
    """One question put to the agent: what it said, which topics it read, what the tool told it."""

    said: str
    topics: tuple[str, ...]
    facts: dict[str, Any]


@pytest.fixture
def agent(tmp_path: Path) -> Agent[None, str]:
    log = tmp_path / "laneway.log"
    log.write_text(LOG)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "notes.txt").write_text("Buy milk.\n")

    async def read_file(path: str) -> dict[str, Any]:
        """The text of one file in the shared folder."""
        return await read_file_below(shared, path)

    return Agent(OfflineModel(hostname="atlas"), tools=[server_info_with_log(log), read_file])


async def ask(agent: Agent[None, str], question: str) -> Exchange:
    run = await agent.run(question)
    calls = [call for call in tool_calls(run.all_messages()) if call.tool_name == "server_info"]
    topics = tuple(topic for call in calls for topic in call.args_as_dict()["topics"])
    facts: dict[str, Any] = {}
    for message in run.all_messages():
        for part in message.parts:
            if isinstance(part, ToolReturnPart) and part.tool_name == "server_info":
                facts |= cast("dict[str, Any]", part.content)["result"]
    return Exchange(run.output, topics, facts)


def tool_calls(messages: list[ModelMessage]) -> list[ToolCallPart]:
    responses = [message for message in messages if isinstance(message, ModelResponse)]
    return [part for message in responses for part in message.parts if isinstance(part, ToolCallPart)]


def leaves(value: Any) -> Iterator[str]:
    """Every single figure or word in a tool's result, as it would be written in a sentence."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:g}"


def mentions(said: str, fact: str) -> bool:
    return bool(fact) and re.search(rf"(?<![\w.]){re.escape(fact)}(?!\w)", said) is not None


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text().splitlines() if line.strip()]


def is_answered(row: dict[str, Any], got: Exchange) -> bool:
    """Right topics (all of them where the question joins several), a fact of theirs, and the expected words."""
    wanted, read = set(row["topics"]), set(got.topics)
    joined = len(wanted) > 1 and re.search(r"[&+]|\b(?:and|und|y|et|plus)\b", row["text"].lower())
    if not (wanted <= read if joined else wanted & read):
        return False
    told = any(mentions(got.said, fact) for topic in wanted & read for fact in leaves(got.facts.get(topic)))
    return told and all(word.lower() in got.said.lower() for word in row.get("must_mention", ()))


async def test_it_answers_nine_of_ten_questions_about_this_server_with_a_fact_the_tool_read(
    agent: Agent[None, str],
) -> None:
    asked = rows("server_questions.jsonl")
    missed = [(row, got) for row in asked if not is_answered(row, got := await ask(agent, row["text"]))]
    print(f"\noffline model: {len(asked) - len(missed)} of {len(asked)} server questions answered")
    for row, got in missed:
        print(f"  missed {row['text']!r}: wanted {row['topics']}, read {list(got.topics)}, said {got.said[:90]!r}")
    assert len(asked) == 60
    assert len(asked) - len(missed) >= 54


async def test_it_invents_no_answer_to_questions_that_are_not_about_this_server_now(
    agent: Agent[None, str],
) -> None:
    asked = rows("not_server_questions.jsonl")
    answers = [(row["text"], await ask(agent, row["text"])) for row in asked]
    invented = [(text, got) for text, got in answers if NEEDS_KEY not in got.said or got.topics]
    print(f"\noffline model: {len(invented)} of {len(asked)} other questions answered with an invention")
    for text, got in invented:
        print(f"  invented for {text!r}: read {list(got.topics)}, said {got.said[:90]!r}")
    assert len(asked) == 30
    assert invented == []
