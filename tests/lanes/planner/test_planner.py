"""Requests about tables: what the page promises, a corpus of requests and traps, and words thrown together."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from laneway.lanes.pipeline.plan import sentence
from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.planner.words import FIGURES, GRAMMAR
from laneway.lanes.pipeline.reading import rows_of
from laneway.lanes.pipeline.tables import run

Rows = Sequence[dict[str, Any]]
TODAY = date(2026, 11, 18)
PAGE = Path(__file__).parents[3] / "docs" / "asking-tables.md"
CORPUS = Path(__file__).with_name("requests.json")


def answer(prompt: str, tables: Mapping[str, Rows]) -> Rows | Refusal:
    """The rows, or the refusal."""
    plan = planned(prompt, tables, TODAY)
    return plan if isinstance(plan, Refusal) else run(plan, tables).rows


def test_each_shape_of_the_page_is_planned_as_it_says() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tables = {
        name: rows_of(csv.encode(), "csv", name) for name, csv in re.findall(r"```csv (\w+)\n(.*?)```", text, re.S)
    }
    shapes = re.findall(r"^\| [^|]+ \| `([^`]+)` \| (.+) \|$", text, re.M)
    wrong = []
    for prompt, promised in shapes:
        plan = planned(prompt, tables, TODAY)
        told = plan.sentence if isinstance(plan, Refusal) else sentence(plan)
        wrong += [f"{prompt}: {told}"] if told != promised else []
    assert len(shapes) > 40
    assert not wrong, "\n".join(wrong)


def test_requests_of_the_corpus_are_answered_right_or_refused() -> None:
    corpus = json.loads(CORPUS.read_text(encoding="utf-8"))
    wrong = []
    for case in corpus["requests"]:
        found = answer(case["prompt"], {name: corpus["tables"][table] for name, table in case["tables"].items()})
        if isinstance(found, Refusal):
            right, told = "refused" in case and case["refused"] in found.sentence, found.sentence
        else:
            cells, wanted = [list(row.values()) for row in found], case.get("rows", [])
            if not case.get("ordered"):
                cells, wanted = sorted(cells, key=repr), sorted(wanted, key=repr)
            right, told = "rows" in case and cells == wanted, str(cells)
        wrong += [] if right else [f"{case['prompt']}: {told}"]
    assert len(corpus["requests"]) <= 200
    assert not wrong, "\n".join(wrong)


def test_random_words_over_random_tables_give_rows_or_a_refusal() -> None:
    chance = random.Random(SEED)
    small = sorted(GRAMMAR | FIGURES.keys())
    for _ in range(1500):
        tables = {f"{chance.choice(NOUNS)}{number}": make_rows(chance) for number in range(chance.choice((1, 1, 1, 2)))}
        columns = [name for rows in tables.values() for row in rows for name in row]
        cells = [str(cell) for rows in tables.values() for row in rows for cell in row.values()]
        sources = (small, small, columns or NOUNS, cells or NOUNS, ODD, list(tables))
        prompt = " ".join(chance.choice(chance.choice(sources)) for _ in range(chance.randint(1, 14)))
        found = answer(prompt, tables)
        assert isinstance(found, Refusal) or isinstance(list(found), list), prompt
        if isinstance(found, Refusal):
            assert found.reason, prompt
            assert "\n" not in found.sentence.replace(prompt, ""), prompt


SEED = 16
NOUNS = ["orders", "people", "data", "x", "Größe", "status", "total", "name"]
ODD = [
    "", "“", '"open', "'s", "``x''", "-5", "1e9", "99999999999999999999", "0", "3.5k", "2nd", "%", "$20", "2026",
    "2026-02-30", "\u0301", "\u202eabc", "😀", "of", "or", "and", "not", "between", "last", "7", "days", "month",
    "(", ")", "March", "Q1", "\x00",
]  # fmt: skip


NAMES = [
    "id",
    "order_id",
    "unitPrice",
    "Name",
    "status",
    "from",
    "to",
    "created_at",
    "is_paid",
    "%",
    "",
    "Größe",
    "year",
]


def make_rows(chance: random.Random) -> list[dict[str, Any]]:
    """A small table with odd names and cells."""
    kinds = {name: chance.randint(0, 6) for name in chance.sample(NAMES, 5)}
    return [
        {name: make_cell(chance, kind) for name, kind in kinds.items() if chance.random() > 0.05}
        for _ in range(chance.randint(0, 6))
    ]


def make_cell(chance: random.Random, kind: int) -> Any:
    """A cell of this kind, or now and then none."""
    texts = ["open", "Ann", "", "no", "C++", "C#", "from Paris", "top", "a" * 50]
    makers: list[Any] = [
        chance.randint(-5, 2030), chance.random() * 100, chance.choice(texts),
        chance.choice(["2026-01-31", "2025-12-24T10:00:00"]), chance.random() > 0.5,
        chance.choice([1, "1", None, True]), chance.choice(["yes", "no"]),
    ]  # fmt: skip
    return None if chance.random() < 0.1 else makers[kind]


@pytest.mark.parametrize("word", ["price", "or", "x", "12", "Ann"])
def test_a_long_request_ends(word: str) -> None:
    rows = [{"price": number, "name": f"Ann {number}", "day": "2026-01-31"} for number in range(200)]
    # Without a bound on its steps it would run into the time limit of a test.
    assert isinstance(answer(" ".join([word] * 390), {"orders": rows}), Refusal)


def test_days_that_count_from_today_need_a_today() -> None:
    rows = [{"order_id": 1, "ordered_on": "2026-11-17"}, {"order_id": 2, "ordered_on": "2026-11-18"}]
    found = answer("orders from yesterday", {"orders": rows})
    assert not isinstance(found, Refusal)
    assert [row["order_id"] for row in found] == [1]
    refused = planned("orders from yesterday", {"orders": rows})
    assert isinstance(refused, Refusal)
    assert "yesterday" in refused.reason


def test_a_request_without_a_table_or_without_an_end_is_refused() -> None:
    assert isinstance(planned("all rows", {}), Refusal)
    assert isinstance(planned("", {"orders": []}), Refusal)
    assert isinstance(planned("x" * 2001, {"orders": []}), Refusal)
