"""A text that is an example is known word for word, in whatever spelling, with what is told of it."""

from __future__ import annotations

from laneway.classify.exact import Exact
from laneway.classify.taxonomy import Flag, Label, Taxonomy
from tests.classify.encoders import classifier

ORDERS = Flag("risky", "tell", "", yes=("restart it",), no=("show the log",))
SMALL = Taxonomy("small", (Label("ask", examples=("is it up?",)), Label("tell", examples=("do it",))), (ORDERS,))
KNOWN = {
    "  IS it\tup?": ("ask", {"risky": False}),
    "Restart it!": ("tell", {"risky": True}),
    "show the log": ("tell", {"risky": False}),
    "do it": ("tell", {}),
    "is it down?": None,
}


def test_an_example_is_known_in_any_spelling() -> None:
    assert {text: Exact(SMALL).of(text) for text in KNOWN} == KNOWN


def test_an_order_to_run_something_is_not_asked_about() -> None:
    for text, confirm in (("run the tests", False), ("run `rm -rf x`", True), ("run `rm -rf dist`", True)):
        judged = classifier().judge("message", text)
        assert (judged.label, judged.unsure, judged.flags) == ("command", False, {"needs_confirmation": confirm}), text


def test_few_examples_go_less_far_than_many() -> None:
    many = Taxonomy("many", tuple(Label(name, examples=("text",) * 100) for name in ("one", "two")))
    assert SMALL.plenty < 0.1
    assert many.plenty == 1.0


def test_every_text_is_judged_whatever_it_is() -> None:
    for text in ("", " ", "?", "重启 web1", "a" * 5_000, "\0", "{text} %s"):
        judged = classifier().judge("message", text)
        assert (judged.label in ("question", "command", "other"), 0 <= judged.confidence <= 1) == (True, True), text
