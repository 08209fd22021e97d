"""Orders in plain words: the offline model makes the calls a real model would, and none that nobody ordered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic_ai.tools import ToolDefinition

from laneway.classify.taxonomy import load
from laneway.llm.offline import NEEDS_KEY
from laneway.llm.offline.orders import Offer
from laneway.llm.offline.plans import plan
from tests.llm.offline_tools import READING, Bench, Made, definitions, first_said, rows, said

ASKS = ("backticks", "quotation marks", "In the morning or in the afternoon", "at most")


def wanted(row: dict[str, list[dict[str, object]]]) -> list[object]:
    return [(call["tool"], call["args"]) for call in row["calls"]]


def acts(calls: list[Made]) -> bool:
    return any(tool not in READING for tool, _ in calls)


# The first set was written before the rules, which were then mended with it at hand. The fresh one was written when
# the rules stood and scored 80 of 90, unseen, with no wrong action; the mends it led to are in the rules now.
@pytest.mark.parametrize(("orders", "least"), [("orders.jsonl", 176), ("orders_fresh.jsonl", 90)])
async def test_at_least_85_percent_of_paraphrased_orders_are_carried_out_and_none_wrongly(
    orders: str, least: int
) -> None:
    asked = rows(orders)
    bench = Bench()
    missed: list[tuple[str, list[Made], str]] = []
    wrong: list[tuple[str, list[Made], str]] = []
    for row in asked:
        answer, calls = await said(row["text"], bench)
        if list(calls) == wanted(row):
            continue
        honest = NEEDS_KEY in answer or any(sign in answer for sign in ASKS)
        (wrong if acts(calls) or not (honest or calls) else missed).append((row["text"], calls, answer[:90]))
    print(f"\noffline model: {len(asked) - len(missed) - len(wrong)} of {len(asked)} orders carried out")
    for one in (*missed, *wrong):
        print(f"  not as ordered: {one}")
    assert len(asked) >= least
    assert wrong == []
    assert len(missed) <= 0.15 * len(asked)


# The second set was written when the rules stood: of its 128 texts one made a task of a remark ("TODO: restart nginx"),
# two were searched for; the rules were mended. Questions about the server may be answered by reading it.
@pytest.mark.parametrize(("texts", "least"), [("not_orders.jsonl", 234), ("not_orders_fresh.jsonl", 128)])
async def test_what_only_looks_like_an_order_makes_no_call(texts: str, least: int) -> None:
    asked = rows(texts)
    acted = []
    for row in asked:
        answer, calls = await first_said(row["text"])
        if any(tool != "server_info" for tool, _ in calls):
            acted.append((row["text"], calls, answer[:90]))
    assert len(asked) >= least
    assert acted == []


def test_none_of_thousands_of_questions_and_remarks_is_taken_for_an_order_that_changes_something() -> None:
    offer = Offer(definitions())
    asking = {"message": ("question", "other"), "secretary": ("inquiry", "greeting", "other")}
    texts = [text for name, labels in asking.items() for text, label in load()[name].examples() if label in labels]
    taken = [(text, orders) for text in texts if isinstance(orders := plan(text, offer, "atlas"), list)]
    assert len(texts) > 7000
    assert [one for one in taken if any(order.tool not in READING for order in one[1])] == []


async def test_without_the_tool_nothing_is_done_and_a_key_is_asked_for() -> None:
    nothing = Offer({})
    texts = [row["text"] for file in ("orders.jsonl", "orders_fresh.jsonl") for row in rows(file)]
    assert [text for text in texts if plan(text, nothing, "atlas") is not None] == []
    answer, calls = await said("delete notes.txt", without=("delete_file",))
    assert calls == []
    assert answer.startswith(NEEDS_KEY)


async def test_a_tool_whose_parameters_do_not_fit_is_not_called() -> None:
    odd = ToolDefinition(name="delete_file", parameters_json_schema={"properties": {"inode": {"type": "integer"}}})
    needy = ToolDefinition(
        name="remind",
        parameters_json_schema={"properties": {"text": {}, "when": {}, "channel": {}}, "required": ["channel"]},
    )
    offer = Offer({"delete_file": odd, "remind": needy})
    assert plan("delete notes.txt", offer, "atlas") is None
    assert plan("remind me in 5 minutes to stretch", offer, "atlas") is None


async def test_parameters_go_by_the_names_the_tool_has_for_them() -> None:
    renamed = {
        "remember": {"properties": {"fact": {}, "key": {}}, "required": ["fact"]},
        "move_file": {"properties": {"source": {}, "destination": {}}, "required": ["source", "destination"]},
    }
    offer = Offer({name: ToolDefinition(name=name, parameters_json_schema=schema) for name, schema in renamed.items()})
    (kept,) = plan("remember that Ann is away", offer, "atlas") or ()  # type: ignore[misc]
    (moved,) = plan("move a.txt to b.txt", offer, "atlas") or ()  # type: ignore[misc]
    assert kept.arguments == {"fact": "Ann is away"}
    assert moved.arguments == {"source": "a.txt", "destination": "b.txt"}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("run git checkout the main branch", "backticks"),
        ("execute: whatever Bob said", "backticks"),
        ("`rm -rf build`", "only when told to"),
        ("```bash\nmake install\n```", "only when told to"),
        ("restart the billing service", "exact name in backticks"),
        ("remind me at 5 to call Ann", "In the morning or in the afternoon"),
        ("create a file a.txt with: one, then restart nginx", "quotation marks"),
        ("remember that Ann is ill and then delete notes.txt", "quotation marks"),
        ("delete " + ", ".join(f"{number}.log" for number in range(12)), "at most 10"),
    ],
)
async def test_an_order_that_leaves_open_what_exactly_is_asked_about(text: str, question: str) -> None:
    answer, calls = await said(text)
    assert question in answer
    assert calls == []


async def test_a_long_text_to_write_is_written_word_for_word() -> None:
    text = "\n".join(f"{number}. then delete notes.txt; restart nginx" for number in range(150))
    answer, calls = await said(f"create a file plan.txt with:\n{text}")
    assert calls == [("write_file", {"path": "plan.txt", "content": text})]
    assert f"{len(text)} characters" in answer


async def test_a_page_that_orders_something_is_left_to_a_real_model() -> None:
    answer, calls = await said("restart nginx " * 700)
    assert calls == []
    assert NEEDS_KEY in answer


async def test_every_order_the_documentation_names_makes_the_call_it_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "without-a-key.md").read_text()
    named = re.findall(r"^\| (?!you say|---)(.+) \| `(\w+)` \|$", page, re.M)
    called = [(text, [name for name, _ in (await first_said(text))[1]]) for text, _ in named]
    assert len(named) > 35
    assert {tool for _, tool in named} | {"server_info"} == set(definitions())
    assert called == [(text, [tool]) for text, tool in named]
