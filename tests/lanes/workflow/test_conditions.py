"""Conditions are true, false or erred; never true because of an error."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.lanes.workflow.conditions import LONGEST, BadCondition, Erred, compiled
from laneway.lanes.workflow.expression_text import named, plain

OUTPUT: dict[str, Any] = {"price": 5, "rate": 5.5, "two": 2, "items": [{"p": 1}, {"p": 2}], "none": None, "ok": True}
OUTPUT |= {"text": "x $.price", "big": 10**30, "a-b": 1}
CTX = {"fetch": {"status": 200}, "with-dash": {"v": 1}}
TRUE = """
output.price < 100
$.text == 'x $.price'
$.text == "x $.price" && $.ok
has($.price) && !has($.missing)
$.items.exists(i, i.p < 2)
$.items[0].p == 1
$['a-b'] == 1
size($.items) == 2 && size($) > 5
ctx.fetch.status == 200
ctx['with-dash'].v == 1
$.rate * $.two > 10
$.two * 1.5 - 1 == 2.0
$.rate + $.two > 7.4 && $.two / 0.5 == 4
size($.items) > 1.5
$.big > 5
true || $.missing
$.price < 100 // $.missing is only said
$.none == null
$.text.startsWith('x') || $.text.matches('^b+$')
type($.price) == int && $.price == 5u
timestamp('2025-01-01T00:00:00Z') < timestamp('2026-01-01T00:00:00Z')
$.items.filter(i, i.p > 1).size() == 1
"""
FALSE = """
$.price > 100
$.price - 1 > 100 || ($.price + 1 in [2])
$.price == '5'
$.ok == false
has($.missing) && $.missing > 1
$.price > 10 ? $.ok : false
"""
ERRED = {
    "$.missing == 1": "missing",
    "$.none > 1": "overload",
    "$.price": "a number, not true or false",
    "$.text": "a text, not true or false",
    "$.rate / 0 > 1.0": "division",
    "$.price ? true : false": "overload",
    "ctx.never.ran > 1": "never",
}
REFUSED = {
    "1 + 1": "gives a number",
    "'abc'": "gives a text",
    "[1]": "gives a list",
    "null": "gives null",
    "$.price + 1": "works something out",
    "(($.price * $.count))": "works something out",
    "price < 100": '"price", which is unknown',
    "$.price <": "not valid CEL",
    "$.price = 100": "not valid CEL",
    "$.a and $.b": "not valid CEL",
    "'a' > 1": "not valid CEL",
    "$nodes.fetch.price > 1": "not valid CEL",
    "import os": "not valid CEL",
    "unknown($.a)": "unknown",
    "": "empty",
    "  ": "empty",
    "(" * 500 + "true" + ")" * 500: "not valid CEL",
    "$.a == '" + "x" * LONGEST + "'": "characters",
}


def test_a_condition_is_true_only_where_it_holds() -> None:
    wrong = [text for text in TRUE.strip().splitlines() if compiled(text).value(OUTPUT, CTX) is not True]
    wrong += [text for text in FALSE.strip().splitlines() if compiled(text).value(OUTPUT, CTX) is not False]
    assert not wrong, "\n".join(wrong)


def test_an_error_is_neither_true_nor_false_and_says_why() -> None:
    found = {text: compiled(text).value(OUTPUT, CTX) for text in ERRED}
    wrong = [
        f"{text}: {one}" for text, one in found.items() if not isinstance(one, Erred) or ERRED[text] not in one.why
    ]
    assert not wrong, "\n".join(wrong)


def test_what_can_never_be_a_condition_is_refused_when_it_is_compiled() -> None:
    for text, why in REFUSED.items():
        with pytest.raises(BadCondition, match=why) as refused:
            compiled(text)
        assert refused.value.hint


def test_only_the_fields_an_expression_names_are_handed_over() -> None:
    reads = named(plain("$.a.b < 3 && ctx['n-1'].x == $.c && $.l.exists(i, i.d > 1)"), ("output", "ctx"))
    assert reads == {"output": [("a", "b"), ("c",), ("l",)], "ctx": [("n-1", "x")]}
    assert named("size(output) > 1 && output.a == 1", ("output",)) == {"output": None}
    assert named("output[ctx.k] == 1", ("output", "ctx")) == {"output": None, "ctx": [("k",)]}
    assert compiled("$.price < 100").value({"price": 1, "other": object()}) is True


def test_an_output_that_is_too_large_or_nested_without_end_errs() -> None:
    found = compiled("size($.rows) > 1").value({"rows": [0] * 200_001})
    assert isinstance(found, Erred)
    assert "values" in found.why
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert isinstance(compiled("$.a == 1").value({"a": deep}), Erred)
