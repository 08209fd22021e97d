"""A budget: the most a subject may spend in a period, in money and in tokens. Days and months are those of UTC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Literal
from uuid import UUID

from laneway.domain.conversation import World
from laneway.domain.job import Scope


class Subject(StrEnum):
    """Whose spending is limited; the narrowest first, as they are checked."""

    JOB = "job"
    SCHEDULE = "schedule"
    THREAD = "thread"
    PRINCIPAL = "principal"
    LANE = "lane"
    SCOPE = "scope"
    ALL = "all"


SPLIT = frozenset({Subject.ALL, Subject.LANE, Subject.SCOPE})
"""Subjects that exist in both worlds, and so have a budget in each; all others belong to one world anyway."""


Unit = Literal["usd", "tokens"]


class Period(StrEnum):
    DAY = "day"
    MONTH = "month"
    EVER = "ever"

    def since(self, today: date) -> date:
        """The first day of the period that `today` is in."""
        return {Period.DAY: today, Period.MONTH: today.replace(day=1), Period.EVER: date.min}[self]

    def resets(self, today: date) -> datetime | None:
        """When the next one begins; never for `ever`."""
        if self is Period.EVER:
            return None
        first = today + timedelta(days=1) if self is Period.DAY else (today.replace(day=1) + timedelta(days=32))
        return datetime.combine(first if self is Period.DAY else first.replace(day=1), datetime.min.time(), UTC)


@dataclass(frozen=True, slots=True)
class Account:
    """Who a call is charged to; what is None is looked up from the job and the thread."""

    scope: Scope = Scope.REACTIVE
    thread_id: UUID | None = None
    job_id: UUID | None = None
    principal: UUID | None = None
    lane: str | None = None
    schedule: str | None = None
    world: World | None = None

    def name(self, subject: Subject) -> str | None:
        """What a budget of this subject is called here; None if there is no such subject."""
        found = {
            Subject.JOB: self.job_id,
            Subject.SCHEDULE: self.schedule,
            Subject.THREAD: self.thread_id,
            Subject.PRINCIPAL: self.principal,
            Subject.LANE: self.lane,
            Subject.SCOPE: self.scope,
            Subject.ALL: "",
        }[subject]
        return None if found is None else str(found)


@dataclass(frozen=True, slots=True)
class Caps:
    """The caps of the settings, each named like its setting; None is no cap."""

    day_usd: float | None = None
    thread_usd: float | None = None
    job_usd: float | None = None
    day_tokens: int | None = None
    month_usd: float | None = None
    month_tokens: int | None = None
    thread_tokens: int | None = None
    job_tokens: int | None = None
    principal_day_usd: float | None = None
    principal_day_tokens: int | None = None
    lane_day_usd: float | None = None
    lane_day_tokens: int | None = None
    proactive_day_usd: float | None = None
    proactive_day_tokens: int | None = None
    customers_day_usd: float | None = None
    customers_day_tokens: int | None = None

    def each(self) -> Iterator[Budget]:
        """The budgets these caps make; one without a name holds for each of its subject."""
        for prefix, subject, name, period, worlds in _OF_SETTINGS:
            usd, tokens = getattr(self, f"{prefix}_usd"), getattr(self, f"{prefix}_tokens")
            if usd is not None or tokens is not None:
                money = None if usd is None else Decimal(str(usd))
                for world in worlds:
                    yield Budget(subject, name, period, world, money, tokens, prefix, prefix)


@dataclass(frozen=True, slots=True)
class Budget:
    """What `name` of the subject may spend in a period; a measure that is None is not limited.

    `usd_setting` and `tokens_setting` say which setting a cap comes from, without its measure; empty if it was set
    by hand.
    """

    subject: Subject
    name: str
    period: Period
    world: World | None
    usd: Decimal | None = None
    tokens: int | None = None
    usd_setting: str = ""
    tokens_setting: str = ""

    @property
    def key(self) -> tuple[Subject, str, Period, World | None]:
        return self.subject, self.name, self.period, self.world

    @property
    def title(self) -> str:
        """What it is called in a sentence: "day budget of this thread"."""
        period = "" if self.period is Period.EVER else f"{self.period} "
        owner = self._whose
        return f"{period}budget" + (f" of {owner}" if owner else "")

    @property
    def spender(self) -> str:
        """Who spent it and when, in a sentence: "by this thread today (UTC)"."""
        when = {Period.DAY: "today (UTC)", Period.MONTH: "this month (UTC)", Period.EVER: ""}[self.period]
        return " ".join(filter(None, (f"by {self._whose}" if self._whose else "", when)))

    @property
    def options(self) -> str:
        """The options of `laneway budget` that name it."""
        subject = "" if self.subject is Subject.ALL else f"--{self.subject} {self.name}"
        if self.subject is Subject.SCOPE:
            subject = f"--{self.name}"
        world = "--customers" if self.world is World.CUSTOMER else ""
        period = "" if self.period is Period.EVER else f"--{self.period}"
        return " ".join(filter(None, (subject, world, period)))

    @property
    def _whose(self) -> str:
        among = " for customers" if self.world is World.CUSTOMER else ""
        return {
            Subject.JOB: "this job",
            Subject.SCHEDULE: f"the schedule {self.name}",
            Subject.THREAD: "this thread",
            Subject.PRINCIPAL: "this principal",
            Subject.LANE: f"the lane {self.name}{among}",
            Subject.SCOPE: f"{self.name} work{among}",
            Subject.ALL: "all customers" if among else "",
        }[self.subject]


@dataclass(frozen=True, slots=True)
class Standing:
    """A budget and what has been spent of it; `reserved` is for calls that are being made."""

    budget: Budget
    since: date
    resets_at: datetime | None
    spent: Decimal
    reserved: Decimal
    spent_tokens: int
    reserved_tokens: int

    def measures(self) -> Iterator[Measure]:
        """How it stands in money and in tokens, as far as it is limited."""
        budget = self.budget
        if budget.usd is not None:
            yield Measure("usd", budget.usd, self.spent, self.reserved, budget.usd_setting)
        if budget.tokens is not None:
            tokens = Decimal(budget.tokens), Decimal(self.spent_tokens), Decimal(self.reserved_tokens)
            yield Measure("tokens", *tokens, budget.tokens_setting)


@dataclass(frozen=True, slots=True)
class Measure:
    """A cap in money or in tokens, and what is spent of it."""

    unit: Unit
    cap: Decimal
    spent: Decimal
    reserved: Decimal
    setting: str

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.cap - self.spent - self.reserved)

    @property
    def share(self) -> float:
        """The part of the cap that is spent, reservations left out; all of it, if nothing may be spent."""
        return float(self.spent / self.cap) if self.cap else 1.0

    @property
    def setting_name(self) -> str:
        """The setting the cap comes from; empty if it was set by hand."""
        return f"budget.{self.setting}_{self.unit}" if self.setting else ""

    def amount(self, value: Decimal) -> str:
        """The value as people read it."""
        return f"${value:.4f}".removesuffix("00") if self.unit == "usd" else f"{int(value):,}"

    def of_cap(self, used: Decimal) -> str:
        """So much of the cap: "$0.01 of $5.00", "150 of 200 tokens"."""
        return f"{self.amount(used)} of {self.amount(self.cap)}" + (" tokens" if self.unit == "tokens" else "")


_Worlds = tuple[World | None, ...]
_OF_SETTINGS: tuple[tuple[str, Subject, str, Period, _Worlds], ...] = (
    ("job", Subject.JOB, "", Period.EVER, (None,)),
    ("thread", Subject.THREAD, "", Period.EVER, (None,)),
    ("principal_day", Subject.PRINCIPAL, "", Period.DAY, (None,)),
    ("lane_day", Subject.LANE, "", Period.DAY, (World.OWNER, World.CUSTOMER)),
    ("proactive_day", Subject.SCOPE, Scope.PROACTIVE, Period.DAY, (World.OWNER,)),
    ("day", Subject.ALL, "", Period.DAY, (World.OWNER,)),
    ("month", Subject.ALL, "", Period.MONTH, (World.OWNER,)),
    ("customers_day", Subject.ALL, "", Period.DAY, (World.CUSTOMER,)),
)
assert {f"{row[0]}_{unit}" for row in _OF_SETTINGS for unit in ("usd", "tokens")} == {f.name for f in fields(Caps)}
