"""What a node is given and what it gives back, and the hands it works with outside of the graph.

A type of node is a `Kind`: a name and an async function from a `Doing` to an outcome. What it does to the world it
does through `Doing.act`, once, with its intent on record before and its outcome after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from laneway.clock import Clock
from laneway.domain.job import Job
from laneway.domain.workflow_run import NodeRecord, WorkflowRun
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import JobCancelled, LanewayError, LeaseLost, TransientFault, Unavailable, UncertainFault
from laneway.lanes.contract import Request
from laneway.lanes.workflow.mail import Mail
from laneway.lanes.workflow.recording import noted, sound
from laneway.sandbox.exchange import Exchange
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection, Database
from laneway.store.questions import Question

USUAL_SECONDS = 60.0
"""How long one attempt of a node may take if it does not say."""
LONGEST_MS = 31_536_000_000
"""And how long at most, whatever it says: a year."""


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool by a node: which, with what, and whose words are in it."""

    name: str
    arguments: dict[str, Any]
    request: Request
    sources: list[str]
    key: str
    shown: Callable[[Any], Any]
    """A value without the secrets that are in the arguments."""
    seconds: float


class Spawn(Protocol):
    """Lets a node's words be worked on with tools, as a job of its own."""

    async def __call__(
        self, tx: Connection, job: Job, run: WorkflowRun, record: NodeRecord, words: str, wanted: Mapping[str, Any]
    ) -> UUID: ...


class Start(Protocol):
    """Starts a run of another workflow as a job of its own."""

    async def __call__(
        self, tx: Connection, parent: WorkflowRun, record: NodeRecord, config: Mapping[str, Any], given: Any
    ) -> UUID: ...


@dataclass(frozen=True)
class Hands:
    """What nodes need from elsewhere; put together where everybody is known."""

    exchange: Exchange
    artifacts: Artifacts
    run_plan: Callable[[dict[str, Any], Mapping[str, list[dict[str, Any]]], str | None], Awaitable[dict[str, Any]]]
    """Runs a plan, or one made from words, over tables: {"rows", "counts", "sentence", "sources"}."""
    ask_model: Callable[[Request, str, str | None], Awaitable[dict[str, Any]]]
    """Asks the model that executes, or the configured one that is named: {"text", "model", "tokens"}."""
    call_tool: Callable[[ToolCall], Awaitable[dict[str, Any]]]
    """The tool's outcome; or, under `asked`, the action, why and shown arguments that a person must allow first."""
    secret: Callable[[str], str | None]
    knows_model: Callable[[str], bool] = lambda name: False
    """Whether a model of this name is configured."""
    tools: Callable[[], Collection[str]] = tuple
    """The names of the tools at hand."""
    mail: Mail | None = None
    pulled: Collection[str] = ()
    question_seconds: int = 86_400


@dataclass(frozen=True)
class Done:
    """The node has given this; `sources` are those whose words came in with it."""

    output: Any
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """It did not work. What may have happened all the same is never tried again."""

    why: str
    retryable: bool = True
    code: str = "node-failed"
    sources: tuple[str, ...] = ()
    """Those whose words are in the reason."""
    waits: bool = False
    """Whether it is tried again for as long as it takes."""


@dataclass(frozen=True)
class Waits:
    """The node waits: for a moment, for what is named, or for a person's answer to the question."""

    on: dict[str, Any] = field(default_factory=dict)
    until: datetime | None = None
    question: Question | None = None
    may_answer: tuple[str, ...] = ("owner",)
    """The roles whose answer counts."""


Outcome = Done | Failed | Waits


def ended_as(status: str) -> str:
    """What became of a run or a job, behind its name."""
    return "failed" if status == "failed" else f"was {status}"


@dataclass(frozen=True)
class Doing:
    """One attempt of a node."""

    run: WorkflowRun
    node: Mapping[str, Any]
    record: NodeRecord
    config: dict[str, Any]
    """Its settings, every reference filled in."""
    given: Any
    """What the node before it gave, or the run's input."""
    ctx: Mapping[str, Any]
    sources: tuple[str, ...]
    """Whose words besides the owner's are in its settings."""
    secrets: Mapping[str, str]
    shown: Callable[[Any], Any]
    """A value as it may be written down: without the secrets' values."""
    request: Request
    hands: Hands
    db: Database
    steps: Steps
    clock: Clock
    start: Start
    spawn: Spawn

    @property
    def name(self) -> str:
        return str(self.node["id"])

    @property
    def key(self) -> str:
        """Names this attempt among all effects of the job."""
        return f"{self.name}.{self.record.visit}.{self.record.attempts}"

    @property
    def seconds(self) -> float:
        """How long this attempt may take."""
        return self.own_seconds or USUAL_SECONDS

    @property
    def own_seconds(self) -> float | None:
        """The limit of time that the node itself sets; None if it sets none."""
        return min(self.node.get("timeout_ms") or 0, LONGEST_MS) / 1000 or None

    @property
    def late(self) -> str:
        """What is said of an attempt that took too long."""
        return f"It took longer than {self.seconds:g} seconds."

    def input(self) -> Any:
        """What it works on: the setting `input`, or what the node before it gave."""
        return self.config.get("input", self.given)

    async def hold(self, tx: Connection) -> None:
        """The run still owns its job and nobody stops it before `tx` ends; else LeaseLost and nothing of it is kept."""
        await self.steps.hold(tx, current_run(), lock=True)

    async def act(self, work: Callable[[], Awaitable[Any]], *, again: bool, about: str) -> Outcome:
        """What `work` gave, made once; `again` says whether doing it twice is the same as doing it once."""

        async def bounded() -> dict[str, Any]:
            try:
                async with asyncio.timeout(self.seconds):
                    result = await work()
                    return {"status": "success", "result": await asyncio.to_thread(lambda: self.shown(sound(result)))}
            except TimeoutError:
                told = self.late
                return _wrong(told if again else f"{told} It may have happened all the same.", again)
            except (LeaseLost, JobCancelled):
                raise
            except LanewayError as error:
                again_helps = isinstance(error, Unavailable | TransientFault) or error.retry_after is not None
                helps = again if isinstance(error, UncertainFault) else again_helps
                return _wrong(self.shown(str(error)), helps) | ({"waits": True} if error.waits else {})

        kind = f"workflow.{self.node['type']}"
        told = await asyncio.to_thread(lambda: noted(self.shown(self.config)))
        settings = {"run": str(self.run.id), "node": self.name, **told}
        outcome = await self.steps.effect(
            kind, settings, bounded, idempotent=again, about=f"{self.name}: {about}"[:200], key=self.key
        )
        if outcome.get("status") == "success":
            return Done(outcome["result"])
        retryable = bool(outcome.get("retryable")) and not outcome.get("uncertain")
        return Failed(str(outcome["error"]), retryable, waits=bool(outcome.get("waits")))


def _wrong(why: str, retryable: bool) -> dict[str, Any]:
    return {"status": "error", "error": why, "retryable": retryable}


@dataclass(frozen=True)
class Kind:
    """A type of node."""

    name: str
    work: Callable[[Doing], Awaitable[Outcome]]
    acts: bool = True
    """Whether it changes anything, costs anything or needs a person; a test run only says what it would do."""
    computes: bool = False
    """Whether it works without `Doing.act`: it is then held to its time from outside."""
    knows_secrets: bool = False
    hears: bool = False
    """Whether somebody outside answers it: what it says of a failure may be in their words."""
    takes: bool = True
    """Whether it works on what the node before it gave; if not, only its own settings can bring in others' words."""

    async def done(self, doing: Doing) -> Outcome:
        """What one attempt came to, within its time."""
        if not self.computes:
            return await self.work(doing)
        clock, late = asyncio.get_running_loop().time, Failed(doing.late)
        end = clock() + doing.seconds
        try:
            async with asyncio.timeout(doing.seconds):
                outcome = await self.work(doing)
        except TimeoutError:
            return late
        # Work that holds on to the interpreter ends before anybody can interrupt it.
        return late if clock() > end else outcome
