"""Requests written after the planner was done, and traps found on the way: none is answered wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.lanes.pipeline.planner import Refusal, planned
from tests.lanes.planner.asking import answer, same
from tests.lanes.planner.requests_fresh import FRESH, FRESH_TABLES
from tests.lanes.planner.samples import TABLES, Row, table


@pytest.mark.parametrize(("name", "prompt", "expected"), FRESH, ids=[prompt for _, prompt, _ in FRESH])
def test_a_fresh_request_is_answered_rightly_or_refused(name: str, prompt: str, expected: list[Any] | None) -> None:
    for called in ("data", name):
        found = answer(prompt, {called: FRESH_TABLES[name]})
        if expected is None:
            assert isinstance(found, Refusal), found
        elif not isinstance(found, Refusal):
            ordered = "first" in prompt or "descending" in prompt
            assert same(found, expected, ordered=ordered)


def test_most_fresh_requests_that_have_an_answer_get_it() -> None:
    asked = [(name, prompt) for name, prompt, expected in FRESH if expected is not None]
    found = [planned(prompt, {"data": FRESH_TABLES[name]}) for name, prompt in asked]
    assert sum(not isinstance(one, Refusal) for one in found) / len(asked) >= 0.9


ODD = table(
    "order count total top name",
    "1 | 5 | 100 | true | A",
    "2 | 7 | 50 | false | B",
    "3 | - | 70 | true | all",
)
ROUTES = table("from to price via", "Rome | Oslo | 5 | Wien", "Oslo | Rome | 6 | -", "Wien | Oslo | 7 | Rome")
SHIRTS = table("product color size price", "Shirt | Red | M | 20", "Shirt | Blue | L | 40", "Hat | red | S | 15")
PEOPLE = table("name city active", "A | Berlin | true", "B | - | false", "C | Paris | -")


@pytest.mark.parametrize(
    ("rows", "prompt", "places"),
    [
        (ODD, "sort by order", [0, 1, 2]),
        (ODD, "sort by count descending", [1, 0, 2]),
        (ODD, "name is all", [2]),
        (ODD, "top 2 rows by total", [0, 2]),
        (ODD, "top 5 by count", [1, 0]),
        (ROUTES, "to Rome", [1]),
        (ROUTES, "via Rome", [2]),
        (ROUTES, "routes from Wien", [2]),
        (SHIRTS, "red ones", [0, 2]),
        (SHIRTS, "red hats", [2]),
        (SHIRTS, "size M or L", [0, 1]),
        (SHIRTS, "everything but red", [1]),
        (PEOPLE, "not active", [1]),
        (PEOPLE, "people without a city", [1]),
        (PEOPLE, "active or from Paris", [0, 2]),
    ],
)
def test_words_that_are_columns_or_values_too_mean_what_they_say(
    rows: list[Row], prompt: str, places: list[int]
) -> None:
    assert answer(prompt, {"data": rows}) == [rows[place] for place in places]


@pytest.mark.parametrize(
    ("rows", "prompt"),
    [
        (PEOPLE, "people not from Berlin"),
        (SHIRTS, "how many red products"),
        (table("a b", "'20' | x", "'100' | y"), "sort by a"),
        (table("who when", "A | 03/04/2026", "B | 12/11/2025"), "sort by when"),
        (table("name list_price sale_price", "A | 2 | 1", "B | 4 | 3"), "cheapest"),
        (table("name price", "A | 2", "B | 2", "C | 3"), "the cheapest one"),
        (table("name rank", "A | 1", "B | 2"), "top 1 by rank"),
        (TABLES["flights"], "all flights excluding those to Berlin with 1 stop"),
        (TABLES["flights"], "flights with a stop"),
        (TABLES["flights"], "average price per airline over 150"),
        (TABLES["flights"], "flights sorted by price and duration descending"),
        (TABLES["flights"], "flights under 100 and over 200"),
        (TABLES["flights"], "first flight"),
        (TABLES["cities"], "cities with population between 1 and 2 million"),
        (TABLES["cities"], "is Vienna a capital"),
        (TABLES["sales"], "average revenue per unit"),
        (TABLES["employees"], "average salary of remote and non remote employees"),
        (TABLES["products"], "names starting with B"),
        (TABLES["products"], "rating over 3 and under 5"),
        (TABLES["products"], "products with stock over 5 and under 20"),
        (TABLES["flights"], "no flights from Paris"),
        (TABLES["flights"], "show me"),
        (TABLES["flights"], "a"),
    ],
)
def test_what_could_mean_two_things_is_refused(rows: list[Row], prompt: str) -> None:
    assert isinstance(planned(prompt, {"data": rows}), Refusal)


def test_of_two_tables_that_are_not_named_the_one_is_meant_that_the_request_fits() -> None:
    plan = planned("top 2 by amount", {"a": TABLES["orders"], "b": TABLES["sales"]})
    assert not isinstance(plan, Refusal)
    assert plan.source == "a"
    assert isinstance(planned("top 2 by amount", {"a": TABLES["orders"], "b": TABLES["orders"]}), Refusal)


def test_the_first_rows_that_are_not_the_earliest_are_refused() -> None:
    late = table("visit_no day", "A | 2025-03-02", "B | 2025-01-05", "C | 2025-02-01")
    assert isinstance(planned("first 2 visits", {"data": late}), Refusal)
    assert answer("first 2 rows", {"data": late}) == late[:2]
    early = sorted(late, key=lambda row: row["day"])
    assert answer("first 2 visits", {"data": early}) == early[:2]


def test_a_table_named_without_a_reason_is_refused() -> None:
    tables = {"orders": TABLES["orders"], "customers": TABLES["customers"]}
    assert isinstance(planned("orders with customers", tables), Refusal)


def test_no_table_no_words_and_too_many_words_are_refused() -> None:
    assert isinstance(planned("top 5", {}), Refusal)
    assert isinstance(planned("  ", {"data": []}), Refusal)
    assert isinstance(planned("and " * 5000, {"data": []}), Refusal)
    assert isinstance(planned("flights \x00 ☃", {"data": TABLES["flights"]}), Refusal)
