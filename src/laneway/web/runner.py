"""Requests that bring tables or a plan along: taken as messages, waited for, and told in the runner's own shape."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeVar
from uuid import UUID, uuid4

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from laneway.channels.redis_queue import results
from laneway.domain.conversation import Incoming, Principal, Receipt
from laneway.domain.job import FINAL, Job, JobStatus
from laneway.domain.judgement import Event
from laneway.engine.stream import Watcher
from laneway.errors import BadInput, NotFound, failure
from laneway.lanes.pipeline.formats import parsed
from laneway.lanes.pipeline.taking_out import TakenOut, as_json
from laneway.lanes.pipeline.unpacking import Unpacked, lay, without_tables
from laneway.store import conversations, job_parts, jobs
from laneway.store.artifacts import Original
from laneway.web.bodies import check_fields, read_object
from laneway.web.gateway import Gateway
from laneway.web.limits import BodyLimits
from laneway.web.problems import WrongFields

USUAL_SECONDS, MOST_SECONDS = 60.0, 300.0
REF = "#/components/schemas/{model}"
_ENDED = frozenset({f"job.{status}" for status in (*FINAL, JobStatus.WAITING)})


class Context(BaseModel):
    """What went before."""

    model_config = ConfigDict(extra="allow")

    session_id: str | None = Field(None, min_length=1, max_length=120, description="Goes on with that conversation.")
    previous_results: list[Any] | None = Field(None, description="Earlier results: rows, references, or objects.")


class RunnerRequest(BaseModel):
    """A request as the runner takes it; `task` is another name for `prompt`."""

    model_config = ConfigDict(extra="allow")

    prompt: str | None = Field(None, description="What is asked.")
    task: str | None = Field(None, description="The same.")
    tables: dict[str, Any] | list[Any] | None = Field(
        None, description="Each table by its name: rows, or an `artifact://` reference."
    )
    previous_results: list[Any] | None = Field(None, description="Earlier results, usable as tables.")
    current_workflow: dict[str, Any] | None = Field(None, description="The workflow as the sender knows it.")
    workflow_tag: str | None = None
    session_id: str | None = Field(None, min_length=1, max_length=120)
    job_id: str | None = Field(None, min_length=1, max_length=120, description="The same id again runs nothing again.")
    timeout_sec: float | None = Field(None, gt=0, le=MOST_SECONDS, description="How long the answer is waited for.")
    context: Context = Context.model_validate({})

    @property
    def text(self) -> str:
        """The words, under either name."""
        return (self.prompt or self.task or "").strip()

    @property
    def session(self) -> str | None:
        return self.session_id or self.context.session_id

    def runner(self, door: str) -> dict[str, Any]:
        """What the lanes find in the job's payload; what was not given is not there."""
        known = {
            "session_id": self.session, "tables": self.tables, "current_workflow": self.current_workflow,
            "previous_results": self.previous_results or self.context.previous_results,
            "workflow_tag": self.workflow_tag, "more": self.model_extra or None,
        }  # fmt: skip
        return {"door": door} | {name: value for name, value in known.items() if value is not None}


Asked = TypeVar("Asked", bound=RunnerRequest)


def parts_of(shape: type[RunnerRequest]) -> dict[str, Any]:
    """What the description of a body refers to, by name."""
    parts: dict[str, Any] = shape.model_json_schema(ref_template=REF).get("$defs", {})
    return parts


def body_schema(shape: type[RunnerRequest], *, required: bool) -> dict[str, Any]:
    """How the body is described to those who send one."""
    schema = shape.model_json_schema(ref_template=REF)
    schema.pop("$defs", None)
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


async def read(request: Request, here: Gateway, shape: type[Asked], **given: Any) -> tuple[Asked, tuple[TakenOut, ...]]:
    """What is asked, in the body or `given` beside it, and the tables that were too large to stay in it."""
    body = await request.body()
    found = Unpacked({})
    if body.strip():
        found = await read_object(body, BodyLimits.of(here.app.settings), '{"prompt": "…"}')
    check_fields(given if found.checked else found.fields | given)
    try:
        return shape.model_validate(found.fields | given), found.tables
    except ValidationError as error:
        raise WrongFields(error.errors()) from None


async def started(
    here: Gateway, me: Principal, asked: RunnerRequest, text: str, runner: dict[str, Any], tables: Sequence[TakenOut],
    lane: str | None = None,
) -> Receipt:  # fmt: skip
    """The request is a message of its session, or of a conversation of its own, and its job is queued.

    One that names a job as we told it is that job, and starts nothing.
    """
    known = await _started_before(here, me, asked.job_id)
    if known is not None:
        return known
    name = asked.job_id or uuid4().hex
    thread = f"session:{asked.session}" if asked.session else f"runner:{name}"
    given = await without_tables(runner, tables)
    external = f"runner:{name}" if asked.job_id else name
    incoming = Incoming("http", thread, external, text, me, lane=lane, payload={"runner": given.fields})
    return await received(here, incoming, given.tables)


async def _started_before(here: Gateway, me: Principal, name: str | None) -> Receipt | None:
    """The job of this id, if we gave the id to the same principal."""
    try:
        job_id = UUID(name or "")
    except ValueError:
        return None
    async with here.app.db.transaction() as tx:
        with suppress(NotFound):
            job = await jobs.get(tx, job_id)
            message = await conversations.message(tx, job.message_id)
            if message is not None and message.principal_id == me.id:
                return Receipt(job.message_id, job.thread_id, job.id, duplicate=True)
    return None


async def received(here: Gateway, incoming: Incoming, tables: Sequence[TakenOut]) -> Receipt:
    """The message is committed, and the tables that it refers to before it; bad input wrote nothing."""
    here.app.intake.check(incoming)
    await lay(here.app.db, here.app.artifacts, tables)
    return await here.app.intake.receive(incoming)


async def waited(here: Gateway, cursor: str, receipt: Receipt, seconds: float) -> Job:
    """The job when it has ended or a person must answer first; or as it is when the time is over."""
    if await _rests(here, receipt):
        return await _job(here, receipt)
    # What it hands on is done in the same thread, and may ask there.
    watcher = Watcher(thread=receipt.thread_id)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), aclosing(here.hub.watch(cursor, watcher)) as items:
            async for item in items:
                if isinstance(item, Event) and item.kind in _ENDED and await _rests(here, receipt):
                    break
    return await _job(here, receipt)


async def _rests(here: Gateway, receipt: Receipt) -> bool:
    async with here.app.db.transaction() as tx:
        job = await jobs.get(tx, receipt.job_id)
        return job.status in FINAL or bool(await job_parts.open_questions(tx, job.id))


async def told(here: Gateway, job: Job, name: str) -> tuple[int, dict[str, Any]]:
    """How the request stands, in the runner's shape, and the status that goes with it."""
    async with here.app.db.transaction() as tx:
        took, asked = await job_parts.expense(tx, job.id), await job_parts.open_questions(tx, job.id)
    if job.status is JobStatus.DONE:
        meta = job.result or {}
        text = str(meta.get("reply", ""))
        fault = results.failed_of(meta, text, None)
        if fault is not None:
            told = {"offer": meta["offer"]} if "offer" in meta else {}
            return 200, results.failed(name, fault, took, meta) | told | {"reply": text}
        return 200, results.completed(name, took, meta, text, str(meta.get("result_ref", ""))) | {"reply": text}
    if job.status in FINAL:
        fault = job.error or {"code": str(job.status), "message": "It was stopped."}
        return 200, results.failed(name, failure(fault["code"], fault["message"]), took, job.result or {})
    # One that waits for work it handed on is under way, unless that stands at a question.
    status = JobStatus.RUNNING if job.status is JobStatus.WAITING and not asked else job.status
    found: dict[str, Any] = {"version": results.VERSION, "job_id": name, "status": str(status)}
    if status is JobStatus.WAITING:
        found |= {"approvals": [{"id": str(one.id), "why": one.why} for one in asked]}
    return 202, found


async def rows_in(here: Gateway, ref: str, most: int) -> list[Any]:
    """The first rows of a result."""
    original = await here.app.artifacts.read(ref)
    return await asyncio.to_thread(_first, original, most)


def _first(original: Original, most: int) -> list[Any]:
    if original.mime.startswith("application/json"):
        found = parsed(original.content)
        return list(found[:most]) if isinstance(found, list) else [found]
    lines = original.content.split(b"\n", most)[:most]
    return [parsed(line) for line in lines if line.strip()]


async def responded(shape: dict[str, Any], status: int) -> Response:
    """The answer as it is sent; a thousand wide rows are written beside the event loop."""
    return Response(await asyncio.to_thread(as_json, shape), status, media_type="application/json")


def seconds_of(asked: RunnerRequest) -> float:
    return asked.timeout_sec or USUAL_SECONDS


def need_text(asked: RunnerRequest) -> str:
    """The words of the request, or a BadInput if there are none."""
    if not asked.text:
        raise BadInput("There is neither a `prompt` nor a `task`.", hint='Send {"prompt": "…"}.')
    return asked.text


async def _job(here: Gateway, receipt: Receipt) -> Job:
    async with here.app.db.transaction() as tx:
        return await jobs.get(tx, receipt.job_id)
