"""The script: orders in their turn, decided late, and told apart."""

from __future__ import annotations

import pytest

from . import Asked, CallTool, CutStream, Delay, Hang, Order, Say, Script, Turn, echo
from .script import Plan, plan


def asked(text: str = "Hello", *results: str) -> Asked:
    return Asked("chat", "gpt-4.1", "", text, (), results, False, {})


def test_orders_are_followed_in_turn_and_then_the_default() -> None:
    script = Script(Say("one")).then(Say("two"))
    assert script.left == 2
    assert [script.next(asked()) for _ in range(3)] == [Say("one"), Say("two"), Say("echo: Hello")]
    assert script.left == 0


def test_the_default_can_be_any_order() -> None:
    script = Script(default=Say("always"))
    assert [script.next(asked()), script.next(asked())] == [Say("always"), Say("always")]


def test_a_function_may_hand_the_decision_on() -> None:
    def decide(request: Asked) -> Order:
        return echo(request) if request.tool_results else CallTool("look")

    script = Script(lambda _: decide, decide)
    assert script.next(asked()) == CallTool("look")
    assert script.next(asked("Hello", "found", "lost")) == Say("echo: found | lost")


def test_wrapped_orders_unfold_to_one_plan() -> None:
    cut = CutStream(3, of=Delay(Hang(2, then=Say("text", tokens_in=5)), per_piece=0.5))
    assert plan(cut) == Plan(Turn([Say("text", tokens_in=5)], tokens_in=5), wait=2, per_piece=0.5, mishap=cut)


def test_token_counts_of_the_parts_of_a_turn_are_refused() -> None:
    with pytest.raises(ValueError, match="to the Turn"):
        Turn([Say("one", tokens_out=3), CallTool("look")])
