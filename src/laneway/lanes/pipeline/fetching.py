"""Rows from a web server as a durable effect: allowed, asked about first, or refused, by the rules of the tools lane.

Reading what the request itself names is allowed. Sending is asked about; so is an address that nobody here named, once
words from outside have reached the turn. Customers fetch nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.domain.action import Decision, Verdict, allow, ask, deny
from laneway.domain.conversation import World
from laneway.domain.judgement import ApprovalState
from laneway.engine.running import current_run
from laneway.engine.steps import Leave, Steps
from laneway.errors import BadInput, Forbidden, LanewayError, TooLarge
from laneway.lanes.contract import Request
from laneway.lanes.pipeline.http_rows import NAME, Asked, FetchRefused, HttpRows
from laneway.lanes.pipeline.inputs import Table, table_of
from laneway.lanes.pipeline.results import shelved
from laneway.sandbox.exchange import READING, parsed
from laneway.sandbox.telling import named, redacted, shown
from laneway.store import approvals, artifacts, permissions
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database
from laneway.store.questions import NOT_APPROVED, Question, may_i
from laneway.transcript import heard_in, sentence_for

_ASKED, TAINTED = "laneway.asked", "tainted"
_CODES: dict[str, type[LanewayError]] = {kind.code: kind for kind in (BadInput, Forbidden, TooLarge, FetchRefused)}


class FetchFailed(LanewayError):
    """A server gave no rows, and may well do the next time."""

    status, code = 502, "fetch-failed"


class Refused(LanewayError):
    """A person said no, or nobody answered."""

    status, code = 403, "rejected"


class Expired(Refused):
    code = "expired"


@dataclass(frozen=True)
class Brought:
    """The rows, where they were in the end, and what should be said of them."""

    rows: Table
    url: str
    note: str = ""


class Fetching:
    """Fetches tables for plans, each once, with a person's yes where one is needed."""

    def __init__(self, db: Database, steps: Steps, shelf: Artifacts, http: HttpRows, seconds: int) -> None:
        self._db, self._steps, self._shelf, self._http, self._seconds = db, steps, shelf, http, seconds

    async def bring(self, request: Request, step: Mapping[str, Any], *, vouched: bool) -> Brought | Question:
        """The rows of an `http_request`, or the question that must be answered first.

        Vouched is what whoever asks wrote into the plan; what a model or a page wrote is not.
        """
        arguments = {key: value for key, value in step.items() if key != "do" and value is not None}
        action = {"tool": NAME, "arguments": arguments, "call": "1.pipeline"}

        async def gate() -> Any:
            verdict = await self._judged(request, action, vouched=vouched)
            if verdict.decision is Decision.ALLOW:
                return Leave(vouched=True, changes=verdict.changes)
            if verdict.decision is Decision.DENY:
                return {"status": "error", "error": verdict.why, "code": "forbidden", "refused": verdict.rule}
            return {_ASKED: {"why": verdict.why, "rule": verdict.rule}}

        outcome = await self._steps.effect(
            NAME, arguments, lambda: self._fetched(arguments), idempotent=arguments["method"] in READING, gate=gate,
            about=f"{NAME}: {shown(parsed(str(arguments.get('url', ''))))}", shown=redacted(arguments),
        )  # fmt: skip
        if _ASKED in outcome:
            return await self._asked(request, action, outcome[_ASKED])
        return await self._brought(outcome)

    async def _fetched(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The outcome that is stored: rows lie in an artifact, and a fault is a sentence."""
        try:
            found = await self._http.fetch(arguments)
        except LanewayError as fault:
            return {"status": "error", "error": str(fault), "code": fault.code}
        content, mime, place = await shelved(self._shelf, found.rows)
        async with self._db.transaction() as tx:
            ref = await artifacts.record(tx, content, mime, place)
        told = {"rows": len(found.rows), "pages": found.pages, "url": found.url, "more": found.more}
        return {"status": "success", "error": None, "result": {"ref": ref, **told}}

    async def _brought(self, outcome: dict[str, Any]) -> Brought:
        if outcome.get("status") != "success":
            raise _CODES.get(str(outcome.get("code")), FetchFailed)(str(outcome.get("error")))
        result = outcome["result"]
        original = await self._shelf.read(result["ref"])
        note = f"Only the first {result['pages']} pages were read; there are more." if result["more"] else ""
        run, source = current_run(), f"the page {shown(parsed(result['url']))}"
        if source not in run.sources:
            run.sources.append(source)
        return Brought(await table_of(original), result["url"], note)

    async def _judged(self, request: Request, action: dict[str, Any], *, vouched: bool) -> Verdict:
        verdict = _ruled(request, action["arguments"], vouched=vouched)
        if verdict.decision is not Decision.ASK:
            return verdict
        async with self._db.transaction() as tx:
            found = await approvals.of_action(tx, request.job.id, approvals.action_hash(action))
            if found is not None and found.state is ApprovalState.APPROVED:
                return allow("approved", "A person said yes to exactly this.", changes=verdict.changes)
            if found is None and verdict.rule != TAINTED:
                standing = await permissions.covers(tx, request.job.thread_id, action)
                return allow("permission", "Always allowed here.", changes=verdict.changes) if standing else verdict
        return verdict

    async def _asked(self, request: Request, action: dict[str, Any], asked: dict[str, str]) -> Question:
        async def look() -> str | None:
            async with self._db.transaction() as tx:
                found = await approvals.of_action(tx, request.job.id, approvals.action_hash(action))
            return None if found is None else str(found.state)

        state = await self._steps.step("pipeline.asked", look)
        if state is not None and state in NOT_APPROVED:
            refusal = Refused if state == ApprovalState.REJECTED else Expired
            raise refusal(NOT_APPROVED[ApprovalState(state)])
        given, once = redacted(action["arguments"]), asked["rule"] == TAINTED
        told = "\n".join(f"{key}: {value}" for key, value in given.items())
        return may_i(
            action, f"May I do this?\n[{NAME}]\n{told}\n{asked['why']}", asked["why"], self._seconds, given, once=once
        )


def _ruled(request: Request, arguments: Mapping[str, Any], *, vouched: bool) -> Verdict:
    if request.world is not World.OWNER:
        return deny("http.world", "Addresses are fetched for the owner only.")
    try:
        asked = Asked.of(arguments)
    except BadInput as fault:
        return deny("http.address", str(fault))
    url, sources = parsed(asked.url), current_run().sources
    if asked.method not in READING:
        return ask("http.sends", f"It sends a {asked.method} request to {shown(url)}.")
    if vouched or named(url.host, str(arguments["url"]), request.message, sources):
        return allow("http.reads", changes=False)
    if sources:
        # An address can carry words out: a person looks at it first.
        said = sentence_for(asked.url, heard_in(request.turns))
        return ask(
            TAINTED, f"This conversation has read {', '.join(sources[:3])}, and nobody here named {shown(url)}.{said}"
        )
    return allow("http.unnamed-host", f"It asks {shown(url)}, a host that nobody here named.")
