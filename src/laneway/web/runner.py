"""Requests that bring tables or a plan along: taken as messages, waited for, and told in the runner's own shape."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, model_validator

from laneway.channels.redis_queue import results
from laneway.domain.conversation import Incoming, Principal, Receipt
from laneway.domain.job import FINAL, Job, JobStatus
from laneway.domain.judgement import ApprovalState, Event
from laneway.engine.stream import Watcher
from laneway.errors import BadInput, failure
from laneway.lanes.pipeline.formats import parsed, rows_of
from laneway.lanes.pipeline.results import shelved
from laneway.store import artifacts, jobs, lives
from laneway.web.gateway import Gateway
from laneway.web.posting import check_storable

USUAL_SECONDS, MOST_SECONDS = 60.0, 300.0
INLINE_ROWS = 200
"""A table with more rows is stored by itself, and the job points at it."""
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

    @model_validator(mode="before")
    @classmethod
    def _can_be_stored(cls, value: Any) -> Any:
        check_storable(value)
        return value

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


async def started(
    here: Gateway, me: Principal, asked: RunnerRequest, text: str, runner: dict[str, Any], lane: str | None = None
) -> Receipt:
    """The request is a message of its session, or of a conversation of its own, and its job is queued."""
    name = asked.job_id or uuid4().hex
    thread = f"session:{asked.session}" if asked.session else f"runner:{name}"
    given = await laid(here, runner)
    external = f"runner:{name}" if asked.job_id else name
    return await here.app.intake.receive(
        Incoming("http", thread, external, text, me, lane=lane, payload={"runner": given})
    )


async def laid(here: Gateway, runner: Mapping[str, Any]) -> dict[str, Any]:
    """The same with every large table stored by itself; tables that are none are refused before anything is."""
    tables = runner.get("tables")
    if not tables:
        return dict(runner)
    if isinstance(tables, list):
        tables = {"table": tables}
    return {**runner, "tables": {name: await _laid(here, value) for name, value in tables.items()}}


async def _laid(here: Gateway, value: Any) -> Any:
    if isinstance(value, str) or (isinstance(value, dict) and "result_ref" in value):
        return value
    rows = await asyncio.to_thread(rows_of, value)
    if len(rows) <= INLINE_ROWS:
        return rows
    content, mime, place = await shelved(here.app.artifacts, rows)
    async with here.app.db.transaction() as tx:
        return await artifacts.record(tx, content, mime, place)


async def waited(here: Gateway, cursor: str, receipt: Receipt, seconds: float) -> Job:
    """The job when it has ended or stands at a question; or as it is when the time is over."""
    job = await _job(here, receipt)
    if job.status in FINAL or job.status is JobStatus.WAITING:
        return job
    watcher = Watcher(job=receipt.job_id)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), aclosing(here.hub.watch(cursor, watcher)) as items:
            async for item in items:
                if isinstance(item, Event) and item.kind in _ENDED:
                    break
    return await _job(here, receipt)


async def told(here: Gateway, job: Job, name: str) -> tuple[int, dict[str, Any]]:
    """How the request stands, in the runner's shape, and the status that goes with it."""
    if job.status is JobStatus.DONE:
        meta = job.result or {}
        text = str(meta.get("reply", ""))
        shape = results.completed(name, job, meta, text, str(meta.get("result_ref", "")))
        more = ("plan", "sentence", "counts", "sources_of_rows", "offer")
        return 200, shape | {key: meta[key] for key in more if key in meta} | {"reply": text}
    if job.status in FINAL:
        fault = job.error or {"code": str(job.status), "message": "It was stopped."}
        return 200, results.failed(name, failure(fault["code"], fault["message"]), job, job.result or {})
    found: dict[str, Any] = {"version": results.VERSION, "job_id": name, "status": str(job.status)}
    if job.status is JobStatus.WAITING:
        async with here.app.db.transaction() as tx:
            asked = [one for one in (await lives.of_job(tx, job)).approvals if one.state is ApprovalState.PENDING]
        found |= {"approvals": [{"id": str(one.id), "why": one.why} for one in asked]}
    return 202, found


async def rows_in(here: Gateway, ref: str, most: int) -> list[Any]:
    """The first rows of a result."""
    original = await here.app.artifacts.read(ref)
    if original.mime.startswith("application/json"):
        found = await asyncio.to_thread(parsed, original.content)
        return list(found[:most]) if isinstance(found, list) else [found]
    lines = original.content.split(b"\n", most)[:most]
    return [parsed(line) for line in lines if line.strip()]


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
