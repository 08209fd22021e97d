"""A text that is an example is known word for word, in whatever spelling, with what is told of it."""

from __future__ import annotations

import pytest

from laneway.classify.exact import Exact
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import Flag, Label, Taxonomy, load

ORDERS = Flag("risky", "tell", "", yes=("restart it",), no=("show the log",))
SMALL = Taxonomy("small", (Label("ask", examples=("is it up?",)), Label("tell", examples=("do it",))), (ORDERS,))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("  IS it\tup?", ("ask", {"risky": False})),
        ("Restart it!", ("tell", {"risky": True})),
        ("show the log", ("tell", {"risky": False})),
        ("do it", ("tell", {})),
        ("is it down?", None),
    ],
)
def test_an_example_is_known_in_any_spelling(text: str, told: tuple[str, dict[str, bool]] | None) -> None:
    assert Exact(SMALL).of(text) == told


@pytest.mark.parametrize(
    ("text", "confirm"), [("run the tests", False), ("run `rm -rf x`", True), ("run `rm -rf dist`", True)]
)
def test_an_order_to_run_something_is_not_asked_about(text: str, confirm: bool) -> None:
    judged = LocalClassifier(load()).judge("message", text)
    assert (judged.label, judged.unsure, judged.flags) == ("command", False, {"needs_confirmation": confirm})


def test_few_examples_go_less_far_than_many() -> None:
    many = Taxonomy("many", tuple(Label(name, examples=("text",) * 100) for name in ("one", "two")))
    assert SMALL.plenty < 0.1
    assert many.plenty == 1.0
