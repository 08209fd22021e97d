"""Which reactors watch a run, and what it means when one wants it ended: the one place to change that."""

from __future__ import annotations

from dataclasses import replace

from laneway.observe.supervised.armed import Armed
from laneway.observe.supervised.order import Cause, Order
from laneway.reactors.cost_budget import CostBudget
from laneway.reactors.loop_detector import LoopDetector
from laneway.reactors.options import Options
from laneway.reactors.safety_guard import SafetyGuard
from laneway.reactors.shipped import budgets, shipped
from laneway.reactors.token_budget import TokenBudget

_CAUSES = {
    SafetyGuard.name: Cause.DANGER,
    LoopDetector.name: Cause.LOOP,
    TokenBudget.name: Cause.BUDGET,
    CostBudget.name: Cause.BUDGET,
}


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
    make = lambda on_failure: shipped(of_a_session, on_failure)  # noqa: E731
    of_the_run = replace(of_a_session, budget_tokens=order.budget_tokens, budget_usd=order.budget_usd, since=None)
    return Armed(make, budgets(of_the_run), _CAUSES, of_a_session.own.faults)
