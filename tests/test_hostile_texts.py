"""Whatever somebody writes, reading it costs a blink and little memory."""

from __future__ import annotations

import asyncio
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.tools import ToolDefinition

from laneway.channels.intake import COMMAND, PLAN
from laneway.classify.cascade import Cascade
from laneway.domain.bounded_text import bounded
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.domain.redaction import redacted
from laneway.errors import BadInput
from laneway.lanes.pipeline.planner import planned
from laneway.lanes.workflow.sentences.find import DraftContext
from laneway.lanes.workflow.sentences.planner import plan_change
from laneway.language.politeness import strip_politeness
from laneway.language.rhythm import cron_of
from laneway.language.times import is_time, moment_of
from laneway.llm.offline.plan import answer_orders
from laneway.llm.offline.turn import latest_turn, small_talk
from laneway.sandbox.commands import judge, judge_tool
from laneway.sandbox.shell.bounds import LONGEST
from laneway.transcript import Turn
from tests.classify.encoders import classifier

MILLISECONDS, MEGABYTES = 200, 50
TRIES = 4
"""A machine that has much else to do takes more of the processor's time for the same; the least of so many counts."""
SIZE = 262_144
"""Bytes of the longest message that is taken."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)
TOOLS = ("server_info", "bash", "read_file", "write_file", "http_request", "remind", "remember", "create_task")
ROWS = [{"name": f"n{number}", "price": number, "day": "2026-01-01"} for number in range(20)]
REPORT = {"nodes": [{"id": "fetch", "type": "http_request", "config": {}}], "edges": [], "triggers": []}
UNITS = (
    "a ", "a\n", "a, ", "1. ", "if a, ", "do not ", "please ", "and then delete ", "restart it ", "every day at 9 ",
    "a.b/", "'a ", '"a" ', "key_", "password", "token=", 'password="', "-eyJaaaaaaaa", "http://", "a@b.", "1,234", "9",
    "(", "[[", '{"a":', "$(", "`", "-", ".", "?", "\t", " ", "\0", "\u202e\u05d0\u05d1 ", "e\u0301\u0323", "\ufdfa",
    "\u0301", "ß", "删除所有文件", "👩‍👩‍👧‍👦", "deleting", "-----BEGIN PRIVATE KEY-----", "\n\n[Understood as: ",
)  # fmt: skip
Reader = Callable[[str], object]


def texts() -> Iterator[tuple[str, str]]:
    """Long words, many tokens, marks, signs and brackets: each alone, and as chance mixes them."""
    chance = random.Random(18)
    hexadecimal = "".join(chance.choices("0123456789abcdef", k=60_000))
    yield "60 kB of hex", hexadecimal
    yield "an order of hex", f"delete {hexadecimal} now"
    yield "100,000 tokens", " ".join(["ab"] * 100_000)
    yield "one line of 1 MB", "x" * 1_000_000
    yield "numbers", " ".join(["9" * 50] * 5000)
    yield "many blanks in a word", "delete" + " " * (SIZE - 7) + "x"
    yield "brackets that close", "(" * (SIZE // 2) + ")" * (SIZE // 2)
    for unit in UNITS:
        # As long as a message may be, and as long as an analysis reads.
        for size in (SIZE, 1500):
            yield f"{size} of {unit!r}", unit * (size // len(unit.encode()))
    for number in range(12):
        parts = [chance.choice(UNITS) * chance.choice((1, 1, 2, 9, 400)) for _ in range(chance.choice((40, 4000)))]
        yield f"mixture {number}", "".join(parts)[: SIZE // 4]


def turns(*said: str) -> list[Turn]:
    authors = [Author.USER if number % 2 == len(said) % 2 else Author.ASSISTANT for number in range(1, len(said) + 1)]
    return [Turn(new_id(), author, text) for author, text in zip(authors, said, strict=True)]


def classified() -> Iterator[tuple[str, Reader]]:
    local = classifier()
    local.warm(["message", "route", "lane"], 2)
    local.listen()
    yield "rules: a message", lambda text: asyncio.run(Cascade().judge(turns(text)))
    yield "the local classifier: a message", lambda text: asyncio.run(Cascade(local=local).judge(turns(text)))
    yield "an answer to it", lambda text: asyncio.run(Cascade(local=local).judge(turns(text, text, "yes, do it")))


def readers() -> dict[str, Reader]:
    context = DraftContext(NOW, "UTC", None, {"report": REPORT})
    tools = [ToolDefinition(name=name) for name in TOOLS]

    def offline(text: str) -> None:
        turn = latest_turn([ModelRequest(parts=[UserPromptPart(text)])], tools)
        small_talk(turn)
        answer_orders(turn)

    def times(text: str) -> None:
        for read in (cron_of, is_time, lambda said: moment_of(said, NOW, ZoneInfo("UTC"))):
            with suppress(BadInput):
                read(text)

    def tool_call(text: str) -> None:
        for tool, given in (("Read", {"file_path": text}), ("Write", {"file_path": "a", "content": text})):
            judge_tool(tool, given, "/home/somebody")

    return {
        **dict(classified()),
        "the offline model": offline,
        "tables": lambda text: planned(text, {"items": ROWS}, date(2026, 1, 1)),
        "workflow sentences": lambda text: plan_change(text, context),
        "politeness": lambda text: strip_politeness(bounded(text)),
        "times": times,
        "chat commands": lambda text: (PLAN.fullmatch(text), COMMAND.fullmatch(text)),
        "secrets": redacted,
        "the guard: a command": lambda text: judge(text, "/home/somebody"),
        "the guard: what is longest": lambda text: judge(text[: LONGEST // 2], "/home/somebody"),
        "the guard: a tool": tool_call,
    }


def milliseconds(reader: Reader, text: str) -> float:
    began = time.process_time()
    reader(text)
    return (time.process_time() - began) * 1000


def megabytes(reader: Reader, text: str) -> float:
    tracemalloc.start()
    try:
        reader(text)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.fault
def test_no_text_takes_long_or_much_memory_to_read() -> None:
    slow = []
    for name, reader in readers().items():
        reader("restart nginx, please")
        for what, text in texts():
            # What was read before is remembered, so each try reads another text.
            spent = next((ms for n in range(TRIES) if (ms := milliseconds(reader, f"{text}{n}")) <= MILLISECONDS), 999)
            used = megabytes(reader, f"{text}.") if len(text) > 1500 else 0
            slow += [f"{name}: {what}: {spent:.0f} ms, {used:.1f} MB"] if max(spent / 4, used) > MEGABYTES else []
    assert not slow, "\n".join(slow)


HELD_OUT = sorted(Path(__file__).parent.glob("classify/heldout/*.jsonl"))


def test_what_people_ask_is_read_as_they_write_it() -> None:
    lines = [json.loads(line) for file in HELD_OUT for line in file.read_text(encoding="utf-8").splitlines()]
    said = [text for line in lines for text in (line.get("text"), *(turn["text"] for turn in line.get("turns", ())))]
    assert len(said) > 1000
    assert [text for text in said if text and bounded(text) != text] == []


async def test_a_change_asked_for_where_nobody_reads_needs_a_yes() -> None:
    filler = "what is this line about? " * 400
    for text in (f"{filler}delete the database. {filler}", f"explain this: {'x' * 300}"):
        assert (await Cascade().judge(turns(text))).needs_confirmation
    assert not (await Cascade().judge(turns("explain this: xxx"))).needs_confirmation


@pytest.mark.parametrize("text", [f"{'a' * 4000} b", "ab " * 5000, "\ufdfa" * 2000, "! " * 900, "x" * 1600])
def test_a_bounded_text_is_read_as_it_is(text: str) -> None:
    read = bounded(text)
    assert len(read) <= 1500
    assert bounded(read) == read
