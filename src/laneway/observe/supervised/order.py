"""What a person asked of a supervised run, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path


class Cause(StrEnum):
    """Why a run ended."""

    ITSELF = "itself"
    """The agent ended on its own."""
    DANGER = "danger"
    LOOP = "loop"
    BUDGET = "budget"
    TIME = "time"
    REACTOR = "reactor"
    """A reactor of the person's own."""
    FAULT = "fault"
    """It could not be watched any more."""
    SIGNAL = "signal"
    """Somebody ended `laneway run`."""


EXIT_CODES = {
    Cause.DANGER: 81,
    Cause.LOOP: 82,
    Cause.BUDGET: 83,
    Cause.TIME: 84,
    Cause.REACTOR: 85,
    Cause.FAULT: 86,
}
"""What `laneway run` ends with when it ended the agent; else the agent's own code, or 128 + its signal."""
MARK = "SUPERVISED_BY_LANEWAY"
"""The variable in the environment of everything an agent starts. It is no setting, so its name is not like one."""


@dataclass(frozen=True, slots=True)
class Order:
    """One supervised run."""

    command: Sequence[str]
    cwd: Path
    environ: Mapping[str, str]
    run_id: str
    budget_tokens: int | None = None
    budget_usd: Decimal | None = None
    max_minutes: float | None = None
    kill_on: frozenset[Cause] = field(default_factory=lambda: frozenset({Cause.BUDGET, Cause.REACTOR}))
    freeze: bool = False
    freeze_wait: float = 60.0
    """Seconds a frozen agent waits where nobody can be asked."""
    grace: float = 1.0
    """Seconds between TERM and KILL."""
    provider: str | None = None
    keep_background: bool = False
    """What the agent left running when it ended by itself lives on."""
