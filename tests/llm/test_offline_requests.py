"""What the offline model does with requests in plain English: the right calls or one line, never a wrong call."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from laneway.classify.taxonomy import load
from laneway.llm.offline.orders import Offer
from laneway.llm.offline.plan import plan
from tests.llm.offline_tools import Bench, Made, definitions, said

REQUESTS = Path(__file__).with_name("offline_requests.jsonl")
PAGE = Path(__file__).parents[2] / "docs" / "without-a-key.md"
LONGEST_REFUSAL = 250


def verdict(row: dict[str, Any], answer: str, calls: list[Made]) -> str:
    """`right`, or what is the matter; a row without calls names the words that the refusal must name."""
    wanted = [(call["tool"], call["args"]) for call in row.get("calls", [])]
    if calls != wanted:
        return f"WRONG CALL {calls}" if calls else f"refused: {answer}"
    if not wanted and (len(answer) > LONGEST_REFUSAL or "\n" in answer or row["refused"] not in answer):
        return f"refused badly: {answer}"
    return "right"


async def test_every_request_is_carried_out_as_meant_or_refused_in_one_line_that_names_the_words() -> None:
    rows = [json.loads(line) for line in REQUESTS.read_text(encoding="utf-8").splitlines()]
    bench = Bench()
    verdicts = [(row["text"], verdict(row, *await said(row["text"], bench))) for row in rows]
    served = sum("calls" in row for row in rows)
    told = f"the {len(rows)} requests", f"{served} are carried out", f"{len(rows) - served} are refused"
    assert [one for one in verdicts if one[1] != "right"] == []
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert [figure for figure in told if figure not in page] == [], "the figures of the document are these"


def test_of_thousands_of_questions_and_remarks_none_is_taken_for_an_order_that_changes_something() -> None:
    asking = {"message": ("question", "other"), "secretary": ("inquiry", "greeting", "other")}
    texts = [text for name, labels in asking.items() for text, label in load()[name].examples() if label in labels]
    offer = Offer(definitions())
    orders = {text: planned for text in texts[::5] if isinstance(planned := plan(text, offer), list)}
    assert {text for text, steps in orders.items() for step in steps if step.tool != "server_info"} == set()


def shown(calls: list[Made]) -> tuple[str, str]:
    """The tools and what is called, as the document writes them."""
    tools = ", ".join(f"`{tool}`" for tool, _ in calls)
    return tools, " · ".join(f"`{told}`" for tool, arguments in calls if (told := one_shown(tool, arguments)))


def one_shown(tool: str, arguments: dict[str, Any]) -> str:
    if tool == "bash":
        return str(arguments["command"])
    written = {name: "+".join(value) if isinstance(value, list) else value for name, value in arguments.items()}
    return ", ".join(f"{name}={value}" for name, value in written.items())


async def test_every_row_of_the_documentation_makes_the_calls_it_names() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rows = [(text, tools, calls) for text, tools, calls in cells if text != "you say"]
    bench = Bench()
    made = [(text, *shown((await said(text, bench))[1])) for text, _, _ in rows]
    assert len(rows) > 55
    assert {tool for _, tools, _ in rows for tool in re.findall(r"\w+", tools)} == set(definitions())
    assert made == rows
