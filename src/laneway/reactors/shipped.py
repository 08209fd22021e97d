"""The reactors of one session, in their order: those that come with Laneway, then the owner's own."""

from __future__ import annotations

from collections.abc import Callable

from laneway.reactors.audit_logger import AuditFile, AuditLogger
from laneway.reactors.border import Failed
from laneway.reactors.contract import Intervene, Reaction, Reactor, ReactorContext
from laneway.reactors.cost_budget import CostBudget
from laneway.reactors.cost_optimizer import CostOptimizer
from laneway.reactors.error_streak import ErrorStreak
from laneway.reactors.loop_detector import LoopDetector
from laneway.reactors.options import Options
from laneway.reactors.safety_guard import SafetyGuard
from laneway.reactors.stall_detector import StallDetector
from laneway.reactors.time_budget import TimeBudget
from laneway.reactors.token_budget import TokenBudget


def shipped(options: Options | None = None, on_failure: Callable[[Failed], None] = lambda _: None) -> list[Reactor]:
    """New reactors for one session: danger first, then what it costs, then what only tells."""
    options = options or Options()
    return [
        SafetyGuard(kill_on_danger="danger" in options.kill_on, project=options.project),
        LoopDetector(kill="loop" in options.kill_on, exceptions=options.exceptions, limits=options.loops),
        *budgets(options),
        ErrorStreak(options.errors_in_a_row),
        StallDetector(options.patience),
        *([CostOptimizer()] if options.cheaper_ways else []),
        *([AuditLogger(AuditFile(options.audit).append)] if options.audit is not None else []),
        *(one if "reactor" in options.kill_on else Unarmed(one) for one in options.own.make(on_failure)),
    ]


class Unarmed:
    """A reactor of the owner's own where none of these may end anything: what it would end is told instead."""

    def __init__(self, reactor: Reactor) -> None:
        self.name, self._reactor = reactor.name, reactor

    def handle(self, ctx: ReactorContext) -> Reaction:
        """What the reactor says, an end as a notification."""
        said = self._reactor.handle(ctx)
        return Intervene(said.reason) if isinstance(said, Intervene) else said


def budgets(options: Options) -> list[Reactor]:
    """The budgets these options set."""
    kill, since = "budget" in options.kill_on, options.since
    found: list[Reactor] = []
    if options.budget_tokens is not None:
        found.append(TokenBudget(options.budget_tokens, kill=kill, since=since))
    if options.budget_usd is not None:
        found.append(CostBudget(float(options.budget_usd), kill=kill, since=since))
    if options.max_minutes is not None:
        found.append(TimeBudget(options.max_minutes, kill=kill, since=since))
    return found
