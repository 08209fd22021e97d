"""What each primitive makes of nulls, mixed types and equal keys: by example, by plain code, and by columns."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
import statistics
from collections import Counter
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline import columnar
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.reading import rows_of
from laneway.lanes.pipeline.tables import Count, Outcome, run
from laneway.lanes.pipeline.values import Row
from tests.lanes.pipeline import messy


def done(rows: list[Row], *steps: dict[str, Any], most_rows: int = 10_000, **others: list[Row]) -> Outcome:
    return run(plan_of({"from": "table", "steps": list(steps)}), {"table": rows, **others}, most_rows)


def after(rows: list[Row], *steps: dict[str, Any], **others: list[Row]) -> list[Row]:
    return list(done(rows, *steps, most_rows=10_000, **others).rows)


def column(values: list[Any]) -> list[Row]:
    return [{"id": place, "v": value} for place, value in enumerate(values)]


def ids(rows: list[Row]) -> list[int]:
    return [row["id"] for row in rows]


MIXED: list[Row] = [*column([2, None, "b", True, 1.5, [1], "a", {"k": 1}, False]), {"id": 9}]


def test_cells_of_all_types_have_one_order_and_nulls_come_last() -> None:
    assert ids(after(MIXED, {"do": "sort", "by": "v"})) == [8, 3, 4, 0, 6, 2, 5, 7, 1, 9]
    down = {"do": "sort", "by": [{"column": "v", "order": "desc"}]}
    assert ids(after(MIXED, down)) == [7, 5, 2, 6, 0, 4, 3, 8, 1, 9]
    first = {"do": "sort", "by": [{"column": "v", "nulls": "first"}]}
    assert ids(after(MIXED, first))[:2] == [1, 9]
    rows = [{"a": a, "b": b} for a in "yx" for b in (1, 2)]
    by = [{"column": "a"}, {"column": "b", "order": "desc"}]
    assert after(rows, {"do": "sort", "by": by}) == [rows[3], rows[2], rows[1], rows[0]]


def test_a_comparison_holds_between_cells_of_one_kind_only() -> None:
    plain = [*column([1, 1.0, True, "1", None]), {"id": 5}]
    texts = column(["Straße", "STRASSE", "x", ["Straße"], None])
    dates = column(["2026-01-31", "2026-01-31T23:30:00-05:00", "2026-02-01T00:00:00Z", "soon", None])
    beside = column([0, 1.0, -1, True, None])
    # A day is compared by the day that is written, a time by its instant.
    day, late = {"date": "2026-01-31"}, {"date": "2026-02-01T04:30:00Z"}
    cases: list[tuple[list[Row], str, Any, list[int]]] = [
        (plain, "==", 1, [0, 1]), (plain, "==", True, [2]), (plain, "==", "1", [3]), (plain, "!=", 1, [2, 3, 4, 5]),
        (plain, "in", [1, None], [0, 1, 4, 5]), (plain, "in", [True], [2]), (plain, "not_in", [1], [2, 3, 4, 5]),
        (plain, "<", 2, [0, 1]), (plain, ">=", "1", [3]), (plain, "between", [0, 1], [0, 1]),
        (plain, "null", None, [4, 5]), (plain, "not_null", None, [0, 1, 2, 3]), (plain, "contains", "1", [3]),
        (texts, "contains", "straße", []), (texts, "contains i", "straße", [0, 1, 3]),
        (texts, "== i", "strasse", [0, 1]), (texts, "starts_with", "St", [0]), (texts, "ends_with", "SSE", [1]),
        (dates, "==", day, [0, 1]), (dates, "<=", day, [0, 1]), (dates, ">", day, [2]), (dates, "==", late, [1]),
        (dates, "<", late, [0, 2]), (dates, "between", [day, {"date": "2026-02-01"}], [0, 1, 2]),
        (dates, "in", [day, "soon"], [0, 1, 3]),
        (beside, "==", {"column": "id"}, [0, 1]), (beside, "!=", {"column": "id"}, [2, 3, 4]),
        (beside, "<", {"column": "id"}, [2]), (beside, ">=", {"column": "id"}, [0, 1]),
    ]  # fmt: skip
    for rows, by, value, found in cases:
        case = {"ignore_case": True} if by.endswith(" i") else {}
        where = {"column": "v", "is": by.removesuffix(" i"), "value": value, **case}
        assert ids(after(rows, {"do": "filter", "where": where})) == found, (by, value)
    assert done(dates, {"do": "filter", "where": {"column": "v", "is": "<", "value": day}}).notes == (
        "Step 1 (filter): 1 cells of v are no dates and do not match.",
    )
    assert done(column([1, "2", "x"]), {"do": "filter", "where": {"column": "v", "is": ">", "value": 0}}).notes == (
        "Step 1 (filter): 2 cells of v (text) cannot be compared with a number.",
    )


def test_not_gives_exactly_the_other_rows() -> None:
    chance = random.Random(3)
    for _ in range(200):
        rows = messy.table(chance, 20)
        where = messy.condition(chance, rows, sorted({name for row in rows for name in row}))
        kept = after(rows, {"do": "filter", "where": where})
        others = after(rows, {"do": "filter", "where": {"not": where}})
        assert sorted(ids(kept) + ids(others)) == list(range(20))


def test_a_column_is_known_by_the_table_and_not_by_the_rows_that_are_left() -> None:
    rows: list[Row] = [{"a": 1}, {"a": 2, "late": 5}]
    small = {"do": "filter", "where": {"column": "a", "is": "<", "value": 2}}
    assert after(rows, small, {"do": "select", "columns": ["late"]}) == [{"late": None}]
    with pytest.raises(BadInput, match=r"Step 2 \(sort\): the table has no column lat. Did you mean late\?"):
        after(rows, small, {"do": "sort", "by": "lat"})
    with pytest.raises(BadInput, match="the table has no column late"):
        after(rows, {"do": "select", "columns": ["a"]}, {"do": "sort", "by": "late"})
    assert after([], {"do": "sort", "by": "anything"}) == []


def test_a_missing_cell_stays_missing_until_somebody_selects_it_and_no_name_is_overwritten() -> None:
    rows: list[Row] = [{"a": 1, "b": 2}, {"a": 3}]
    assert after(rows, {"do": "sort", "by": "a"}) == rows
    assert after(rows, {"do": "select", "columns": ["b", "a"]}) == [{"b": 2, "a": 1}, {"b": None, "a": 3}]
    assert after(rows, {"do": "rename", "columns": {"b": "c"}}) == [{"a": 1, "c": 2}, {"a": 3}]
    assert after(rows, {"do": "rename", "columns": {"a": "b", "b": "a"}}) == [{"b": 1, "a": 2}, {"b": 3}]
    with pytest.raises(BadInput, match="there is a column b already"):
        after(rows, {"do": "rename", "columns": {"a": "b"}})


def group(by: list[str], **values: tuple[str, str | None]) -> dict[str, Any]:
    made = {name: {"do": do, **({"column": of} if of else {})} for name, (do, of) in values.items()}
    return {"do": "group_by", "by": by, "values": made}


def test_aggregates_leave_nulls_out_and_of_nothing_they_are_null() -> None:
    rows: list[Row] = [{"g": "x", "v": 1}, {"g": "x", "v": None}, {"g": "x", "v": 4}, {"g": "y", "v": None}, {"g": "y"}]
    step = group(["g"], n=("count", None), k=("count", "v"), d=("count_distinct", "v"), s=("sum", "v"), a=("mean", "v"),
                 lo=("min", "v"), hi=("max", "v"), m=("median", "v"))  # fmt: skip
    assert after(rows, step) == [
        {"g": "x", "n": 3, "k": 2, "d": 2, "s": 5, "a": 2.5, "lo": 1, "hi": 4, "m": 2.5},
        {"g": "y", "n": 2, "k": 0, "d": 0, "s": None, "a": None, "lo": None, "hi": None, "m": None},
    ]
    assert after([], step) == []
    assert after([], group([], n=("count", None), s=("sum", "v"))) == [{"n": 0, "s": None}]


def test_an_aggregate_that_is_not_defined_is_refused() -> None:
    values: list[Any]
    for values, do, said in (
        ([1, "n/a"], "sum", 'sum needs numbers, and v holds a text too, such as "n/a".'),
        ([1, True], "mean", "mean needs numbers, and v holds a true/false too, such as true."),
        ([1, "a"], "max", "max is not defined for v, which holds number and text."),
        ([1e308, 1e308], "sum", "sum of v is too large a number."),
    ):
        with pytest.raises(BadInput) as refused:
            after(column(values), group([], x=(do, "v")))
        assert said in str(refused.value)


def test_a_join_gives_every_pair_nulls_find_nobody_and_names_of_both_are_told_apart() -> None:
    left: list[Row] = [{"id": 0, "k": 1}, {"id": 1, "k": None}, {"id": 2, "k": 2}, {"id": 3}]
    right: list[Row] = [{"k": 1.0, "n": "one"}, {"k": 1, "n": "uno"}, {"k": None, "n": "none"}]

    def joined(how: str, left: list[Row], right: list[Row]) -> list[Row]:
        return after(left, {"do": "join", "table": "right", "on": ["k"], "how": how}, right=right)

    assert joined("inner", left, right) == [{"id": 0, "k": 1, "n": "one"}, {"id": 0, "k": 1, "n": "uno"}]
    kept = joined("left", left, right)
    assert [(row["id"], row["n"]) for row in kept] == [(0, "one"), (0, "uno"), (1, None), (2, None), (3, None)]
    assert "k" not in kept[-1]
    assert ids(joined("anti", left, right)) == [1, 2, 3]
    others: list[Row] = [{"k": 1, "id": 7, "more": None}, {"k": 2, "id": 8}]
    assert joined("inner", left[:1], others) == [{"id": 0, "k": 1, "right_id": 7, "more": None}]
    with pytest.raises(BadInput, match="both tables have id, and right_id is taken"):
        joined("inner", [{"id": 0, "k": 1, "right_id": 5}], others)


def test_keys_of_other_names_are_both_kept_and_keys_of_other_kinds_are_told_of() -> None:
    step = {"do": "join", "table": "right", "left_on": ["a", "b"], "right_on": ["x", "y"]}
    assert after([{"a": 1, "b": "q"}, {"a": 1, "b": None}], step, right=[{"x": 1, "y": "q", "z": 0}]) == [
        {"a": 1, "b": "q", "x": 1, "y": "q", "z": 0}]  # fmt: skip
    outcome = done([{"k": "1"}], {"do": "join", "table": "right", "on": "k"}, right=[{"k": 1}])
    assert outcome.notes == ("Step 1 (join): k holds texts here and numbers in right: none are equal.",)
    with pytest.raises(BadInput, match=r"Step 1 \(join\): there is no table rihgt. Did you mean right\?"):
        done([{"k": 1}], {"do": "join", "table": "rihgt", "on": "k"}, right=[{"k": 1}])


def test_rows_without_a_partner_come_last_with_null_in_the_columns_of_others() -> None:
    left: list[Row] = [{"id": 0, "k": 1}, {"id": 1, "k": None}, {"id": 2, "k": 2}, {"id": 3}]
    right: list[Row] = [
        {"k": 5, "n": "five"},
        {"k": 1, "n": "one"},
        {"k": None, "n": "none"},
        {"k": 1.0},
        {"n": "lacks"},
    ]

    def joined(how: str, left: list[Row], right: list[Row], **keys: Any) -> list[Row]:
        return after(left, {"do": "join", "table": "right", "how": how, **(keys or {"on": "k"})}, right=right)

    pairs = [{"id": 0, "k": 1, "n": "one"}, {"id": 0, "k": 1, "n": None}]
    ours = [{**left[1], "n": None}, {**left[2], "n": None}, {**left[3], "n": None}]
    theirs = [{"id": None, "k": k, "n": n} for k, n in ((5, "five"), (None, "none"), (None, "lacks"))]
    assert joined("right", left, right) == [*pairs, *theirs]
    assert joined("full", left, right) == [*pairs, *ours, *theirs]
    assert ids(joined("semi", left, right)) == [0], "once, however many partners it has"
    named = [{"name": 1, "id": 7}, {"name": 9, "id": 8}]
    assert joined("full", left[:1], named, left_on=["k"], right_on=["name"]) == [
        {"id": 0, "k": 1, "name": 1, "right_id": 7}, {"id": None, "k": None, "name": 9, "right_id": 8}]  # fmt: skip
    assert joined("right", [], right[:1]) == right[:1]
    assert joined("full", left[:1], []) == left[:1]
    both = joined("right", [{"a": True, "k": 1}], [{"k": True}])
    assert both == [{"a": None, "k": True}], "true is not 1"
    with pytest.raises(TooLarge, match="would pass 3 rows"):
        done(left[:3], {"do": "join", "table": "right", "on": "k", "how": "full"}, most_rows=3, right=right[:1])


def test_a_union_puts_rows_below_and_knows_the_columns_of_all() -> None:
    rows: list[Row] = [{"a": 1}, {"a": 2, "b": 3}]
    more: list[Row] = [{"a": 2, "b": 3}, {"c": 4}]
    step = {"do": "union", "tables": ["more", "none"]}
    assert after(rows, step, more=more, none=[]) == [*rows, *more]
    assert after(rows, step, {"do": "distinct"}, more=more, none=[]) == [*rows, more[1]]
    few = {"do": "limit", "count": 1}
    assert after(rows, step, few, {"do": "select", "columns": ["c"]}, more=more, none=[]) == [{"c": None}]
    with pytest.raises(BadInput, match=r"Step 1 \(union\): there is no table moer. Did you mean more\?"):
        after(rows, {"do": "union", "tables": "moer"}, more=more)
    with pytest.raises(TooLarge, match=r"Step 1 \(union\): its result would pass 3 rows"):
        done(rows, {"do": "union", "tables": ["more"]}, most_rows=3, more=more)


def test_equal_cells_have_one_rank_and_empty_ones_have_none() -> None:
    rows = [*column([5, 7, None, 7.0, 1]), {"id": 5}]

    def ranks(rows: list[Row], **more: Any) -> list[Any]:
        return [row["rank"] for row in after(rows, {"do": "rank", "by": "v", **more})]

    assert ranks(rows) == [3, 1, None, 1, 4, None]
    assert ranks(rows, order="asc") == [2, 3, None, 3, 1, None]
    assert ranks(column(["b", 2, True, "a", [1]]), order="asc") == [4, 2, 1, 3, 5]
    assert ranks([]) == []
    groups: list[Row] = [{"g": "x", "v": 1}, {"g": None, "v": 9}, {"v": 8}, {"g": "x", "v": 3}]
    assert ranks(groups, within=["g"]) == [2, 1, 2, 1]
    with pytest.raises(BadInput, match="there is a column id already"):
        after(rows, {"do": "rank", "by": "v", "column": "id"})
    best = after(
        groups, {"do": "rank", "by": "v"}, {"do": "filter", "where": {"column": "rank", "is": "<=", "value": 1}}
    )
    assert best == [{"g": None, "v": 9, "rank": 1}]


def test_pivot_makes_a_column_for_each_value_in_the_order_they_appear() -> None:
    made: list[tuple[str, Any, Any]] = [("x", 2, 1), ("y", 1, 5), ("x", 2, 3), ("x", None, None)]
    rows: list[Row] = [{"c": c, "m": m, "v": v} for c, m, v in made]
    step = {"do": "pivot", "index": "c", "columns": "m", "values": {"do": "sum", "column": "v"}}
    assert after(rows, step) == [
        {"c": "x", "2": 4, "1": None, "null": None},
        {"c": "y", "2": None, "1": 5, "null": None},
    ]
    assert after(rows, step | {"values": {"do": "count"}})[1] == {"c": "y", "2": 0, "1": 1, "null": 0}
    with pytest.raises(BadInput, match="two columns would be called 1"):
        after([{"c": 1, "m": 1, "v": 1}, {"c": 1, "m": "1", "v": 1}], step)


def test_beside_keeps_every_row_and_puts_the_figures_of_its_group_beside_it() -> None:
    rows: list[Row] = [{"c": "x", "v": 2}, {"c": None, "v": 7}, {"c": "x", "v": 4}, {"c": "y"}, {"v": 1}]
    step = {"do": "beside", "by": ["c"], "values": {"m": {"do": "mean", "column": "v"}, "n": {"do": "count"}}}
    figures = [(3, 2), (4, 2), (3, 2), (None, 1), (4, 2)]
    assert after(rows, step) == [{**row, "m": m, "n": n} for row, (m, n) in zip(rows, figures, strict=True)]
    whole = after(rows, {"do": "beside", "by": [], "values": {"most": {"do": "max", "column": "v"}}})
    assert [row["most"] for row in whole] == [7] * 5
    with pytest.raises(BadInput, match="there is a column v already"):
        after(rows, step | {"values": {"v": {"do": "count"}}})
    assert after([], step) == []


def test_limit_and_sample_keep_the_order_and_a_seed_keeps_its_rows() -> None:
    rows = column(list(range(100)))
    assert ids(after(rows, {"do": "limit", "count": 3, "offset": 98})) == [98, 99]
    once, again, other = (ids(after(rows, {"do": "sample", "count": 10, "seed": seed})) for seed in (4, 4, 5))
    assert once == again == sorted(set(once)) != other
    assert (len(once), ids(after(rows, {"do": "sample", "count": 500}))) == (10, list(range(100)))


def test_a_summary_says_what_is_in_each_column() -> None:
    rows: list[Row] = [{"n": 1, "t": "b", "x": 1}, {"n": 4, "t": "a", "x": "1"}, {"n": None, "t": "a"}]
    assert after(rows, {"do": "summarize"}) == [
        {"column": "n", "kind": "number", "rows": 3, "nulls": 1, "distinct": 2, "min": 1, "max": 4, "mean": 2.5,
         "median": 2.5},
        {"column": "t", "kind": "text", "rows": 3, "nulls": 0, "distinct": 2, "min": "a", "max": "b", "mean": None,
         "median": None},
        {"column": "x", "kind": "number and text", "rows": 3, "nulls": 1, "distinct": 2, "min": None, "max": None,
         "mean": None, "median": None},
    ]  # fmt: skip


def test_rows_are_counted_after_each_step_and_the_given_ones_stay_as_they_were() -> None:
    chance = random.Random(5)
    rows = messy.table(chance, 30)
    before = copy.deepcopy(rows)
    outcome = done(rows, {"do": "limit", "count": 20}, {"do": "compute", "column": "id", "expression": "-id"},
                   {"do": "sort", "by": "id"}, {"do": "top_k", "k": 3})  # fmt: skip
    assert [count.document() for count in outcome.counts] == [
        {"step": "table", "rows": 30}, {"step": "limit", "rows": 20}, {"step": "compute", "rows": 20},
        {"step": "sort", "rows": 20}, {"step": "top_k", "rows": 3}]  # fmt: skip
    assert outcome.counts[0] == Count("table", 30)
    assert rows == before


def test_there_is_a_cap_on_rows_and_a_join_is_refused_before_it_is_made() -> None:
    many = [{"k": 1}] * 5000
    with pytest.raises(TooLarge, match=r"Step 1 \(join\): its result would pass 10,000 rows. Filter first"):
        after(many, {"do": "join", "table": "right", "on": "k"}, right=many)
    with pytest.raises(TooLarge, match="would pass 100 rows"):
        done(many, {"do": "limit", "count": 1}, most_rows=100)


def test_a_plan_that_names_no_table_takes_the_only_one() -> None:
    plan = plan_of({"steps": []})
    assert run(plan, {"only": [{"a": 1}]}).rows == [{"a": 1}]
    with pytest.raises(BadInput, match="Set `from`: a, b"):
        run(plan, {"a": [], "b": []})
    with pytest.raises(BadInput, match=r"There is no table flihgts. Did you mean flights\?"):
        run(plan_of({"from": "flihgts", "steps": []}), {"flights": []})
    with pytest.raises(BadInput, match="no table to work on"):
        run(plan, {})


def test_top_k_with_ties_keeps_all_that_are_as_good_as_the_last() -> None:
    rows = column([3, 9, None, 9, 1, 3, 9])
    for k, order, kept in ((1, "desc", [1, 3, 6]), (4, "desc", [1, 3, 6, 0, 5]), (1, "asc", [4])):
        assert ids(after(rows, {"do": "top_k", "ties": "all", "k": k, "by": "v", "order": order})) == kept


KINDS = [type(None), bool, (int, float), str, list, dict]


def kind(value: Any) -> int:
    return next(place for place, of in enumerate(KINDS) if isinstance(value, of))  # type: ignore[arg-type]


def equal(left: Any, right: Any) -> bool:
    if kind(left) != kind(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal(left[name], right[name]) for name in left)
    return bool(left == right)


def order(left: Any, right: Any) -> int:
    """Below 0 if left comes first."""
    if kind(left) != kind(right):
        return kind(left) - kind(right)
    if isinstance(left, list):
        for one, other in zip(left, right, strict=False):
            if (found := order(one, other)) != 0:
                return found
        return len(left) - len(right)
    if isinstance(left, dict):
        return order([[*pair] for pair in sorted(left.items())], [[*pair] for pair in sorted(right.items())])
    return 0 if left is None or left == right else -1 if left < right else 1


def sort(rows: list[Row], column: str, descending: bool, nulls_first: bool) -> list[Row]:
    full = [row for row in rows if row.get(column) is not None]
    empty = [row for row in rows if row.get(column) is None]
    sign = -1 if descending else 1
    full.sort(key=cmp_to_key(lambda one, other: sign * order(one[column], other[column])))
    return empty + full if nulls_first else full + empty


def groups(rows: list[Row], columns: list[str]) -> list[list[Row]]:
    made: list[list[Row]] = []
    for row in rows:
        for one in made:
            if all(equal(row.get(column), one[0].get(column)) for column in columns):
                one.append(row)
                break
        else:
            made.append([row])
    return made


def by_chance(seed: str, times: int = 150) -> list[tuple[random.Random, list[Row], list[str]]]:
    chance = random.Random(seed)
    tables = [messy.table(chance, chance.choice([1, 4, 25])) for _ in range(times)]
    return [(chance, rows, sorted({name for row in rows for name in row})) for rows in tables]


def test_sorting_and_the_best_of_a_sort() -> None:
    for chance, rows, columns in by_chance("sort"):
        column, down, first = chance.choice(columns), chance.random() < 0.5, chance.random() < 0.5
        key = {"column": column, "order": "desc" if down else "asc", "nulls": "first" if first else "last"}
        assert messy.spelled(after(rows, {"do": "sort", "by": [key]})) == messy.spelled(sort(rows, column, down, first))
        best = {"do": "top_k", "k": 4, "by": column, "order": key["order"]}
        assert messy.spelled(after(rows, best)) == messy.spelled(sort(rows, column, down, False)[:4])


def test_grouping_and_counting() -> None:
    for chance, rows, columns in by_chance("group"):
        by, of = chance.sample(columns, min(2, len(columns))), chance.choice(columns)
        values = {"#": {"do": "count"}, "#cells": {"do": "count", "column": of},
                  "#different": {"do": "count_distinct", "column": of}}  # fmt: skip
        plain = []
        for one in groups(rows, by):
            full = [row for row in one if row.get(of) is not None]
            key = {column: one[0].get(column) for column in by}
            plain.append({**key, "#": len(one), "#cells": len(full), "#different": len(groups(full, [of]))})
        assert messy.spelled(after(rows, {"do": "group_by", "by": by, "values": values})) == messy.spelled(plain)
        assert messy.spelled(after(rows, {"do": "distinct", "columns": by})) == messy.spelled(
            [one[0] for one in groups(rows, by)]
        )


@pytest.mark.parametrize("profile", ["ints", "floats", "nullable", "numbers", "huge"])
def test_reckoning_is_exact(profile: str) -> None:
    chance = random.Random(profile)
    for _ in range(100):
        rows = messy.table(chance, 15, [profile, "words"])
        if profile not in {name for row in rows for name in row}:
            continue
        cells = [row[profile] for row in rows if row.get(profile) is not None]
        values = {do: {"do": do, "column": profile} for do in ("sum", "mean", "median", "min", "max")}
        try:
            [found] = after(rows, {"do": "group_by", "by": [], "values": values})
        except BadInput:
            assert profile == "huge"
            continue
        if not cells:
            assert set(found.values()) == {None}
            continue
        exact = sum(map(Fraction, cells))
        assert found.pop("sum") == (exact if float not in set(map(type, cells)) else float(exact))
        assert found.pop("mean") == pytest.approx(float(exact / len(cells)), rel=1e-15)
        assert found == {"median": statistics.median(cells), "min": min(cells), "max": max(cells)}


EASY = ("ints", "floats", "words", "texts", "truths", "nullable", "dates")
OTHER: list[Row] = [{"key": 1, "more": "one"}, {"key": 2.5, "more": "two"}, {"key": "a", "more": None}, {"key": 1}]


def told(work: Any) -> tuple[Any, ...]:
    """Everything a user sees of an outcome; of a refusal, its words."""
    try:
        outcome = work()
    except BadInput as error:
        return ("refused", str(error))
    if outcome is None:
        return ("left to the reference",)
    return messy.spelled(outcome.rows), outcome.counts, outcome.notes


def compared(plan: Plan, path: Path, format: str, other: Path) -> str:
    """Whether the columnar path was taken; both paths say the same."""
    files = {"table": (path, format), "other": (other, "ndjson")}
    fast = told(lambda: columnar.run(plan, files, 10_000))
    if fast == ("left to the reference",):
        return "reference"
    slow = told(
        lambda: run(plan, {name: rows_of(file.read_bytes(), of, f"The table {name}")
                           for name, (file, of) in files.items()}, 10_000)
    )  # fmt: skip
    assert fast == slow, plan.document()
    return "refused" if fast[0] == "refused" else "columnar"


def plan_by_chance(chance: random.Random, rows: list[Row]) -> Plan | None:
    columns = sorted({column for row in rows for column in row})
    steps = [messy.step(chance, rows, columns) for _ in range(chance.randint(1, 3))]
    try:
        return plan_of({"from": "table", "steps": steps})
    except BadInput:
        return None


def stored(rows: list[Row], format: str, path: Path) -> Path:
    if format == "ndjson":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    elif format == "csv":
        columns = list(dict.fromkeys(column for row in rows for column in row))
        written = io.StringIO()
        writer = csv.DictWriter(written, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(written.getvalue(), encoding="utf-8")
    else:
        pl.DataFrame(rows, infer_schema_length=None, strict=False).write_parquet(path)
    return path


@pytest.mark.parametrize(("format", "profiles"), [
    ("ndjson", tuple(messy.PROFILES)), ("ndjson", EASY), ("ndjson", ("ints", "floats", "words")),
    ("csv", EASY), ("csv", ("ints", "floats", "words")), ("parquet", EASY),
])  # fmt: skip
def test_plans_by_chance_over_messy_files_give_what_the_reference_gives(
    tmp_path: Path, format: str, profiles: tuple[str, ...]
) -> None:
    chance, seen = random.Random(f"{format}{profiles}"), Counter[str]()
    other = stored(OTHER, "ndjson", tmp_path / "other")
    for number in range(60):
        rows = messy.table(chance, chance.choice([1, 3, 12, 40]), profiles)
        path = stored(rows, format, tmp_path / str(number))
        for _ in range(3):
            plan = plan_by_chance(chance, rows)
            if plan is not None:
                seen[compared(plan, path, format, other)] += 1
    assert seen["columnar"] > 15, seen


def test_a_column_that_polars_would_change_is_left_to_the_reference(tmp_path: Path) -> None:
    path, plan = tmp_path / "table", plan_of({"steps": [{"do": "sort", "by": "a"}]})
    lines = (
        '{"a": 1}\n{"a": 2.5}', '{"a": 1}\n{"a": true}', '{"a": 1}\n{"a": "x"}', '{"a": 1, "a": 2}',
        '{"a": "\\ud800"}', '{"a": 123456789012345678901234567890}', '{"a" : 1}', '{"\\u0061": 1}', '{"a": [1]}',
        '{"b": 1}', '[1]', '', '{"a": 1e400}',
    )  # fmt: skip
    commas = ('a,b\n"1",2\n', "a,b\r\n1,2\r\n", "a,b\n1\n", "a,a\n1,2\n", "a\n1\n", "a,b\n\n1,2\n")
    for format, content in [("ndjson", line + "\n") for line in lines] + [("csv", text) for text in commas]:
        path.write_bytes(content.encode())
        assert columnar.run(plan, {"table": (path, format)}, 100) is None, content


def test_parquet_is_read_as_json_has_it_and_what_json_has_no_words_for_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "table"
    pl.DataFrame({
        "day": [date(2026, 1, 31), None],
        "at": [datetime(2026, 1, 31, 10, 0, tzinfo=UTC), None],
        "share": [0.5, float("nan")],
        "small": pl.Series([1, 2], dtype=pl.Int8),
    }).write_parquet(path)  # fmt: skip
    assert rows_of(path.read_bytes(), "parquet") == [
        {"day": "2026-01-31", "at": "2026-01-31T10:00:00Z", "share": 0.5, "small": 1},
        {"day": None, "at": None, "share": None, "small": 2},
    ]
    pl.DataFrame({"blob": [b"\0"]}).write_parquet(path)
    with pytest.raises(BadInput, match="column blob of type Binary"):
        rows_of(path.read_bytes(), "parquet")
