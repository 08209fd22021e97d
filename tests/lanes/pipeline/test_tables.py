"""What each primitive makes of nulls, missing cells, mixed types and equal keys; docs/pipelines.md says the same."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.pipeline.plan import plan_of
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


def test_rows_that_are_equal_keep_their_order_in_both_directions() -> None:
    rows = column([1, 2, 1.0, 2, 1])
    assert ids(after(rows, {"do": "sort", "by": "v"})) == [0, 2, 4, 1, 3]
    assert ids(after(rows, {"do": "sort", "by": "v", "order": "desc"})) == [1, 3, 0, 2, 4]
    assert ids(after(rows, {"do": "top_k", "k": 3, "by": "v"})) == [1, 3, 0]
    assert ids(after(rows, {"do": "top_k", "k": 2, "by": "v", "order": "asc"})) == [0, 2]


def test_many_keys_are_sorted_each_in_its_own_direction() -> None:
    rows = [{"a": a, "b": b} for a in "yx" for b in (1, 2)]
    by = [{"column": "a"}, {"column": "b", "order": "desc"}]
    assert [(row["a"], row["b"]) for row in after(rows, {"do": "sort", "by": by})] == [
        ("x", 2), ("x", 1), ("y", 2), ("y", 1)]  # fmt: skip


def test_top_k_takes_nulls_only_when_there_is_nothing_else() -> None:
    rows = column([None, 3, None, 1])
    assert ids(after(rows, {"do": "top_k", "k": 3, "by": "v"})) == [1, 3, 0]
    assert ids(after(rows, {"do": "top_k", "k": 3, "by": "v", "order": "asc"})) == [3, 1, 0]
    assert ids(after(rows, {"do": "top_k", "k": 2})) == [0, 1]


@pytest.mark.parametrize(("by", "value", "found"), [
    ("==", 1, [0, 1]), ("==", True, [2]), ("==", "1", [3]), ("!=", 1, [2, 3, 4, 5]), ("in", [1, None], [0, 1, 4, 5]),
    ("in", [True], [2]), ("not_in", [1], [2, 3, 4, 5]), ("<", 2, [0, 1]), (">=", "1", [3]), ("between", [0, 1], [0, 1]),
    ("null", None, [4, 5]), ("not_null", None, [0, 1, 2, 3]), ("contains", "1", [3]),
])  # fmt: skip
def test_a_comparison_holds_between_cells_of_one_kind_only(by: str, value: Any, found: list[int]) -> None:
    rows: list[Row] = [*column([1, 1.0, True, "1", None]), {"id": 5}]
    assert ids(after(rows, {"do": "filter", "where": {"column": "v", "is": by, "value": value}})) == found


def test_not_gives_exactly_the_other_rows() -> None:
    chance = random.Random(3)
    for _ in range(200):
        rows = messy.table(chance, 20)
        where = messy.condition(chance, rows, sorted({name for row in rows for name in row}))
        kept = after(rows, {"do": "filter", "where": where})
        others = after(rows, {"do": "filter", "where": {"not": where}})
        assert sorted(ids(kept) + ids(others)) == list(range(20))


def test_cells_that_cannot_be_compared_are_told_of() -> None:
    outcome = done(column([1, "2", "x", None]), {"do": "filter", "where": {"column": "v", "is": ">", "value": 0}})
    assert outcome.notes == ("Step 1 (filter): 2 cells of v (text) cannot be compared with a number.",)


def test_texts_are_compared_exactly_unless_case_is_to_be_ignored() -> None:
    rows = column(["Straße", "STRASSE", "x", ["Straße"], None])
    where = {"column": "v", "is": "contains", "value": "straße"}
    assert ids(after(rows, {"do": "filter", "where": where})) == []
    assert ids(after(rows, {"do": "filter", "where": where | {"ignore_case": True}})) == [0, 1, 3]
    equal = {"column": "v", "is": "==", "value": "strasse", "ignore_case": True}
    assert ids(after(rows, {"do": "filter", "where": equal})) == [0, 1]
    assert ids(after(rows, {"do": "filter", "where": {"column": "v", "is": "starts_with", "value": "St"}})) == [0]
    assert ids(after(rows, {"do": "filter", "where": {"column": "v", "is": "ends_with", "value": "SSE"}})) == [1]


def test_a_day_is_compared_by_the_day_that_is_written_and_a_time_by_its_instant() -> None:
    rows = column(["2026-01-31", "2026-01-31T23:30:00-05:00", "2026-02-01T00:00:00Z", "soon", None])

    def found(by: str, value: Any) -> list[int]:
        return ids(after(rows, {"do": "filter", "where": {"column": "v", "is": by, "value": value}}))

    day, late = {"date": "2026-01-31"}, {"date": "2026-02-01T04:30:00Z"}
    assert found("==", day) == [0, 1]
    assert found("<=", day) == [0, 1]
    assert found(">", day) == [2]
    assert found("==", late) == [1]
    assert found("<", late) == [0, 2]
    assert found("between", [day, {"date": "2026-02-01"}]) == [0, 1, 2]
    assert found("in", [day, "soon"]) == [0, 1, 3]
    notes = done(rows, {"do": "filter", "where": {"column": "v", "is": "<", "value": day}}).notes
    assert notes == ("Step 1 (filter): 1 cells of v are no dates and do not match.",)


def test_a_missing_cell_stays_missing_until_somebody_selects_it() -> None:
    rows: list[Row] = [{"a": 1, "b": 2}, {"a": 3}]
    assert after(rows, {"do": "sort", "by": "a"}) == rows
    assert after(rows, {"do": "select", "columns": ["b", "a"]}) == [{"b": 2, "a": 1}, {"b": None, "a": 3}]
    assert after(rows, {"do": "rename", "columns": {"b": "c"}}) == [{"a": 1, "c": 2}, {"a": 3}]
    assert after(rows, {"do": "rename", "columns": {"a": "b", "b": "a"}}) == [{"b": 1, "a": 2}, {"b": 3}]


def test_a_column_is_known_by_the_table_and_not_by_the_rows_that_are_left() -> None:
    rows: list[Row] = [{"a": 1}, {"a": 2, "late": 5}]
    small = {"do": "filter", "where": {"column": "a", "is": "<", "value": 2}}
    assert after(rows, small, {"do": "select", "columns": ["late"]}) == [{"late": None}]
    with pytest.raises(BadInput, match=r"Step 2 \(sort\): the table has no column lat. Did you mean late\?"):
        after(rows, small, {"do": "sort", "by": "lat"})
    with pytest.raises(BadInput, match="the table has no column late"):
        after(rows, {"do": "select", "columns": ["a"]}, {"do": "sort", "by": "late"})
    assert after([], {"do": "sort", "by": "anything"}) == []


def test_a_name_that_is_taken_is_not_overwritten() -> None:
    with pytest.raises(BadInput, match="there is a column b already"):
        after([{"a": 1, "b": 2}], {"do": "rename", "columns": {"a": "b"}})


def group(by: list[str], **values: tuple[str, str | None]) -> dict[str, Any]:
    made = {name: {"do": do, **({"column": of} if of else {})} for name, (do, of) in values.items()}
    return {"do": "group_by", "by": by, "values": made}


def test_one_and_one_point_zero_are_one_group_and_true_is_another() -> None:
    rows: list[Row] = [*column([1, True, 1.0, None, "1"]), {"id": 5}]
    groups = after(rows, group(["v"], n=("count", None)))
    assert repr(groups) == repr([{"v": 1, "n": 2}, {"v": True, "n": 1}, {"v": None, "n": 2}, {"v": "1", "n": 1}])


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


def test_sums_are_exact_and_means_are_floats() -> None:
    big = 2**70
    rows = [{"i": big, "f": 0.1, "j": 1}, {"i": big + 1, "f": 0.2, "j": 3}, {"i": 1, "f": 0.3, "j": 5}]
    step = group([], i=("sum", "i"), f=("sum", "f"), m=("mean", "j"), odd=("median", "j"))
    assert repr(after(rows, step)) == repr([{"i": 2 * big + 2, "f": 0.6, "m": 3.0, "odd": 3}])
    assert after(rows[:2], group([], even=("median", "j"))) == [{"even": 2.0}]


@pytest.mark.parametrize(("values", "do", "said"), [
    ([1, "n/a"], "sum", 'sum needs numbers, and v holds a text too, such as "n/a".'),
    ([1, True], "mean", "mean needs numbers, and v holds a true/false too, such as true."),
    ([1, "a"], "max", "max is not defined for v, which holds number and text."),
    ([1e308, 1e308], "sum", "sum of v is too large a number."),
])  # fmt: skip
def test_an_aggregate_that_is_not_defined_is_refused(values: list[Any], do: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        after(column(values), group([], x=(do, "v")))
    assert said in str(refused.value)


LEFT: list[Row] = [{"id": 0, "k": 1}, {"id": 1, "k": None}, {"id": 2, "k": 2}, {"id": 3}, {"id": 4, "k": True}]
RIGHT: list[Row] = [{"k": 1.0, "n": "one"}, {"k": 1, "n": "uno"}, {"k": None, "n": "none"}, {"k": 3, "n": "three"}]


def joined(how: str, left: list[Row] = LEFT, right: list[Row] = RIGHT) -> list[Row]:
    return after(left, {"do": "join", "table": "right", "on": ["k"], "how": how}, right=right)


def test_a_join_gives_every_pair_and_nulls_find_nobody() -> None:
    assert joined("inner") == [{"id": 0, "k": 1, "n": "one"}, {"id": 0, "k": 1, "n": "uno"}]
    assert [(row["id"], row["n"]) for row in joined("left")] == [
        (0, "one"), (0, "uno"), (1, None), (2, None), (3, None), (4, None)]  # fmt: skip
    assert ids(joined("anti")) == [1, 2, 3, 4]
    assert "k" not in joined("left")[4]


def test_a_name_that_both_tables_have_gets_the_name_of_the_other_table_in_front() -> None:
    right: list[Row] = [{"k": 1, "id": 7, "more": None}, {"k": 2, "id": 8}]
    assert joined("inner", LEFT[:1], right) == [{"id": 0, "k": 1, "right_id": 7, "more": None}]
    with pytest.raises(BadInput, match="both tables have id, and right_id is taken"):
        joined("inner", [{"id": 0, "k": 1, "right_id": 5}], right)


def test_keys_of_other_names_are_both_kept_and_keys_of_other_kinds_are_told_of() -> None:
    step = {"do": "join", "table": "right", "left_on": ["a", "b"], "right_on": ["x", "y"]}
    assert after([{"a": 1, "b": "q"}, {"a": 1, "b": None}], step, right=[{"x": 1, "y": "q", "z": 0}]) == [
        {"a": 1, "b": "q", "x": 1, "y": "q", "z": 0}]  # fmt: skip
    outcome = done([{"k": "1"}], {"do": "join", "table": "right", "on": "k"}, right=[{"k": 1}])
    assert outcome.notes == ("Step 1 (join): k holds texts here and numbers in right: none are equal.",)
    with pytest.raises(BadInput, match=r"Step 1 \(join\): there is no table rihgt. Did you mean right\?"):
        done([{"k": 1}], {"do": "join", "table": "rihgt", "on": "k"}, right=[{"k": 1}])


def test_distinct_takes_missing_for_null_and_true_not_for_one() -> None:
    rows: list[Row] = [{"a": 1, "b": None}, {"a": 1}, {"a": True}, {"a": 1.0, "b": None}, {"a": 1, "b": [1]}]
    assert after(rows, {"do": "distinct"}) == [rows[0], rows[2], rows[4]]
    assert after(rows, {"do": "distinct", "columns": ["a"]}) == [rows[0], rows[2]]


def test_pivot_makes_a_column_for_each_value_in_the_order_they_appear() -> None:
    rows: list[Row] = [
        {"c": "x", "m": 2, "v": 1},
        {"c": "y", "m": 1, "v": 5},
        {"c": "x", "m": 2, "v": 3},
        {"c": "x", "m": None},
    ]
    step = {"do": "pivot", "index": "c", "columns": "m", "values": {"do": "sum", "column": "v"}}
    assert after(rows, step) == [
        {"c": "x", "2": 4, "1": None, "null": None},
        {"c": "y", "2": None, "1": 5, "null": None},
    ]
    counted = after(rows, step | {"values": {"do": "count"}})
    assert counted[1] == {"c": "y", "2": 0, "1": 1, "null": 0}
    with pytest.raises(BadInput, match="two columns would be called 1"):
        after([{"c": 1, "m": 1, "v": 1}, {"c": 1, "m": "1", "v": 1}], step)


def test_beside_keeps_every_row_and_puts_the_figures_of_its_group_beside_it() -> None:
    rows: list[Row] = [{"c": "x", "v": 2}, {"c": None, "v": 7}, {"c": "x", "v": 4}, {"c": "y"}, {"v": 1}]
    step = {"do": "beside", "by": ["c"], "values": {"m": {"do": "mean", "column": "v"}, "n": {"do": "count"}}}
    assert after(rows, step) == [
        {"c": "x", "v": 2, "m": 3, "n": 2},
        {"c": None, "v": 7, "m": 4, "n": 2},
        {"c": "x", "v": 4, "m": 3, "n": 2},
        {"c": "y", "m": None, "n": 1},
        {"v": 1, "m": 4, "n": 2},
    ]
    whole = after(rows, {"do": "beside", "by": [], "values": {"most": {"do": "max", "column": "v"}}})
    assert [row["most"] for row in whole] == [7] * 5
    with pytest.raises(BadInput, match="there is a column v already"):
        after(rows, step | {"values": {"v": {"do": "count"}}})
    assert after([], step) == []


def test_limit_and_sample_keep_the_order_and_a_seed_keeps_its_rows() -> None:
    rows = column(list(range(100)))
    assert ids(after(rows, {"do": "limit", "count": 3, "offset": 98})) == [98, 99]
    once = ids(after(rows, {"do": "sample", "count": 10, "seed": 4}))
    assert once == sorted(once)
    assert len(set(once)) == 10
    assert once == ids(after(rows, {"do": "sample", "count": 10, "seed": 4}))
    assert once != ids(after(rows, {"do": "sample", "count": 10, "seed": 5}))
    assert ids(after(rows, {"do": "sample", "count": 500})) == list(range(100))


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
    rows: list[Row] = [{"n": n, "p": p} for n, p in enumerate([3, 9, None, 9, 1, 3, 9])]

    def kept(**step: Any) -> list[Any]:
        return [row["n"] for row in run(plan_of({"steps": [{"do": "top_k", "ties": "all", **step}]}), {"t": rows}).rows]

    assert kept(k=1, by="p") == [1, 3, 6]
    assert kept(k=4, by="p") == [1, 3, 6, 0, 5]
    assert kept(k=1, by="p", order="asc") == [4]
    assert kept(k=7, by="p") == [1, 3, 6, 0, 5, 4, 2]
    with pytest.raises(BadInput, match="ties"):
        plan_of({"steps": [{"do": "top_k", "k": 1, "ties": "all"}]})
