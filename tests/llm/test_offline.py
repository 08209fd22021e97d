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

import psutil
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
from laneway.llm.offline.server_topics import server_question

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
    joined = row.get("all", len(wanted) > 1 and re.search(r"[&+]|\b(?:and|und|y|et|plus)\b", row["text"].lower()))
    if not (wanted <= read if joined else wanted & read):
        return False
    told = any(mentions(got.said, fact) for topic in wanted & read for fact in leaves(got.facts.get(topic)))
    return told and all(word.lower() in got.said.lower() for word in row.get("must_mention", ()))


# The rules were mended with the first set at hand; the fresh one was written apart and scored 55 of 60, unseen.
@pytest.mark.parametrize("questions", ["server_questions.jsonl", "server_questions_fresh.jsonl"])
async def test_it_answers_nine_of_ten_questions_about_this_server_with_a_fact_the_tool_read(
    agent: Agent[None, str], questions: str
) -> None:
    asked = rows(questions)
    missed = [(row, got) for row in asked if not is_answered(row, got := await ask(agent, row["text"]))]
    print(f"\noffline model: {len(asked) - len(missed)} of {len(asked)} server questions answered")
    for row, got in missed:
        print(f"  missed {row['text']!r}: wanted {row['topics']}, read {list(got.topics)}, said {got.said[:90]!r}")
    assert len(asked) == 60
    assert len(asked) - len(missed) >= 54


@pytest.mark.parametrize("questions", ["not_server_questions.jsonl", "not_server_questions_fresh.jsonl"])
async def test_it_invents_no_answer_to_questions_that_are_not_about_this_server_now(
    agent: Agent[None, str], questions: str
) -> None:
    asked = rows(questions)
    answers = [(row["text"], await ask(agent, row["text"])) for row in asked]
    invented = [(text, got) for text, got in answers if NEEDS_KEY not in got.said or got.topics]
    print(f"\noffline model: {len(invented)} of {len(asked)} other questions answered with an invention")
    for text, got in invented:
        print(f"  invented for {text!r}: read {list(got.topics)}, said {got.said[:90]!r}")
    assert len(asked) == 30
    assert invented == []


async def test_it_says_yes_or_no_to_a_named_program_by_looking_at_the_processes(agent: Agent[None, str]) -> None:
    absent = await ask(agent, "is nosuchdaemon running?")
    assert absent.facts["processes"]["running"] is False
    assert "nosuchdaemon is not running" in absent.said

    ourselves = psutil.Process().name()
    present = await ask(agent, f"is {ourselves} still running?")
    assert present.facts["processes"]["running"] is True
    assert f"{ourselves} is running" in present.said


async def test_a_question_about_the_logs_shows_lines_of_the_log_without_the_secret(agent: Agent[None, str]) -> None:
    got = await ask(agent, "any errors in the logs?")
    if got.facts["logs"]["file"].endswith("laneway.log"):
        assert "connection refused" in got.said
        assert "abcdef123456" not in got.said
    assert got.facts["logs"]["file"] in got.said


async def test_the_number_of_log_lines_asked_for_is_handed_to_the_tool(agent: Agent[None, str]) -> None:
    run = await agent.run("show me the last 2 lines of the log")
    (call,) = tool_calls(run.all_messages())
    assert call.args_as_dict() == {"topics": ["logs"], "lines": 2}


async def test_two_topics_in_one_question_are_read_in_one_call(agent: Agent[None, str]) -> None:
    run = await agent.run("how full is the disk and how much memory is free?")
    (call,) = tool_calls(run.all_messages())
    assert set(call.args_as_dict()["topics"]) == {"disk", "memory"}
    assert "full" in run.output
    assert "available" in run.output


@pytest.mark.parametrize(
    "question", ["read the file notes.txt", "show me notes.txt", "was steht in notes.txt?", "lis le fichier notes.txt"]
)
async def test_a_file_asked_for_is_read_by_the_tool_and_shown(agent: Agent[None, str], question: str) -> None:
    assert "Buy milk." in (await agent.run(question)).output


@pytest.mark.parametrize("question", ["show me ../laneway.log", "read /etc/hostname", "open missing.txt"])
async def test_a_file_that_may_not_be_read_is_refused_with_the_reason(agent: Agent[None, str], question: str) -> None:
    assert "I could not read" in (await agent.run(question)).output


@pytest.mark.parametrize(
    "question",
    [
        "delete notes.txt",
        "summarise notes.txt",
        "read notes.txt and send it to Kim",
        "what is python3.11",
        "stpo nginx",
    ],
)
async def test_more_than_reading_a_file_needs_a_key(agent: Agent[None, str], question: str) -> None:
    run = await agent.run(question)
    assert run.output.startswith(NEEDS_KEY)
    assert tool_calls(run.all_messages()) == []


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("Hello!", "Hello!"),
        ("guten Morgen", "Hello!"),
        ("muchas gracias", "You are welcome."),
        ("thanks a lot", "You are welcome."),
        ("au revoir", "Goodbye."),
        ("what can you do?", "offline model"),
        ("Hilfe", "offline model"),
    ],
)
async def test_small_talk_is_answered_without_a_tool(agent: Agent[None, str], said: str, reply: str) -> None:
    run = await agent.run(said)
    assert reply in run.output
    assert tool_calls(run.all_messages()) == []


async def test_the_sentence_about_the_key_names_every_way_to_set_one() -> None:
    said = (await Agent(OfflineModel()).run("why did nginx crash?")).output
    assert all(name in said for name in (NEEDS_KEY, "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"))


async def test_without_the_tool_it_does_not_pretend_to_know_the_server() -> None:
    assert NEEDS_KEY in (await Agent(OfflineModel()).run("how full is the disk?")).output


async def test_its_own_host_name_is_this_server_and_any_other_name_is_not(agent: Agent[None, str]) -> None:
    assert (await ask(agent, "how much memory is free on atlas?")).topics == ("memory",)
    assert (await ask(agent, "how much memory is free on hermes?")).topics == ()


async def test_a_page_of_text_is_left_to_a_real_model(agent: Agent[None, str]) -> None:
    page = "how full is the disk? " * 500
    assert NEEDS_KEY in (await agent.run(page)).output


async def test_only_the_latest_question_is_answered(agent: Agent[None, str]) -> None:
    first = await agent.run("uptime?")
    second = await agent.run("and the memory?", message_history=first.all_messages())
    assert [call.args_as_dict()["topics"] for call in tool_calls(second.new_messages())] == [["memory"]]
    assert second.output.startswith("Memory is")


async def test_a_tool_that_fails_is_reported_and_not_called_again() -> None:
    async def server_info(topics: list[str]) -> dict[str, Any]:
        """Facts about this server."""
        return {"status": "error", "result": {}, "error": "the sensors are asleep"}

    run = await Agent(OfflineModel(), tools=[server_info]).run("uptime?")
    assert run.output == "I could not read that: the sensors are asleep."
    assert len(tool_calls(run.all_messages())) == 1


async def test_the_answer_streams_word_by_word_and_is_the_same_answer(agent: Agent[None, str]) -> None:
    async with agent.run_stream("what can you do?") as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
    assert len(pieces) > 20
    assert "".join(pieces) == (await agent.run("what can you do?")).output


async def test_the_same_conversation_gives_the_same_call(agent: Agent[None, str]) -> None:
    calls = [tool_calls((await agent.run("disk?")).all_messages())[0] for _ in range(2)]
    assert calls[0] == calls[1]


async def test_tokens_are_counted_and_cost_nothing(agent: Agent[None, str]) -> None:
    run = await agent.run("uptime?")
    assert run.usage.input_tokens > 0
    assert run.usage.output_tokens > 0
    assert run.usage.cost == Decimal(0)
    last = run.all_messages()[-1]
    assert isinstance(last, ModelResponse)
    assert (last.model_name, last.provider_name) == ("offline", "offline")


@pytest.mark.parametrize("output", [Point, ToolOutput(Point), NativeOutput(Point), PromptedOutput(Point)])
async def test_a_structured_answer_is_refused_clearly_instead_of_made_up(output: Any) -> None:
    with pytest.raises(ModelAPIError, match="answers in words") as refused:
        await Agent(OfflineModel(), output_type=output).run("hi")
    assert "model key" in str(pickle.loads(pickle.dumps(refused.value)))


async def test_a_refused_structure_is_handed_to_the_next_model_in_a_fallback() -> None:
    models = FallbackModel(OfflineModel(), TestModel())
    assert isinstance((await Agent(models, output_type=Point).run("hi")).output, Point)


def test_the_questions_the_rules_were_made_from_stay_understood_and_the_others_stay_refused() -> None:
    wrong = []
    for row in rows("understood_questions.jsonl"):
        asked = server_question(row["text"], "atlas")
        topics = set(asked.topics) if asked else set[str]()
        if not set(row["topics"]) <= topics or bool(row["topics"]) != bool(topics):
            wrong.append((row["text"], topics))
    assert wrong == []
