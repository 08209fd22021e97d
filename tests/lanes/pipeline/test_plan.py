"""A plan is read strictly: every fault names its step, its primitive, its field and the repair."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import plan_of, plan_schema, sentence
from laneway.lanes.pipeline.primitives import primitives

PRICE = {"column": "price", "is": "<", "value": 100}
EVERY: list[dict[str, Any]] = [
    {"do": "sort", "by": [{"column": "price", "order": "desc", "nulls": "first"}]},
    {"do": "filter", "where": {"and": [PRICE, {"not": {"or": [{"column": "a", "is": "null"}]}}]}},
    {
        "do": "filter",
        "where": {"column": "day", "is": "between", "value": [{"date": "2026-01-01"}, {"date": "2026-02-01"}]},
    },
    {"do": "filter", "where": {"column": "city", "is": "in", "value": ["Rome", None], "ignore_case": True}},
    {"do": "select", "columns": ["a", "b"]},
    {"do": "rename", "columns": {"a": "b"}},
    {"do": "top_k", "k": 3, "by": "price", "order": "asc"},
    {"do": "top_k", "k": 3},
    {"do": "group_by", "by": ["city"], "values": {"n": {"do": "count"}, "m": {"do": "mean", "column": "price"}}},
    {"do": "beside", "by": ["city"], "values": {"average": {"do": "mean", "column": "price"}}},
    {"do": "join", "table": "cities", "on": ["city"], "how": "left"},
    {"do": "join", "table": "cities", "left_on": ["city"], "right_on": ["name"], "how": "inner"},
    {"do": "distinct", "columns": ["city"]},
    {"do": "compute", "column": "total", "expression": "price * 2"},
    {"do": "pivot", "index": ["city"], "columns": "month", "values": {"do": "sum", "column": "sales"}},
    {"do": "limit", "count": 5, "offset": 10},
    {"do": "sample", "count": 5, "seed": 7},
    {"do": "summarize", "columns": ["price"]},
]
FETCH = {"do": "http_request", "url": "https://example.org/x", "method": "GET", "format": "auto", "rows_at": "data"}


def test_a_plan_reads_what_it_writes() -> None:
    document = {"from": "flights", "steps": [FETCH, *EVERY]}
    plan = plan_of(document)
    assert plan.document() == document
    assert plan_of(plan.document()) == plan
    assert {step["do"] for step in document["steps"] if isinstance(step, dict)} == set(primitives())


def test_every_primitive_is_in_the_schema_that_a_model_is_told() -> None:
    schema = jsonschema_rs.validator_for(plan_schema())
    assert schema.is_valid({"steps": [FETCH, *EVERY]})
    assert not schema.is_valid({"steps": [{"do": "fly"}]})
    assert not schema.is_valid({"steps": [{"do": "top_k", "k": 0}]})


def test_the_spellings_of_the_seed_are_read_as_ours() -> None:
    theirs = plan_of({"pipeline": [
        {"step": "table_filter", "condition": {"field": "price", "op": "<", "value": 100}},
        {"op": "table_sort", "field": "price", "order": "desc"},
        {"step": "top_k", "k": 10},
        {"step": "table_select", "fields": ["id", "price"]},
    ]})  # fmt: skip
    assert theirs == plan_of({"steps": [
        {"do": "filter", "where": PRICE},
        {"do": "sort", "by": [{"column": "price", "order": "desc"}]},
        {"do": "top_k", "k": 10},
        {"do": "select", "columns": ["id", "price"]},
    ]})  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"do": "srt"}], "Step 1 asks for 'srt', which is no primitive. Did you mean sort?"),
        ([{}], "Step 1 says no `do`."),
        (["sort"], 'Step 1 must be an object. Write {"do": "sort", …}.'),
        ([{"do": "limit", "count": 1}, {"do": "sort"}], "Step 2 (sort): `by` is missing. Write, for example,"),
        ([{"do": "limit", "count": 1, "ofset": 2}], "Step 1 (limit): it has no field `ofset`. Did you mean offset?"),
        ([{"do": "limit", "count": True}], "Step 1 (limit): `count` must be a whole number of at least 0."),
        ([{"do": "top_k", "k": 0}], "Step 1 (top_k): `k` must be a whole number of at least 1."),
        ([{"do": "sort", "by": [{"column": "a", "order": "up"}]}], "Step 1 (sort): `by` has a wrong order for a."),
        ([{"do": "select", "columns": []}], "Step 1 (select): `columns` must be a list of names."),
        ([{"do": "select", "columns": ["a", "a"]}], "Step 1 (select): `columns` names a twice."),
        (
            [{"do": "filter", "where": {"column": "a", "is": "~", "value": 1}}],
            "Step 1 (filter): `is` cannot be ~. Use one of:",
        ),
        (
            [{"do": "filter", "where": {"column": "a", "is": "=="}}],
            "(filter): `value` is missing for a. To look for empty",
        ),
        ([{"do": "filter", "where": {"column": "a", "is": "<", "value": True}}], "a cannot be < a true/false."),
        (
            [{"do": "filter", "where": {"column": "a", "is": "<", "value": {"date": "31.1.26"}}}],
            '"31.1.26" is no date.',
        ),
        (
            [{"do": "filter", "where": {"column": "a", "is": "between", "value": [1, "2"]}}],
            "has a number and a text for a.",
        ),
        ([{"do": "filter", "where": {"column": "a", "is": "in", "value": 1}}], "`in` needs a list of values for a."),
        ([{"do": "filter", "where": {"and": [], "or": []}}], "`and` must stand alone."),
        (
            [{"do": "filter", "where": {"column": "a", "is": "contains", "value": {"column": "b"}}}],
            "`contains` cannot compare a with a column.",
        ),
        (
            [{"do": "group_by", "by": ["a"], "values": {"n": {"do": "avgg", "column": "b"}}}],
            "there is no aggregate 'avgg'.",
        ),
        ([{"do": "group_by", "by": ["a"], "values": {"n": {"do": "sum"}}}], "`sum` needs a column."),
        (
            [{"do": "group_by", "by": ["a"], "values": {"a": {"do": "count"}}}],
            "`values` has a column a, which it groups by.",
        ),
        (
            [{"do": "join", "table": "t", "on": ["a"], "left_on": ["b"]}],
            "`on` and `left_on`, `right_on` exclude each other.",
        ),
        ([{"do": "join", "table": "t", "left_on": ["a", "b"], "right_on": ["a"]}], "2 keys cannot be compared with 1."),
        (
            [{"do": "join", "table": "t", "on": ["a"], "how": "outer"}],
            "`how` cannot be 'outer'. Use one of: inner, left, anti.",
        ),
        (
            [{"do": "compute", "column": "a", "expression": "1 +"}],
            "Step 1 (compute): the expression has 'the end' at letter 4",
        ),
        ([{"do": "limit", "count": 1}, FETCH], "Step 2 (http_request): it must come first."),
        ([{"do": "http_request", "url": "file:///etc/passwd"}], "Step 1 (http_request): `url` must be an address."),
        ([{"do": "limit", "count": 1}] * 101, "The plan has 101 steps."),
        ("sort", "`steps` must be a list."),
    ],
)
def test_a_fault_names_the_step_the_primitive_the_field_and_the_repair(steps: Any, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        plan_of({"steps": steps})
    assert said in str(refused.value)
    assert refused.value.hint


def test_conditions_have_a_bottom_and_an_end() -> None:
    deep: dict[str, Any] = PRICE
    for _ in range(30):
        deep = {"not": deep}
    for where in (deep, {"or": [PRICE] * 201}):
        with pytest.raises(BadInput, match=r"deep in one another|more than 200"):
            plan_of({"steps": [{"do": "filter", "where": where}]})
    endless: dict[str, Any] = {}
    endless["not"] = endless
    with pytest.raises(BadInput, match="deep in one another"):
        plan_of({"steps": [{"do": "filter", "where": endless}]})


def test_a_plan_is_said_in_one_sentence() -> None:
    plan = plan_of({"from": "flights", "steps": [
        {"do": "filter", "where": {"and": [PRICE, {"column": "city", "is": "contains", "value": "Ro"}]}},
        {"do": "join", "table": "cities", "left_on": ["city"], "right_on": ["name"], "how": "left"},
        {"do": "group_by", "by": ["city"], "values": {"m": {"do": "mean", "column": "price"}}},
        {"do": "top_k", "k": 3, "by": "m"},
        {"do": "select", "columns": ["city", "m"]},
    ]})  # fmt: skip
    assert sentence(plan) == (
        'From flights: keep the rows where price is below 100 and city contains "Ro", then join cities by city = name, '
        "keeping rows without a match, then work out the average price for each city, then take the 3 with the highest "
        "m, then show city, m."
    )
    assert sentence(plan_of({"steps": [{**FETCH, "url": "https://example.org/x?key=secret"}]})) == (
        "From https://example.org/x: every row as it is."
    )


def test_one_row_is_one_row_in_a_sentence() -> None:
    steps = [{"do": "limit", "count": 1, "offset": 2}, {"do": "sample", "count": 1, "seed": 7}]
    said = sentence(plan_of({"from": "flights", "steps": steps}))
    assert said == "From flights: take 1 row after leaving out 2, then take 1 row by chance (seed 7)."
