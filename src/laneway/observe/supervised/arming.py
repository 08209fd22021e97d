"""Which reactors watch a run, and what it means when one wants it ended: the one place to change that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from laneway.observe.supervised.order import Cause, Order
from laneway.reactors import Reactor
from laneway.reactors.cost_budget import CostBudget
from laneway.reactors.error_streak import ErrorStreak
from laneway.reactors.loop_detector import LoopDetector
from laneway.reactors.safety_guard import SafetyGuard
from laneway.reactors.stall_detector import StallDetector
from laneway.reactors.token_budget import TokenBudget

CAUSES = {
    SafetyGuard.name: Cause.DANGER,
    LoopDetector.name: Cause.LOOP,
    TokenBudget.name: Cause.BUDGET,
    CostBudget.name: Cause.BUDGET,
}


@dataclass(frozen=True, slots=True)
class Armed:
    """The reactors of one run."""

    session: Callable[[], Sequence[Reactor]]
    """New ones for each log: they judge what one session does. A sub-agent's log is a session of its own."""
    run: Sequence[Reactor]
    """They judge all sessions of the run together, from its beginning: its budgets."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """By a reactor's name: what it means when it wants an end."""

    def cause(self, reactor: str) -> Cause:
        return self.causes.get(reactor, Cause.REACTOR)


def reactors_for(order: Order) -> Armed:
    """The reactors this order asks for; what it does not arm still speaks."""

    def of_a_session() -> list[Reactor]:
        return [
            SafetyGuard(kill_on_danger=Cause.DANGER in order.kill_on, project=str(order.cwd)),
            LoopDetector(kill=Cause.LOOP in order.kill_on),
            StallDetector(),
            ErrorStreak(),
        ]

    return Armed(of_a_session, _budgets(order), CAUSES)


def _budgets(order: Order) -> list[Reactor]:
    kill, budgets = Cause.BUDGET in order.kill_on, list[Reactor]()
    if order.budget_tokens is not None:
        budgets.append(TokenBudget(order.budget_tokens, kill=kill))
    if order.budget_usd is not None:
        budgets.append(CostBudget(float(order.budget_usd), kill=kill))
    return budgets
