"""Doing what was ordered, one call after the other, and telling honestly what became of each."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic_ai.messages import ToolReturnPart

from laneway.llm.offline.orders import Order
from laneway.llm.offline.outcomes import Ending, Outcome, outcome_of, told
from laneway.llm.offline.turn import Answer, Turn, text


def carried_out(turn: Turn, orders: Sequence[Order]) -> Answer:
    """The next call, or, when all are done or one did not succeed, what became of them."""
    outcomes = [outcome_of(part) for part in _latest(turn.returns)]
    if len(outcomes) < len(orders) and all(outcome.ending is Ending.DONE for outcome in outcomes):
        following = orders[len(outcomes)]
        return turn.call(following.tool, **following.arguments)
    return text(_summary(orders, outcomes))


def what_happened(returns: Sequence[ToolReturnPart]) -> str:
    """How each call ended, in the tools' own names: for when the order itself is no longer understood."""
    ended = [(part.tool_name, outcome_of(part)) for part in _latest(returns)]
    return "\n".join(told(f"finish {tool}", outcome, f"{tool}: done.") for tool, outcome in ended)


def _latest(returns: Sequence[ToolReturnPart]) -> list[ToolReturnPart]:
    """The last return of every call, in the order of the calls."""
    return list({part.tool_call_id: part for part in returns}.values())


def _summary(orders: Sequence[Order], outcomes: Sequence[Outcome]) -> str:
    said = [_told(order, outcome) for order, outcome in zip(orders, outcomes, strict=False)]
    if len(orders) == 1:
        return said[0]
    said += [f"Not done: {order.about}." for order in orders[len(outcomes) :]]
    return "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(said, 1))


def _told(order: Order, outcome: Outcome) -> str:
    if order.tells_all:
        return order.tell(outcome)
    done = order.tell(outcome) if outcome.ending is Ending.DONE else ""
    note = outcome.fields.get("note")
    return told(order.about, outcome, done) + (f"\n({note})" if isinstance(note, str) and note else "")
