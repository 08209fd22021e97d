"""What the owner decided about the reactors that come with Laneway."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from laneway.reactors.loading import Own, load
from laneway.reactors.loop_detector import EXCEPTIONS, Limits
from laneway.reactors.stall_detector import Patience
from laneway.settings import Settings
from laneway.settings.reactors import KillOn


@dataclass(frozen=True, slots=True)
class Options:
    """`kill_on` names what may end a session; the rest only tells. `reactor` stands for all of the owner's own."""

    kill_on: frozenset[KillOn] = frozenset()
    budget_tokens: int | None = None
    budget_usd: Decimal | float | None = None
    max_minutes: float | None = None
    since: datetime | None = None
    """What was used before does not count: the beginning of a run that goes on with an older session."""
    project: str | None = None
    """The folder that is the session's own; unset = where it begins."""
    errors_in_a_row: int = 5
    patience: Patience = field(default_factory=Patience)
    loops: Limits = field(default_factory=Limits)
    loop_exceptions: tuple[str, ...] = ()
    """`Tool` or `Tool(command)`, besides those that are always excepted."""
    cheaper_ways: bool = True
    audit: Path | None = None
    """The file in which calls that can change something are put down; unset = none."""
    own: Own = field(default_factory=Own)
    """The owner's own reactors, loaded once."""

    @property
    def exceptions(self) -> tuple[str, ...]:
        return (*EXCEPTIONS, *self.loop_exceptions)


def chosen(settings: Settings, own: Own | None = None) -> Options:
    """The options that the settings ask for, with the owner's own reactors as they lie in their folder now."""
    return Options(
        kill_on=frozenset(settings.reactor_kill_on),
        budget_tokens=settings.reactor_budget_tokens,
        budget_usd=settings.reactor_budget_usd,
        max_minutes=settings.reactor_max_minutes,
        errors_in_a_row=settings.reactor_errors,
        patience=Patience(
            user=settings.reactor_idle_seconds,
            permission=settings.reactor_permission_seconds,
            tool=settings.reactor_tool_seconds,
            background=settings.reactor_tool_seconds,
            cool_down=settings.reactor_cool_down_seconds,
        ),
        loop_exceptions=settings.reactor_loop_exceptions,
        cheaper_ways=settings.reactor_cheaper_ways,
        audit=settings.reactor_audit_file,
        own=load(folder_of(settings)) if own is None else own,
    )


def folder_of(settings: Settings) -> Path:
    """Where the owner's own reactors lie."""
    return settings.reactor_folder or settings.home / "reactors"
