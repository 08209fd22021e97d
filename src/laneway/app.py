"""The composition root: settings → store → engine → lanes → channels. The only one who knows everybody."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pydantic_ai

from laneway.channels.attachments.enricher import Enricher
from laneway.channels.attachments.opened import enricher_of, shelves_of
from laneway.channels.contract import PULLED, Channel
from laneway.channels.delivery import Delivery
from laneway.channels.door import Door
from laneway.channels.intake import Intake, Limits
from laneway.channels.opened import opened, welcome
from laneway.channels.people import Doorkeeper
from laneway.channels.settling import Settling
from laneway.classify.cascade import Cascade
from laneway.classify.corrections import Corrections
from laneway.classify.local import LocalClassifier
from laneway.classify.memory import Memory
from laneway.classify.model import SmallModel
from laneway.classify.prepare import cache_of
from laneway.classify.taxonomy import load
from laneway.clock import SystemClock, machine_zone
from laneway.domain.patience import Patience
from laneway.engine import duties
from laneway.engine.faults import ended
from laneway.engine.heartbeat import this_machine
from laneway.engine.kept import keep
from laneway.engine.launch import SHAPE, Engine
from laneway.engine.schedules import Initiative
from laneway.engine.steps import Boundary
from laneway.engine.stream import Hub
from laneway.errors import Unavailable
from laneway.journey import Journey
from laneway.lanes.answer import AnswerLane
from laneway.lanes.answer.commands import Commands
from laneway.lanes.contract import Lane
from laneway.lanes.pipeline import tool as pipeline_tool
from laneway.lanes.pipeline.as_node import plan_runner
from laneway.lanes.pipeline.opened import Pipelines
from laneway.lanes.tools import TO_OTHERS, Toolbox, ToolEntry, ToolsLane, Turns
from laneway.lanes.tools.bash import bash_entry
from laneway.lanes.tools.delegate import delegate_entry
from laneway.lanes.tools.direct import direct_calls
from laneway.lanes.tools.execute_pipeline import execute_pipeline_entry
from laneway.lanes.tools.files import file_entries
from laneway.lanes.tools.gate import Gate
from laneway.lanes.tools.initiative import initiative_entries
from laneway.lanes.tools.outside import Outside
from laneway.lanes.tools.pausing import Pausing
from laneway.lanes.tools.search_tools import ToolSearch
from laneway.lanes.tools.server_info import said_by_others, server_info_with_log
from laneway.lanes.tools.snapshots import Snapshots
from laneway.lanes.tools.undo import Undo
from laneway.lanes.tools.undoable import undoable
from laneway.lanes.workflow.composed import Choices, Workflows, composed, runs_of
from laneway.lanes.workflow.phrases import Claiming, spoken
from laneway.lanes.workflow.runs import Runs
from laneway.lanes.workflow.triggers import Triggers
from laneway.llm.choice import Models, caps_of, choose, with_served_model
from laneway.llm.prompts import Prompts
from laneway.observe.duty import Orders, SessionDuty, orders_of
from laneway.reactors.auditing import Auditing
from laneway.reactors.own_jobs import TICK_SECONDS, Make, OwnJobs
from laneway.reactors.reviewing import Reviews
from laneway.reactors.shipped import shipped
from laneway.reactors.telemetry import Telemetry
from laneway.sandbox import boundary as boundaries
from laneway.sandbox import contract as sandbox
from laneway.sandbox.commands import judge
from laneway.sandbox.contract import Boundary as Walls
from laneway.sandbox.hosts import Allowed
from laneway.sandbox.paths import workspace_of, workspaces_of
from laneway.sandbox.reach import CheckedReach
from laneway.settings import Settings, described, told, variables
from laneway.store import principals
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database
from laneway.store.embedded import EmbeddedPostgres
from laneway.store.migrate import migrate

KEY_FILE = "key"
REVIVE_SECONDS, REVIVE_MOST_SECONDS = 1.0, 30.0
_log = logging.getLogger("laneway.app")


@dataclass(frozen=True)
class Parts:
    """What a demonstration or a test puts in place of, or beside, the usual parts."""

    models: Callable[[Database], Models] | None = None
    tools: Sequence[ToolEntry] = ()
    channels: Sequence[Channel] = ()
    reactors: Make | None = None
    tick_seconds: float = TICK_SECONDS
    boundary: Boundary = lambda name: None
    shape: str = SHAPE


@dataclass
class App:
    """A running Laneway: what doors and commands need."""

    settings: Settings
    db: Database
    models: Models
    intake: Intake
    engine: Engine
    delivery: Delivery
    lanes: dict[str, Lane]
    cascade: Cascade
    corrections: Corrections
    toolbox: Toolbox
    outside: Outside
    initiative: Initiative
    channels: dict[str, Channel]
    door: Door
    hub: Hub
    artifacts: Artifacts
    enricher: Enricher
    watched: OwnJobs
    reviews: Reviews
    telemetry: Telemetry
    workflows: Workflows
    runs: Runs
    orders: Orders
    pulled: frozenset[str] = PULLED
    """Channels whose clients fetch their replies themselves."""
    new_key: str | None = None


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[Database]:
    """The migrated database the settings name, opened; an embedded server runs as long as somebody needs it."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    embedded = EmbeddedPostgres(settings.home) if settings.database_url is None else None
    url = embedded.start() if embedded else settings.database_url.get_secret_value()  # type: ignore[union-attr]
    try:
        await asyncio.to_thread(migrate, url)
        db = Database(url)
        await db.open()
        watch = asyncio.create_task(keep("watch over PostgreSQL", partial(_revive, embedded))) if embedded else None
        try:
            yield db
        finally:
            if watch:
                watch.cancel()
            await db.close()
    finally:
        if embedded:
            await asyncio.to_thread(embedded.stop)


async def _revive(embedded: EmbeddedPostgres) -> None:
    """A PostgreSQL of ours that dies is started again, with growing pauses, however often that takes."""
    pause = REVIVE_SECONDS
    while not ended():
        await asyncio.sleep(pause)
        try:
            if await asyncio.to_thread(embedded.revive):
                _log.warning("The embedded PostgreSQL had died and was started again.")
            pause = REVIVE_SECONDS
        except Unavailable as error:
            pause = min(pause * 2, REVIVE_MOST_SECONDS)
            _log.error("%s It is tried again in %.0f s.", error, pause)


@asynccontextmanager
async def running(settings: Settings, parts: Parts | None = None) -> AsyncIterator[App]:
    """Laneway takes jobs, runs them and delivers their replies while the block lasts."""
    parts = parts or Parts()
    async with database(settings) as db:
        settings, unserved = (settings, "") if parts.models else await with_served_model(settings)
        app = compose(settings, db, parts, await boundary_of(settings), unserved)
        app.new_key = await ensure_owner(db, settings.home)
        app.outside.start()
        await app.engine.launch()
        delivering = asyncio.create_task(keep("delivery", app.delivery.keep_delivering, app.delivery.is_going))
        learning = asyncio.create_task(keep("classifier", app.corrections.keep_learning))
        initiative = asyncio.create_task(keep("initiative", app.initiative.keep_going))
        telling = asyncio.create_task(keep("telemetry", app.telemetry.keep_going))
        await app.toolbox.make_ready()
        on_duty = _on_duty(app)
        try:
            yield app
        finally:
            for task in (learning, initiative, *on_duty):
                task.cancel()
            await asyncio.gather(learning, initiative, *on_duty, return_exceptions=True)
            # A worker that is gone lets others send what it was sending.
            await app.engine.stop(last=(app.watched.settled, partial(app.delivery.stop, 5)))
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
            await app.outside.close()
            await asyncio.gather(delivering, return_exceptions=True)
            for channel in app.channels.values():
                await channel.close()
            app.hub.close()
            await app.enricher.close()
            await app.models.close()


def _on_duty(app: App) -> list[asyncio.Task[None]]:
    """What channels need done all the time is done, by this process or by another."""
    work = {
        f"{name}:{number}": duty
        for name, channel in app.channels.items()
        for number, duty in enumerate(channel.duties())
    }
    if app.channels:
        work["settling"] = Settling(app.db, app.hub, app.channels).keep_settling
    work["workflow patches"] = app.workflows.keeping.keep_going
    work["workflow triggers"] = Triggers(app.db, app.runs, SystemClock()).keep_going
    work["audit"] = Auditing(app.db, told(app.settings)).keep_auditing
    if app.settings.watch_sessions:
        orders = replace(app.orders, more=app.telemetry.reactors, count=app.telemetry.counts.reacted)
        # Each machine has sessions of its own.
        work[f"sessions:{this_machine()}"] = SessionDuty(app.db, orders).keep_going
    return [asyncio.create_task(duties.keep(app.db, name, duty), name=name) for name, duty in work.items()]


async def boundary_of(settings: Settings) -> Walls:
    """What commands run in here; found out by trying, once in the life of a process."""
    wanted = settings.sandbox, settings.allowed_hosts
    if wanted not in _walls:
        reach = CheckedReach(Allowed.of(settings.allowed_hosts))
        _walls[wanted] = (await boundaries.choose(settings.sandbox, reach)).boundary
    return _walls[wanted]


_walls: dict[tuple[str, tuple[str, ...]], Walls] = {}


def compose(settings: Settings, db: Database, parts: Parts, walls: Walls, unserved: str = "") -> App:
    """All parts, connected, nothing started yet."""
    # The library greets its users at the first run; ours have come to see Laneway.
    pydantic_ai.BANNER_ENABLED = False
    hub = Hub(db)
    originals = Artifacts(db, shelves_of(settings))
    channels = opened(settings, db, hub, originals) | {channel.name: channel for channel in parts.channels}
    pulled = PULLED - channels.keys()
    models = parts.models(db) if parts.models else choose(settings, db, pulled=pulled, unserved=unserved)
    prompts = Prompts(settings.home, settings.business_prompt)
    small = _small_model(models, prompts)
    lanes: dict[str, Lane] = {}
    taxonomies = load(settings.home)
    local = LocalClassifier(taxonomies, cache_of(settings.home)) if settings.local_classifier else None
    memory = Memory(db, prompts.version("classification"))
    cascade = Cascade(small, local, memory, taxonomies)
    fetch = {name: channel.fetch for name, channel in channels.items()}
    enricher = enricher_of(settings, db, originals, fetch, prompts, pulled)
    claiming = Claiming(SystemClock(), settings.zone or machine_zone())
    journey = Journey(db, cascade, lanes, pulled, _patience(settings), enricher.enrich, (claiming.claimed,))
    telemetry = Telemetry(db, settings.otlp_url, settings.headers())
    # Our own jobs are audited in the database, not in the file of other agents' sessions.
    # And what is ours may be ended by every reactor of the owner's.
    orders = orders_of(settings, pulled)
    own = replace(orders.options, audit=None, kill_on=orders.options.kill_on | {"reactor"})
    watched = OwnJobs(
        db, parts.reactors or (lambda run, failed: shipped(own, failed)), pulled, telemetry,
        tick_seconds=parts.tick_seconds, workspace=lambda thread: workspaces_of(settings.home) / str(thread),
    )  # fmt: skip
    engine = Engine(
        db, journey.run, watching=watched.watching, slots=settings.workers, owner_slots=settings.owner_slots,
        keep_days=settings.keep_events_days, give_up=journey.border.give_up,
        shape=parts.shape, boundary=parts.boundary,
    )  # fmt: skip
    journey.steps = engine.steps
    outside = Outside(settings.allowed_hosts, settings.mcp, settings.openapi, settings.home, variables(settings.home))
    toolbox, workflows, runs = _lanes(
        settings, db, engine, models, prompts, lanes, outside, walls, originals, pulled, parts.tools
    )
    limits = Limits(
        settings.max_text_bytes, settings.max_file_bytes, settings.messages_per_minute,
        settings.customer_messages_per_minute,
    )  # fmt: skip
    delivery = Delivery(db, engine.worker, channels, parts.boundary, SystemClock(), pulled, engine.breath)
    corrections = Corrections(db, settings.home, local, asks_model=small is not None)
    initiative = Initiative(db, SystemClock(), pulled)
    intake = Intake(db, lanes, limits, originals, engine.breath, spoken)
    door = Door(db, Doorkeeper(db, welcome(settings), pulled), intake, pulled)
    for channel in channels.values():
        channel.door = door
    return App(
        settings, db, models, intake, engine, delivery, lanes, cascade, corrections, toolbox, outside, initiative,
        channels, door, hub, originals, enricher, watched,
        Reviews(models.execute, models.execute_settings, prompts), telemetry, workflows, runs, orders, pulled,
    )  # fmt: skip


def _lanes(
    settings: Settings, db: Database, engine: Engine, models: Models, prompts: Prompts, lanes: dict[str, Lane],
    outside: Outside, walls: Walls, originals: Artifacts, pulled: frozenset[str], more: Sequence[ToolEntry],
) -> tuple[Toolbox, Workflows, Runs]:  # fmt: skip
    """Every lane is in `lanes`; returned are the parts of theirs that others need."""
    pipelines = Pipelines.of(db, originals, settings.allowed_hosts, settings.pipeline_rows)
    zone, patience = settings.zone or machine_zone(), settings.approval_timeout_seconds
    workflows = composed(
        db, engine.steps, SystemClock(), models.execute, models.execute_settings, prompts, pulled,
        Choices(settings.workflow_approval, patience, settings.workflow_replays, zone, settings.orchestrator_url),
        originals,
    )  # fmt: skip
    entries = [_execute_pipeline(pipelines), ToolEntry(workflows.tool, changes=True, tags=("workflow", "permanent"))]
    toolbox = _toolbox(settings, db, engine, lanes, outside, walls, [*entries, *more])
    lanes["answer"] = AnswerLane(Commands(db, models.description, caps_of(settings), Undo(db, settings.home).told))
    pausing = Pausing(db, engine.steps, patience)
    turns = partial(Turns, prompts, toolbox, engine.steps, pausing, partial(workspace_of, settings.home))
    lanes["tools"] = ToolsLane(models.execute, models.execute_settings, turns(lane="tools"), db, pausing, models.named)
    # Beside its plan, its model finds what comes from outside, and hands the rest to other lanes.
    others = turns(lane="pipeline", of_ours=TO_OTHERS)
    lanes["pipeline"] = pipelines.lane(engine.steps, models, others.take, zone, patience)
    runs = runs_of(
        db, engine.steps, outside.exchange, originals, model=models.execute, settings=models.execute_settings,
        run_plan=plan_runner(pipelines.http, settings.pipeline_rows, zone), pulled=pulled,
        mail=(settings.smtp_url, settings.mail_from, settings.mail_to),
        call_tool=direct_calls(toolbox, partial(workspace_of, settings.home)),
        variables=partial(variables, settings.home), ours=[env for *_, env in described()],
        question_seconds=patience, named=models.named, tools=lambda: [one.name for one in toolbox.entries()],
    )  # fmt: skip
    workflows.lane.go = runs.go
    lanes["workflow"] = workflows.lane
    return toolbox, workflows, runs


def _small_model(models: Models, prompts: Prompts) -> SmallModel | None:
    if models.classify is None:
        return None
    text, version = prompts.text("classification"), prompts.version("classification")
    return SmallModel(models.classify, models.classify_settings, text, version)


def _patience(settings: Settings) -> Patience:
    return Patience(
        settings.message_history_limit, settings.context_tokens, settings.approval_timeout_seconds,
        settings.question_seconds, settings.job_attempts, settings.retry_seconds,
    )  # fmt: skip


def _toolbox(
    settings: Settings, db: Database, engine: Engine, lanes: dict[str, Lane], outside: Outside, walls: Walls,
    more: Sequence[ToolEntry],
) -> Toolbox:  # fmt: skip
    """Every tool there is, behind one gate."""
    snapshots = Snapshots(db, settings.home)
    tools = [
        *_tools(settings),
        undoable(_bash(settings, walls), snapshots),
        *file_entries(settings.files, snapshots),
        outside.http_request,
        *initiative_entries(db, SystemClock(), settings.zone or machine_zone()),
        delegate_entry(db, lanes.keys),
        *more,
    ]
    toolbox = Toolbox(tools, engine.steps, Gate(db), [outside.entries])
    search = ToolSearch(
        db, toolbox.entries, toolbox.everyday, outside.apis.operations, outside.apis.takes, outside.settled
    )  # fmt: skip
    toolbox.search_by(search)
    return toolbox


def _execute_pipeline(pipelines: Pipelines) -> ToolEntry:
    named = pipeline_tool.NAME, pipeline_tool.ABOUT, pipeline_tool.schema(), pipeline_tool.TAGS
    attempt = partial(pipeline_tool.attempted, pipelines.execute())
    return execute_pipeline_entry(*named, attempt, pipeline_tool.fetched_by)


def _bash(settings: Settings, walls: Walls) -> ToolEntry:
    limits = sandbox.Limits(
        memory_bytes=settings.sandbox_memory_mb * sandbox.MEGABYTE,
        disk_bytes=settings.sandbox_disk_mb * sandbox.MEGABYTE,
    )
    return bash_entry(walls, judge, limits, settings.bash_seconds)


def _tools(settings: Settings) -> list[ToolEntry]:
    server_info = server_info_with_log(settings.home / "laneway.log")
    server_info.__name__ = "server_info"
    return [ToolEntry(server_info, source=said_by_others)]


async def ensure_owner(db: Database, home: Path) -> str | None:
    """There is an owner; the key made for it now, or None if it has one already."""
    async with db.transaction() as tx:
        if await principals.owner(tx) is not None:
            return None
        key = f"lw_{secrets.token_urlsafe(32)}"
        await principals.set_owner_key(tx, key)
        keep_key(home, key)
    return key


def keep_key(home: Path, key: str) -> None:
    """The key is in the data directory, readable by its owner only."""
    path = home / KEY_FILE
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(key + "\n")
    path.chmod(0o600)
