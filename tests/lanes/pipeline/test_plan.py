"""A plan is read strictly: every fault names its step and the repair; expressions reach nothing but the row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import plan_of, plan_schema, sentence
from laneway.lanes.pipeline.primitives import primitives
from laneway.lanes.pipeline.tables import Outcome, run
from laneway.lanes.pipeline.values import Row

PRICE = {"column": "price", "is": "<", "value": 100}


def cases(file: str) -> list[dict[str, Any]]:
    """A table of cases beside this module, a line of JSON each."""
    return [json.loads(line) for line in (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()]


EVERY = cases("plan_steps.jsonl")
FETCH = {"do": "http_request", "url": "https://example.org/x", "method": "GET", "format": "auto", "rows_at": "data"}


def test_a_plan_reads_what_it_writes_and_every_primitive_is_in_the_schema_that_a_model_is_told() -> None:
    document = {"from": "flights", "steps": [FETCH, *EVERY]}
    plan = plan_of(document)
    assert plan.document() == document
    assert plan_of(plan.document()) == plan
    assert {step["do"] for step in [FETCH, *EVERY]} == set(primitives())
    schema = jsonschema_rs.validator_for(plan_schema())
    assert schema.is_valid({"steps": [FETCH, *EVERY]})
    assert not schema.is_valid({"steps": [{"do": "fly"}]})
    assert not schema.is_valid({"steps": [{"do": "top_k", "k": 0}]})


def test_a_fault_names_the_step_the_primitive_the_field_and_the_repair() -> None:
    long = {"steps": [{"do": "limit", "count": 1}] * 101, "said": "The plan has 101 steps."}
    for fault in [*cases("plan_faults.jsonl"), long]:
        with pytest.raises(BadInput) as refused:
            plan_of({"steps": fault["steps"]})
        assert fault["said"] in str(refused.value)
        assert refused.value.hint


def test_conditions_have_a_bottom_and_an_end() -> None:
    deep: dict[str, Any] = PRICE
    for _ in range(30):
        deep = {"not": deep}
    endless: dict[str, Any] = {}
    endless["not"] = endless
    for where in (deep, endless, {"or": [PRICE] * 201}):
        with pytest.raises(BadInput, match=r"deep in one another|more than 200"):
            plan_of({"steps": [{"do": "filter", "where": where}]})


def test_a_plan_is_said_in_one_sentence() -> None:
    plan = plan_of({"from": "flights", "steps": [
        {"do": "filter", "where": {"and": [PRICE, {"column": "city", "is": "contains", "value": "Ro"}]}},
        {"do": "join", "table": "cities", "left_on": ["city"], "right_on": ["name"], "how": "left"},
        {"do": "group_by", "by": ["city"], "values": {"m": {"do": "mean", "column": "price"}}},
        {"do": "top_k", "k": 3, "by": "m"},
        {"do": "select", "columns": ["city", "m"]},
        {"do": "limit", "count": 1, "offset": 2}, {"do": "sample", "count": 1, "seed": 7},
    ]})  # fmt: skip
    assert sentence(plan) == (
        'From flights: keep the rows where price is below 100 and city contains "Ro", then join cities by city = name, '
        "keeping rows without a match, then work out the average price for each city, then take the 3 with the highest "
        "m, then show city, m, then take 1 row after leaving out 2, then take 1 row by chance (seed 7)."
    )
    fetching = plan_of({"steps": [{**FETCH, "url": "https://example.org/x?key=secret"}]})
    assert sentence(fetching) == "From https://example.org/x: every row as it is."


ROW: Row = {"a": 7, "b": 2.5, "zero": 0, "none": None, "name": " Ann Lee ", "yes": True, "unit price": 3, "l": [1, 2],
            "day": "2026-01-31", "at": "2026-02-03T04:05:06+02:00", "t": "12.50"}  # fmt: skip


def computed(expression: str, *rows: Row) -> Outcome:
    plan = plan_of({"steps": [{"do": "compute", "column": "x", "expression": expression}]})
    return run(plan, {"table": list(rows) or [ROW]})


def value(expression: str) -> Any:
    return computed(expression).rows[0]["x"]


BEYOND_ALL_MEASURE = [
    "9 ** 9 ** 9", "10 ** 5000", "1e308 * 10", "2.0 ** 5000", "-" * 100 + "1", "not " * 100 + "true",
    "(" * 100 + "1" + ")" * 100, "1" + " + 1" * 400, "x" * 3000, "9" * 500,
    "replace(replace(replace(replace('aaaaaaaaaa', 'a', 'aaaaaaaaaaaaaaaaaaaa'), "
    "'a', 'aaaaaaaaaaaaaaaaaaaa'), 'a', 'aaaaaaaaaaaaaaaaaaaa'), 'a', 'aaaaaaaaaaaaaaaaaaaa')", "1 if 1 if 1 if " * 40,
    "concat(" * 39 + "1" + ")" * 39 + " + " + "2 ** (" * 39 + "1" + ")" * 39, "round(1e300, 300) * round(1e300, -300)",
]  # fmt: skip


def told(expression: str) -> str:
    """What an expression gives, or why it is refused."""
    try:
        return repr(value(expression))
    except BadInput as refused:
        return str(refused)


def test_an_expression_gives_its_value_or_is_refused() -> None:
    wrong = [
        f"{case}: {told(case['expression'])}"
        for case in cases("expressions.jsonl")
        if (told(case["expression"]) != repr(case["gives"]) if "gives" in case else not refused(**case))
    ]
    assert not wrong, "\n".join(wrong)


def refused(expression: str, says: str = "") -> bool:
    return told(expression).startswith("Step 1 (compute): ") and says in told(expression)


def test_nothing_grows_beyond_all_measure() -> None:
    assert [one[:40] for one in BEYOND_ALL_MEASURE if not refused(one)] == []


def test_the_row_that_is_wrong_is_named_and_what_gave_null_is_told_of() -> None:
    with pytest.raises(BadInput, match="row 3: a text and a number cannot be reckoned"):
        computed("v * 2", {"v": 1}, {"v": None}, {"v": "x"})
    assert computed("number(v) / 0", {"v": "1"}, {"v": "x"}, {"v": "2"}).notes == (
        "Step 1 (compute): 2 divisions by zero gave null.",
        "Step 1 (compute): 1 texts that are no numbers gave null.",
    )


def test_a_column_is_set_in_its_place_and_a_new_one_comes_last() -> None:
    row = {"a": 1, "b": 2}
    plan = plan_of({"steps": [{"do": "compute", "column": "a", "expression": "b + 1"},
                              {"do": "compute", "column": "c", "expression": "a * 2"}]})  # fmt: skip
    assert [*run(plan, {"table": [row]}).rows[0].items()] == [("a", 3), ("b", 2), ("c", 6)]
    assert row == {"a": 1, "b": 2}


def test_texts_that_grow_in_every_row_are_stopped_before_they_fill_the_memory() -> None:
    doubled = [{"do": "compute", "column": "text", "expression": "text + text"}] * 16
    rows = [{"text": "x" * 20}] * 1000
    with pytest.raises(BadInput, match="letters"):
        run(plan_of({"steps": doubled}), {"t": rows})
