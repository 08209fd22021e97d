"""Which reactors watch a run, and what it means when one wants it ended: the one place to change that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from laneway.observe.supervised.order import Cause, Order
from laneway.reactors import Failed, Reactor
from laneway.reactors.cost_budget import CostBudget
from laneway.reactors.loop_detector import LoopDetector
from laneway.reactors.options import Options
from laneway.reactors.safety_guard import SafetyGuard
from laneway.reactors.shipped import shipped
from laneway.reactors.token_budget import TokenBudget

_CAUSES = {
    SafetyGuard.name: Cause.DANGER,
    LoopDetector.name: Cause.LOOP,
    TokenBudget.name: Cause.BUDGET,
    CostBudget.name: Cause.BUDGET,
}


@dataclass(frozen=True, slots=True)
class Armed:
    """The reactors of one run."""

    session: Callable[[Callable[[Failed], None]], Sequence[Reactor]]
    """New ones for each log: they judge what one session does. A sub-agent's log is a session of its own."""
    run: Sequence[Reactor]
    """They judge all sessions of the run together, from its beginning: its budgets."""
    causes: Mapping[str, Cause] = field(default_factory=dict)
    """By a reactor's name: what it means when it wants an end."""

    def cause(self, reactor: str) -> Cause:
        return self.causes.get(reactor, Cause.REACTOR)


def reactors_for(order: Order, options: Options | None = None) -> Armed:
    """The reactors this order asks for, the owner's own included; what is not armed still speaks.

    The time is limited by the run itself, since that has to work where no log is found.
    """
    kill_on = frozenset(cause.value for cause in order.kill_on)
    of_a_session = replace(
        options or Options(),
        kill_on=kill_on,  # type: ignore[arg-type]
        project=str(order.cwd),
        budget_tokens=None,
        budget_usd=None,
        max_minutes=None,
    )
    return Armed(lambda on_failure: shipped(of_a_session, on_failure), _budgets(order), _CAUSES)


def _budgets(order: Order) -> list[Reactor]:
    kill, budgets = Cause.BUDGET in order.kill_on, list[Reactor]()
    if order.budget_tokens is not None:
        budgets.append(TokenBudget(order.budget_tokens, kill=kill))
    if order.budget_usd is not None:
        budgets.append(CostBudget(float(order.budget_usd), kill=kill))
    return budgets
