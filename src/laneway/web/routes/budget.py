"""Budgets: how each stands, setting one for somebody, and taking it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.budget import SPLIT, Budget, Measure, Period, Standing, Subject
from laneway.domain.conversation import World
from laneway.domain.job import Scope
from laneway.errors import BadInput, NotFound
from laneway.llm.choice import caps_of
from laneway.store import budgets, conversations, jobs, principals, schedules
from laneway.store.database import Connection
from laneway.web.gateway import Gateway, Here, Me
from laneway.web.routes.schedules import check_budget
from laneway.web.shapes import Moment

router = APIRouter(tags=["ledger"])
CLASSIFY = "classify"
"""What the ledger calls the work of finding the lane."""


class Named(BaseModel):
    """Which budget is meant."""

    model_config = ConfigDict(extra="forbid")

    subject: Subject = Field(description="Whose spending is limited.")
    name: str = Field(
        "", max_length=200, description="Which one: an id, or the name of a principal, a lane, a scope or a schedule."
    )
    period: Period = Field(description="How long it lasts until it starts anew; `ever` never does.")
    world: World | None = Field(None, description="For all, a lane or a scope: whose; unset = the owner's.")


class Wanted(Named):
    usd: float | None = Field(None, ge=0, le=1e8, allow_inf_nan=False, description="The most money, in US dollars.")
    tokens: int | None = Field(None, ge=0, le=10**15, description="The most tokens.")


class MeasureShape(BaseModel):
    unit: Literal["usd", "tokens"]
    cap: float
    spent: float
    reserved: float = Field(description="For calls being made, at their worst case.")
    left: float
    percent: float = Field(description="How much of the cap is spent.")
    setting: str | None = Field(description="The setting the cap comes from; null if the owner set it.")


class BudgetShape(BaseModel):
    subject: Subject
    name: str
    label: str = Field(description="What people call it.")
    period: Period
    world: World | None
    resets_at: Moment | None
    measures: list[MeasureShape]


class EachShape(BaseModel):
    subject: Subject
    period: Period
    world: World | None
    usd: float | None
    tokens: int | None
    setting: str


class BudgetsShape(BaseModel):
    items: list[BudgetShape]
    each: list[EachShape] = Field(description="Caps of the settings that hold for each one of a subject.")


@router.get("/budget", summary="Every budget in force, and how it stands")
async def listed(here: Here) -> BudgetsShape:
    """Budgets that hold for each principal, thread or lane are listed for those that spent today, of jobs for those
    that have not ended."""
    caps = caps_of(here.app.settings)
    async with here.app.db.transaction() as tx:
        found = await budgets.in_force(tx, caps)
        labels = await budgets.labels(tx, found)
    each = [budget for budget in caps.each() if budget.subject is not Subject.ALL and not budget.name]
    return BudgetsShape(items=[_shape(one, labels) for one in found], each=[_each(budget) for budget in each])


@router.put("/budget", summary="Set a budget")
async def put(here: Here, me: Me, wanted: Wanted) -> BudgetShape:
    """It holds from the next call on, in every process, instead of the one the settings give."""
    if wanted.usd is None and wanted.tokens is None:
        raise BadInput("A budget needs `usd` or `tokens`.", hint="Give at least one of them.")
    async with here.app.db.transaction() as tx:
        budget = await _meant(tx, here, wanted)
        usd = None if wanted.usd is None else round(Decimal(str(wanted.usd)), 9)
        if budget.subject is Subject.SCHEDULE:
            check_budget(here, (await schedules.get(tx, budget.name)).text, usd, wanted.tokens)
        await budgets.put(tx, replace(budget, usd=usd, tokens=wanted.tokens), by=me.id)
        found = [one for one in await budgets.in_force(tx, caps_of(here.app.settings)) if one.budget.key == budget.key]
        return _shape(found[0], await budgets.labels(tx, found))


@router.delete("/budget", summary="Remove a budget that was set")
async def remove(here: Here, which: Annotated[Named, Query()]) -> Named:
    """What the settings say holds again."""
    async with here.app.db.transaction() as tx:
        budget = await _meant(tx, here, which, existing=False)
        await budgets.remove(tx, budget)
    return Named(subject=budget.subject, name=budget.name, period=budget.period, world=budget.world)


async def _meant(tx: Connection, here: Gateway, which: Named, *, existing: bool = True) -> Budget:
    """The budget that is meant, its subject called as the ledger calls it, or BadInput."""
    if which.world is not None and which.subject not in SPLIT:
        raise BadInput(f"A {which.subject} belongs to one world.", hint="Leave `world` out.")
    if which.subject is Subject.JOB and which.period is not Period.EVER:
        raise BadInput("The budget of a job is for the whole job.", hint="Let its period be `ever`.")
    if which.subject is Subject.ALL and (which.period is Period.EVER or which.name):
        raise BadInput("The budget of all is for a day or a month.", hint="Let its period be `day` or `month`.")
    looked_up = existing or which.subject is Subject.PRINCIPAL
    name = await _name(tx, here, which.subject, which.name) if looked_up else which.name
    world = (which.world or World.OWNER) if which.subject in SPLIT else None
    return Budget(which.subject, name, which.period, world)


async def _name(tx: Connection, here: Gateway, subject: Subject, given: str) -> str:
    """The name the ledger uses, if there is such a one."""
    match subject:
        case Subject.ALL:
            return ""
        case Subject.PRINCIPAL:
            return await _principal(tx, given)
        case Subject.THREAD:
            if await conversations.thread(tx, _id(given, subject)) is None:
                raise NotFound(f"There is no thread {given[:60]}.", hint="`laneway threads` lists them.")
            return str(_id(given, subject))
        case Subject.JOB:
            return str((await jobs.get(tx, _id(given, subject))).id)
        case Subject.SCHEDULE:
            return (await schedules.get(tx, given)).name
        case Subject.LANE:
            return _one_of(given, [*sorted(here.app.lanes), CLASSIFY], "lane")
        case Subject.SCOPE:
            return _one_of(given, list(Scope), "scope")


async def _principal(tx: Connection, given: str) -> str:
    found = await principals.called(tx, given)
    if not found:
        raise NotFound(f"There is no principal `{given[:60]}`.", hint="Give an id, a name, or an address on a channel.")
    if len(found) > 1:
        ids = ", ".join(str(one.id) for one in found)
        raise BadInput(f"Several principals are called `{given[:60]}`.", hint=f"Give the id of one: {ids}.")
    return str(found[0].id)


def _one_of(given: str, known: list[str], what: str) -> str:
    if given not in known:
        raise BadInput(f"There is no {what} `{given[:60]}`.", hint=f"Known: {', '.join(known)}.")
    return given


def _id(given: str, subject: Subject) -> UUID:
    try:
        return UUID(given)
    except ValueError:
        raise BadInput(
            f"`{given[:60]}` is not the id of a {subject}.", hint=f"`laneway {subject}s` lists them."
        ) from None


def _shape(standing: Standing, labels: Mapping[str, str]) -> BudgetShape:
    budget = standing.budget
    return BudgetShape(
        subject=budget.subject,
        name=budget.name,
        label=labels.get(budget.name, budget.name),
        period=budget.period,
        world=budget.world,
        resets_at=standing.resets_at,
        measures=[_measure(measure) for measure in standing.measures()],
    )


def _measure(measure: Measure) -> MeasureShape:
    return MeasureShape(
        unit=measure.unit,
        cap=float(measure.cap),
        spent=float(measure.spent),
        reserved=float(measure.reserved),
        left=float(measure.left),
        percent=round(measure.share * 100, 1),
        setting=measure.setting_name or None,
    )


def _each(budget: Budget) -> EachShape:
    return EachShape(
        subject=budget.subject,
        period=budget.period,
        world=budget.world,
        usd=None if budget.usd is None else float(budget.usd),
        tokens=budget.tokens,
        setting=f"budget.{budget.usd_setting}",
    )
