"""Schedules: made in plain words, looked at, paused, run now, removed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import ModelRequestParameters

from laneway.channels.contract import PULLED
from laneway.clock import machine_zone
from laneway.domain.budget import Budget, Period, Subject
from laneway.domain.conversation import Principal, Thread, World
from laneway.domain.schedule import Schedule, quiet_hours
from laneway.engine.recurrence import coming, following
from laneway.engine.schedules import run_now
from laneway.errors import BadInput, Forbidden, NotFound
from laneway.lanes.workflow.refusing import refuse
from laneway.lanes.workflow.secrets import secrets
from laneway.language.rhythm import cron_of
from laneway.llm import prices
from laneway.llm.prompts import Prompts
from laneway.store import budgets, conversations, schedules
from laneway.store.database import Connection
from laneway.web.gateway import Here, Me
from laneway.web.initiative_shapes import ScheduleShape
from laneway.web.shapes import Listing, Moment, Page, ReceiptShape, paged

router = APIRouter(tags=["schedules"])
SHOWN_TIMES = 5
UNDERSTOOD_TOKENS = 100
"""What a run is told about its order beside the text."""
DEFAULT_CHANNEL = "http"


class ScheduleListing(Listing):
    before: UUID | None = Field(None, description="Only older than this one.")


class SchedulePosted(BaseModel):
    model_config = ConfigDict(extra="forbid")

    when: str = Field(max_length=200, description="`weekdays 09:00`, `every 15 minutes`, or cron: `0 9 * * 1-5`.")
    text: str = Field(min_length=1, max_length=10_000, description="What to look at or to do.")
    name: str | None = Field(None, description="Small letters, digits and dashes; made from the text if absent.")
    zone: str | None = Field(None, max_length=60, description="Like Europe/Berlin; the owner's if absent.")
    thread: str = Field(
        "console/main", min_length=1, max_length=200, description="Where it runs and reports: id, name or channel/name."
    )
    budget_usd: Decimal | None = Field(None, ge=0, le=1_000_000, description="Most dollars its runs may cost a day.")
    quiet: str | None = Field(None, max_length=40, description="Hours in which results wait, like 22:00-07:00.")
    urgent: bool = Field(False, description="Send results in quiet hours, too.")


class ScheduleDetail(ScheduleShape):
    coming: list[Moment] = Field(description="Its next five times; none while it is paused.")


@router.get("/schedules", summary="List schedules, newest first")
async def listed(here: Here, which: Annotated[ScheduleListing, Query()]) -> Page[ScheduleShape]:
    async with here.app.db.transaction() as tx:
        found = await schedules.page(tx, limit=which.one_more, before=which.before)
    return paged(ScheduleShape, found, which)


@router.post("/schedules", status_code=201, summary="Add a schedule")
async def add(here: Here, me: Me, posted: SchedulePosted) -> ScheduleDetail:
    """It runs at its times until it is paused or removed; what is not understood as a time is refused."""
    if not posted.text.strip():
        raise BadInput("The schedule has no text.", hint="Say what to look at or to do.")
    refuse([*secrets({"text": posted.text, "name": posted.name, "when": posted.when})])
    now, cron = here.clock.now(), cron_of(posted.when)
    zone = posted.zone or here.app.settings.zone or machine_zone()
    begin, end = quiet_hours(posted.quiet) if posted.quiet else (None, None)
    next_at = following(cron, zone, now)
    async with here.app.db.transaction() as tx:
        check_budget(here, posted.text, posted.budget_usd)
        thread = await _thread(tx, posted.thread, me)
        made = await schedules.add(
            tx, name=posted.name, thread_id=thread.id, principal_id=me.id, text=posted.text.strip(),
            words=" ".join(posted.when.split()), cron=cron, zone=zone, next_at=next_at, budget_usd=posted.budget_usd,
            quiet_from=begin, quiet_to=end, urgent=posted.urgent,
        )  # fmt: skip
        if posted.budget_usd is not None:
            await budgets.put(tx, replace(_budget(made), usd=posted.budget_usd), me.id)
    return _detail(here, made)


@router.get("/schedules/{which}", summary="One schedule, by id or name, with its next times")
async def one(here: Here, which: str) -> ScheduleDetail:
    async with here.app.db.transaction() as tx:
        return _detail(here, await schedules.get(tx, which))


@router.post("/schedules/{which}/run", status_code=202, summary="Run a schedule once, now")
async def run(here: Here, which: str) -> ReceiptShape:
    """Its times stay as they are. Refused while its last run has not ended."""
    async with here.app.db.transaction() as tx:
        found = await schedules.get(tx, which, lock=True)
        return ReceiptShape.model_validate(await run_now(tx, found, here.clock.now()))


@router.post("/schedules/{which}/{change}", summary="Pause a schedule, or let it go on")
async def changed(here: Here, which: str, change: Literal["pause", "resume"]) -> ScheduleDetail:
    """Times that pass while it is paused are neither run nor reported."""
    async with here.app.db.transaction() as tx:
        found = await schedules.get(tx, which, lock=True)
        if found.paused == (change == "pause"):
            return _detail(here, found)
        if change == "pause":
            return _detail(here, await schedules.pause(tx, found))
        next_at = following(found.cron, found.zone, here.clock.now())
        return _detail(here, await schedules.resume(tx, found, next_at))


@router.delete("/schedules/{which}", summary="Remove a schedule")
async def remove(here: Here, which: str) -> ScheduleShape:
    """Its earlier runs and their results stay; its budget goes with it."""
    async with here.app.db.transaction() as tx:
        found = await schedules.get(tx, which, lock=True)
        await schedules.remove(tx, found)
        with suppress(NotFound):
            await budgets.remove(tx, _budget(found))
    return ScheduleShape.model_validate(found)


def check_budget(here: Here, text: str, usd: Decimal | None, tokens: int | None = None) -> None:
    """BadInput if a schedule with this text could not make a single call of a model within the budget."""
    tools = [tool.tool_def for tool in here.app.toolbox.tools() if tool.name in here.app.toolbox.everyday()]
    request = ModelRequest.user_text_prompt(text, instructions=Prompts(here.app.settings.home).text("proactive"))
    size = prices.estimate_request([request], ModelRequestParameters(function_tools=tools))
    dollars, most = here.app.models.worst_case(size + UNDERSTOOD_TOKENS)
    for given, least, says in ((usd, dollars, f"cost up to ${dollars:.4f}"), (tokens, most, f"take {most:,} tokens")):
        if given is not None and given < least:
            raise BadInput(f"One call may {says}, so a run could do nothing.", hint="Give it more.")


def _budget(schedule: Schedule) -> Budget:
    """The budget a schedule is added with: so much a day, and nobody else's money."""
    return Budget(Subject.SCHEDULE, schedule.name, Period.DAY, None, None, None)


def _detail(here: Here, schedule: Schedule) -> ScheduleDetail:
    times = [] if schedule.paused else coming(schedule.cron, schedule.zone, here.clock.now(), SHOWN_TIMES)
    return ScheduleDetail(**ScheduleShape.model_validate(schedule).model_dump(), coming=times)


async def _thread(tx: Connection, name: str, me: Principal) -> Thread:
    """The owner's thread of this id or name; one that is read by its client is made if there is none."""
    found = await conversations.threads_named(tx, name)
    if len(found) > 1:
        names = " or ".join(f"{one.channel}/{one.external_id}" for one in found)
        raise BadInput(f"Several threads are called `{name[:60]}`.", hint=f"Say {names}.")
    if found and found[0].world is not World.OWNER:
        raise Forbidden("A schedule reports to its owner, not to a customer.", hint="Name a thread of your own.")
    if found:
        return found[0]
    channel, slash, rest = name.partition("/")
    if not slash:
        return await conversations.ensure_thread(tx, DEFAULT_CHANNEL, name, me)
    if channel not in PULLED or not rest:
        raise NotFound(f"There is no thread `{name[:60]}`.", hint="`laneway threads` lists them.")
    return await conversations.ensure_thread(tx, channel, rest, me)
