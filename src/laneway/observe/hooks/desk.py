"""Answers the hooks of other agents: judged in memory, kept behind the answer's back, checked afterwards."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from laneway.clock import Clock
from laneway.domain.keepable import keepable
from laneway.domain.session import SessionEvent
from laneway.errors import Unavailable
from laneway.observe.duty import UNLIMITED, Orders
from laneway.observe.hooks import answers
from laneway.observe.hooks.answers import Answer
from laneway.observe.hooks.denied import DeniedCall, DeniedCalls
from laneway.observe.hooks.following import Following
from laneway.observe.hooks.judging import Decided, Manners, decide, judged
from laneway.observe.hooks.recording import Note, Recorder
from laneway.observe.hooks.sessions import Heard, Sessions
from laneway.observe.hooks.shapes import HookRequest, Moment, read
from laneway.observe.notify import Notice, Notifier, Pace, hash_of, notice_about
from laneway.reactors import Intervene, Said, Severity, Warn
from laneway.reactors.calls import key_of
from laneway.reactors.chain import denied_by
from laneway.reactors.loop_detector import LoopDetector
from laneway.store import hooks as stored
from laneway.store.database import Database

DECISION, RAN = "hook.decision", "hook.ran_anyway"
_log = logging.getLogger("laneway.hooks")


class Hooks:
    """The desk other agents ask at before a tool runs, and tell what happened."""

    def __init__(self, db: Database, clock: Clock, orders: Orders, manners: Manners | None = None) -> None:
        self._db, self._clock, self._orders, self._manners = db, clock, orders, manners or Manners()
        self.denied = DeniedCalls()
        self.recorder = Recorder(db, orders.pulled)
        self.following = Following(self.denied, self._alarm)
        self._sessions = Sessions(orders.options.own.make)
        self._pace = Pace(orders.per_minute)
        self._notifier: Notifier | None = None
        self._place = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Notes are kept and logs are followed while the block lasts; what is noted at its end is kept still."""
        self._notifier = Notifier(self._orders.ways, Pace(UNLIMITED))
        tasks = [
            asyncio.create_task(self._recall_and_write(), name="hooks-recorder"),
            asyncio.create_task(self.following.keep_following(self._clock.now), name="hooks-following"),
            asyncio.create_task(self._notifier.keep_telling(), name="hooks-notices"),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for ended in await asyncio.gather(*tasks, return_exceptions=True):
                if not isinstance(ended, asyncio.CancelledError) and ended is not None:
                    _log.error("Hooks could not be kept or followed.", exc_info=ended)
            await self.recorder.flush()

    def answer(self, agent: str, body: object) -> Answer:
        """What the agent is to be told about this event; BadInput if it is none."""
        began = time.perf_counter()
        request = read(agent, body)
        event = request.as_event(self._clock.now(), self._next_place())
        heard = self._sessions.of(request.provider, request.session_id)
        heard.take_in(event)
        if not request.session_id and request.moment is Moment.OTHER:
            return {}
        if request.moment in (Moment.BEFORE, Moment.PERMISSION):
            return self._decided(request, event, heard, began)
        return self._heard(request, event, heard)

    def _decided(self, request: HookRequest, event: SessionEvent, heard: Heard, began: float) -> Answer:
        # The same call is shown once: a permission is asked for after the call itself was judged.
        said = heard.said(event) if request.moment is Moment.BEFORE else []
        own = denied_by(said)
        decided = decide(request, judged(request, heard, event, own), self._manners)
        if own is None:
            self._tell_of(event, heard, said)
        # Made small at once: a note may have to wait, and arguments may be whole files.
        small = replace(event, arguments=keepable(event.arguments))
        self._note_decision(request, small, decided, began)
        if request.moment is Moment.PERMISSION:
            return answers.permission(decided.said, decided.why)
        denied = decided.said == "deny"
        noticed = heard.repeated(request.sub_agent, event, denied=denied)
        self._remember(request, event, decided)
        self._note_event(small, heard, noticed.notice)
        if nudges := [one.reaction.message for one in said if isinstance(one.reaction, Warn) and one.reaction.nudge]:
            heard.nudges.setdefault(request.sub_agent, nudges[0])
        context = self._context(request, heard, decided.said)
        return answers.before_tool(request.agent, decided.said, decided.why, context)

    def _heard(self, request: HookRequest, event: SessionEvent, heard: Heard) -> Answer:
        # Which call has ended is told by its arguments where it has no id; they are not kept a second time.
        ran = self.denied.which_ran(replace(event, arguments=request.arguments))
        if ran is not None:
            self._alarm(ran)
        self._tell_of(event, heard, heard.said(event))
        noticed = heard.repeated(request.sub_agent, event)
        self._note_event(event, heard, noticed.notice)
        return answers.with_context(request.event, self._context(request, heard, ""))

    def _context(self, request: HookRequest, heard: Heard, said: str) -> str:
        """What the agent should read, once, in the first answer that can carry it."""
        if said in ("ask", "deny") or answers.carries_context(request.agent, request.event):
            return heard.nudges.pop(request.sub_agent, "")
        return ""

    def _remember(self, request: HookRequest, event: SessionEvent, decided: Decided) -> None:
        if decided.said != "deny":
            self.denied.forgive(event)
            return
        call = DeniedCall(
            request.provider, request.session_id, request.call_id, request.tool,
            key_of(request.tool, request.arguments), decided.verdict.rule, event.at, request.sub_agent,
        )  # fmt: skip
        self.denied.add(call)
        self.following.add(call, request.transcript, event.at)

    def _note_event(self, event: SessionEvent, heard: Heard, notice: str) -> None:
        self.recorder.note(Note(event, heard.state))
        if notice:
            self._tell_of(event, heard, [Said(LoopDetector.name, Intervene(notice))])

    def _tell_of(self, event: SessionEvent, heard: Heard, said: Sequence[Said]) -> None:
        """These interventions are told; warnings are shown to nobody here."""
        for one in said:
            key = f"hooks:{hash_of(event.provider, event.session_id, event.offset, one.reactor)}"
            if (notice := notice_about(event, one, heard.project, key)) is not None:
                self._tell(notice)

    def _tell(self, notice: Notice, kind: str = "", body: dict[str, Any] | None = None) -> None:
        """The notice goes where all notices about other agents go, if there are not too many; the event is kept."""
        passed = self._pace.passes(notice)
        if passed is not None and self._notifier is not None:
            self._notifier.put(passed)
        self.recorder.note(Note(kind=kind, body=body, notice=passed if self._orders.channels else None))

    def _note_decision(self, request: HookRequest, event: SessionEvent, decided: Decided, began: float) -> None:
        body = keepable({
            "agent": request.agent, "provider": request.provider, "session_id": request.session_id,
            "event": request.event, "tool": request.tool, "call_id": request.call_id, "cwd": request.cwd,
            "sub_agent": request.sub_agent,
            "decision": decided.verdict.decision.value, "rule": decided.verdict.rule, "why": decided.verdict.why,
            "said": decided.said, "at": event.at.isoformat(),
        })  # fmt: skip
        body |= {
            "arguments": event.arguments,
            "key": key_of(request.tool, request.arguments),
            "ms": round((time.perf_counter() - began) * 1000, 3),
        }
        self.recorder.note(Note(kind=DECISION, body=body))

    def _alarm(self, call: DeniedCall) -> None:
        """The owner learns that a denied call ran all the same."""
        told = (
            f"A call that was denied ran all the same: {call.tool} in {call.provider} session {call.session_id} "
            f"(rule {call.rule}). Its hooks do not hold; look at what it did."
        )
        _log.warning("%s", told)
        body: dict[str, Any] = keepable(
            {"provider": call.provider, "session_id": call.session_id, "call_id": call.call_id, "tool": call.tool,
             "rule": call.rule, "sub_agent": call.sub_agent}
        )  # fmt: skip
        key = f"ran-anyway:{hash_of(call.provider, call.session_id, call.call_id or call.key)}"
        now, session = self._clock.now(), call.session_id
        # As urgent as an end: it is never held back.
        self._tell(Notice(key, keepable(told), call.provider, session, "", "hooks", Severity.KILL, now), RAN, body)

    async def _recall_and_write(self) -> None:
        """Calls denied before a restart are still watched for, and notes are written whatever one of them does."""
        await self._recall()
        while True:
            writing = asyncio.create_task(self.recorder.keep_writing())
            try:
                await asyncio.wait([writing])
            finally:
                writing.cancel()
            _log.error("Some notes of hooks could not be kept.", exc_info=writing.exception())

    async def _recall(self) -> None:
        while True:
            try:
                async with self._db.transaction() as tx:
                    for body, at in await stored.denied(tx):
                        self.denied.add(DeniedCall.told(body, at))
            except Unavailable:
                await asyncio.sleep(1)
            else:
                return

    def _next_place(self) -> int:
        """A number above all others of this process and of those before it."""
        self._place = max(self._place + 1, int(self._clock.now().timestamp() * 1_000_000))
        return self._place
