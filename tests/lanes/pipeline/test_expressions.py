"""Expressions of `compute`: what they give, what they refuse, and that they can reach nothing but the row."""

from __future__ import annotations

import time
from typing import Any

import pytest

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.tables import Outcome, run
from laneway.lanes.pipeline.values import Row

ROW: Row = {"a": 7, "b": 2.5, "zero": 0, "none": None, "name": " Ann Lee ", "yes": True, "unit price": 3, "l": [1, 2],
            "day": "2026-01-31", "at": "2026-02-03T04:05:06+02:00", "t": "12.50"}  # fmt: skip


def computed(expression: str, *rows: Row) -> Outcome:
    plan = plan_of({"steps": [{"do": "compute", "column": "x", "expression": expression}]})
    return run(plan, {"table": list(rows) or [ROW]})


def value(expression: str) -> Any:
    return computed(expression).rows[0]["x"]


@pytest.mark.parametrize(("expression", "expected"), [
    ("a + 1", 8), ("a - b * 2", 2.0), ("(a - b) * 2", 9.0), ("a / 2", 3.5), ("a // 2", 3), ("a % 4", 3),
    ("-a ** 2", -49),
    ("2 ** 3 ** 2", 512), ("a - 1 - 1", 5), ("`unit price` * 2", 6), ("1e3", 1000.0), ("none + 1", None),
    ("-none", None),
    ("a > 3 and b < 3", True), ("a > 3 and not yes", False), ("none or yes", True), ("not none", True), ("a = 7", True),
    ("a == 7.0", True), ("yes == 1", False), ("none == null", True), ("a != none", True), ("a <> 7", False),
    ("none > 1", None), ("a in (1, 7.0)", True), ("a not in (1, 7)", False), ("none in (1, null)", True),
    ("'big' if a > 5 else 'small'", "big"), ("if(none, 1, 2)", 2), ("1 if no_such else 2", BadInput),
    ("upper(trim(name))", "ANN LEE"), ("lower('ÄB')", "äb"), ("title('ann lee')", "Ann Lee"), ("length(name)", 9),
    ("length(l)", 2), ("left('hello', 2) + right('hello', 1)", "heo"), ("right('hello', 0)", ""),
    ("substring('hello', 2, 3)", "ell"), ("substring('hello', 4)", "lo"), ("replace('a-b-c', '-', '')", "abc"),
    ("part('a;b;c', ';', 2)", "b"), ("part('a', ';', 2)", None), ("contains(name, 'Ann')", True),
    ("starts_with(name, 'A')", False), ("ends_with('abc', 'bc')", True), ("'it''s'", BadInput), (r"'it\'s'", "it's"),
    ("concat(a, ': ', none, b, yes)", "7: 2.5true"), ("text(a) + '!'", "7!"), ("number(t) * 2", 25.0),
    ("number('7')", 7),
    ("number(yes)", 1), ("number('x')", None), ("coalesce(none, a / 0, b)", 2.5), ("coalesce(none)", None),
    ("is_null(none) and not is_null(a)", True), ("abs(-2)", 2), ("ceil(2.1) + floor(-2.1)", 0), ("sqrt(a + 2)", 3.0),
    ("min(a, b)", 2.5), ("max('a', 'b')", "b"), ("max(a, none)", None), ("round(2.5)", 3), ("round(-2.5)", -3),
    ("round(2.675, 2)", 2.68), ("round(1234, -2)", 1200), ("round(a, 2)", 7), ("round(1250, -2)", 1300),
    ("year(at)", 2026), ("month(at)", 2), ("day(at)", 3), ("hour(at)", 4), ("minute(at)", 5), ("weekday(day)", 6),
    ("quarter(day)", 1), ("date(at)", "2026-02-03"), ("days_between(day, at)", 3), ("year('soon')", None),
    ("a / zero", None), ("a % zero", None), ("true", True), ("null", None), ('"double"', "double"),
])  # fmt: skip
def test_an_expression_gives(expression: str, expected: Any) -> None:
    if expected is BadInput:
        with pytest.raises(BadInput):
            value(expression)
    else:
        assert repr(value(expression)) == repr(expected)


@pytest.mark.parametrize(("expression", "said"), [
    ("a + name", "row 1: a number and a text cannot be reckoned by +."),
    ("yes + 1", "a true/false and a number cannot be reckoned by +."),
    ("name * 3", "a text and a number cannot be reckoned by *."),
    ("a < name", "a number and a text cannot be compared"),
    ("yes < yes", "cannot be compared by <"), ("a and yes", "a condition must be true or false and is a number"),
    ("upper(a)", "upper needs a text and got the number 7"), ("abs(name)", "abs needs a number"),
    ("l + 1", "a list and a number"), ("text(l)", "text cannot show the list"), ("sqrt(-1)", "not below 0"),
    ("(-8) ** 0.5", "is no number"), ("0 ** -1", "is no number"), ("prise * 2", "the table has no column prise"),
    ("1 < 2 < 3", "two comparisons stand side by side. Join them: a < b and b < c."), ("1 2", "instead of an operator"),
    ("a +", "'the end' at letter 4 instead of a value"), ("", "instead of a value"), ("(a", "instead of ')'"),
    ("'open", "cannot be read at"), ("a.b", "cannot be read at '.b'"), ("l[0]", "cannot be read at '[0]'"),
    ("round()", "round takes 1 to 2 values and was given 0"), ("uper(name)", "no function uper. Did you mean upper?"),
    ("__import__('os')", "there is no function __import__"), ("eval('1')", "there is no function eval"),
    ("name.__class__", "cannot be read at"), ("lambda: 1", "cannot be read"), ("[x for x in a]", "cannot be read"),
    ("open('/etc/passwd')", "there is no function open"), ("round(1.5, 'a')", "needs a whole number"),
])  # fmt: skip
def test_an_expression_is_refused(expression: str, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        value(expression)
    assert said in str(refused.value)
    assert str(refused.value).startswith("Step 1 (compute): ")


@pytest.mark.parametrize("expression", [
    "9 ** 9 ** 9", "10 ** 5000", "1e308 * 10", "2.0 ** 5000", "-" * 100 + "1", "not " * 100 + "true",
    "(" * 100 + "1" + ")" * 100, "1" + " + 1" * 400, "x" * 3000, "9" * 500,
    "replace(replace(replace(replace('aaaaaaaaaa', 'a', 'aaaaaaaaaaaaaaaaaaaa'), "
    "'a', 'aaaaaaaaaaaaaaaaaaaa'), 'a', 'aaaaaaaaaaaaaaaaaaaa'), 'a', 'aaaaaaaaaaaaaaaaaaaa')", "1 if 1 if 1 if " * 40,
    "concat(" * 39 + "1" + ")" * 39 + " + " + "2 ** (" * 39 + "1" + ")" * 39, "round(1e300, 300) * round(1e300, -300)",
])  # fmt: skip
def test_nothing_grows_beyond_all_measure(expression: str) -> None:
    before = time.process_time()
    with pytest.raises(BadInput):
        value(expression)
    assert time.process_time() - before < 1


def test_the_row_that_is_wrong_is_named() -> None:
    with pytest.raises(BadInput, match="row 3: a text and a number cannot be reckoned"):
        computed("v * 2", {"v": 1}, {"v": None}, {"v": "x"})


def test_what_gave_null_is_told_of() -> None:
    outcome = computed("number(v) / 0", {"v": "1"}, {"v": "x"}, {"v": "2"})
    assert outcome.notes == ("Step 1 (compute): 2 divisions by zero gave null.",
                             "Step 1 (compute): 1 texts that are no numbers gave null.")  # fmt: skip


def test_a_column_is_set_in_its_place_and_a_new_one_comes_last() -> None:
    row = {"a": 1, "b": 2}
    plan = plan_of({"steps": [{"do": "compute", "column": "a", "expression": "b + 1"},
                              {"do": "compute", "column": "c", "expression": "a * 2"}]})  # fmt: skip
    assert [*run(plan, {"table": [row]}).rows[0].items()] == [("a", 3), ("b", 2), ("c", 6)]
    assert row == {"a": 1, "b": 2}


def test_texts_that_grow_in_every_row_are_stopped_before_they_fill_the_memory() -> None:
    doubled = [{"do": "compute", "column": "text", "expression": "text + text"}] * 16
    rows = [{"text": "x"}] * 20_000
    with pytest.raises(BadInput, match="letters"):
        run(plan_of({"steps": doubled}), {"t": rows})
