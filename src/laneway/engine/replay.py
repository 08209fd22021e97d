"""The events of a job, made again from what is stored: its events, and its rows in the ledger.

What is made here equals what was shown while the job ran, but for arguments (stored without secrets) and for texts of
models (not stored at all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from laneway.domain.job import FINAL, Job
from laneway.domain.judgement import Event
from laneway.domain.session import SessionEvent, Tokens
from laneway.engine import watched
from laneway.llm.noted import ModelCalled
from laneway.store import conversations, events, lives
from laneway.store.database import Connection
from laneway.store.lives import ModelCall

MOST = 20_000
"""Events of one job that are read back."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A job's life as its watchers saw it, and what they said about it."""

    seen: list[SessionEvent]
    reactions: list[Event]


async def replayed(tx: Connection, job: Job, cwd: str = "") -> Replay:
    """Everything that happened in the job so far, oldest first."""
    stored = await events.of_job(tx, job.id, limit=MOST)
    calls = await lives.model_calls(tx, job.id)
    message = await conversations.message(tx, job.message_id)
    text, began = message.text if message else "", job.started_at or job.created_at
    seen = [watched.asked(job.id, began, text, cwd), *_from_events(job.id, stored), *_from_ledger(job.id, calls)]
    if job.status in FINAL and job.finished_at is not None:
        seen.append(watched.finished(job.id, job.finished_at, job.status))
    # Sorting keeps the order of what has the same time: what was asked comes first, the end last.
    return Replay(sorted(seen, key=lambda event: event.at), [e for e in stored if e.kind.startswith("reactor.")])


def _from_events(job: UUID, stored: Sequence[Event]) -> Iterable[SessionEvent]:
    for event in stored:
        make = _MAKERS.get(event.kind)
        if make is not None:
            yield from make(job, event)


def _started(job: UUID, event: Event) -> list[SessionEvent]:
    body, at = event.body, event.created_at
    vouched = bool(body.get("vouched"))
    return [watched.called(job, at, body["tool"], body.get("arguments") or {}, body["key"], vouched=vouched)]


def _ended(job: UUID, event: Event) -> list[SessionEvent]:
    body = event.body
    failed, result = body.get("status") == "error", str(body.get("result", ""))
    return [watched.ended(job, event.created_at, body["tool"], body["key"], failed=failed, result=result)]


def _refused(job: UUID, event: Event) -> list[SessionEvent]:
    body, result = event.body, str(event.body.get("result", ""))
    ended = watched.ended(job, event.created_at, body["tool"], body["key"], failed=True, result=result)
    return [*_started(job, event), ended]


def _uncertain(job: UUID, event: Event) -> list[SessionEvent]:
    return [watched.ended(job, event.created_at, event.body["tool"], event.body["key"], failed=True, result="")]


def _went_on(job: UUID, event: Event) -> list[SessionEvent]:
    """A job that is queued, taken over or answered goes on; one that broke did so first."""
    error = event.body.get("error")
    # A model's failing stands in the ledger, and who waits for room in a budget has not failed.
    if error and not str(error.get("code", "")).startswith(("model-", "budget-busy")):
        return [watched.broke(job, event.created_at, str(error.get("message", "")), 0)]
    return [] if event.kind == "job.failed" else [watched.began(job, event.created_at, 0)]


_MAKERS: dict[str, Callable[[UUID, Event], list[SessionEvent]]] = {
    "tool.started": _started,
    "tool.finished": _ended,
    "tool.refused": _refused,
    "effect.uncertain": _uncertain,
    "job.queued": _went_on,
    "job.recovered": _went_on,
    "job.failed": _went_on,
}


def _from_ledger(job: UUID, calls: Sequence[ModelCall]) -> Iterable[SessionEvent]:
    for call in calls:
        failed = str(call.meta_json.get("failed", ""))
        if call.state == "reserved" or failed == "CancelledError":
            continue
        told = ModelCalled(call.id, call.model, failed=failed)
        if call.state == "settled":
            written = int(call.meta_json.get("cache_write_tokens", 0))
            fresh = max(0, call.tokens_input - call.tokens_cached - written)
            tokens = Tokens(fresh, call.tokens_output, call.tokens_cached, written, call.tokens_reasoning)
            told = ModelCalled(call.id, call.model, tokens, call.cost, failed=failed)
        yield watched.model_answered(job, call.settled_at or call.created_at, told)
