"""THE STORY: what happens to a message once it is written down. Read this first.

    (read attachments) → classify → (ask what was meant) → route → (approve) → run → reply

Each arrow is a named durable step. A crash between two steps goes on at the next one; a crash inside a step
does that step again, and effects know whether they had already happened (engine/steps.py). A run that must
wait for a person ends here; the answer starts the next run, which finds everything where this one left it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from laneway.classify.at_hand import Claim, at_hand
from laneway.classify.cascade import Cascade
from laneway.classify.context import stands_alone
from laneway.classify.rules import small_talk
from laneway.domain.job import DELEGATED, JobMode, JobStatus, Scope
from laneway.domain.judgement import ApprovalState, Classification, Intent
from laneway.domain.patience import Patience
from laneway.domain.redaction import without_secrets as without
from laneway.engine.border import Border
from laneway.engine.running import Run
from laneway.engine.steps import Steps
from laneway.lanes.contract import Answer, Lane, Request, Wait
from laneway.llm.guard import guarded_by
from laneway.llm.meter import Account, charged_to
from laneway.store import (
    approvals,
    conversations,
    corrections,
    job_parts,
    jobs,
    outbox,
    pauses,
    principals,
    proactive,
    questions,
    undo,
)
from laneway.store.database import Database
from laneway.store.questions import Question
from laneway.transcript import build, sources_in

ROUTES: tuple[tuple[str, Callable[[Request], str | None]], ...] = (
    ("the request names its lane", lambda r: r.job.lane),
    ("chat commands and ready answers", lambda r: "answer" if r.job.mode is JobMode.ANSWER else None),
    ("small talk has ready answers", lambda r: "answer" if _is_small_talk(r) else None),
    ("its classification picks it", lambda r: None if r.judged.lane in ("answer", "tools") else r.judged.lane),
    ("everything else", lambda r: "tools"),
)
"""Which lane: that of the first row that names one we have."""
SHOWN_FIRST = ("pipeline", "workflow")
"""Lanes that ask themselves before anything is sent or lasts: whoever names one is not asked what was meant."""
SUPERSEDED = "Not done: a newer request took its place."


class Journey:
    """Takes one job from its message to its reply."""

    def __init__(
        self, db: Database, cascade: Cascade, lanes: Mapping[str, Lane], pulled: frozenset[str], patience: Patience,
        enrich: Callable[[UUID], Awaitable[None]], claims: Sequence[Claim] = (),
    ) -> None:  # fmt: skip
        self._db, self._cascade, self._lanes, self._pulled, self._patience = db, cascade, lanes, pulled, patience
        self._enrich, self._claims = enrich, claims
        self.border = Border(db, patience, pulled)
        self.steps: Steps

    async def travel(self, run: Run) -> None:
        """The way itself: the job is done, waits for a person, or an exception says why not."""
        await self._read_attachments(run)
        request = await self._classify(run)
        if run.job.mode is JobMode.CLASSIFY:
            return await self._reply(run, _verdict(request.judged), "classify")
        if request.judged.choices and run.job.mode is JobMode.AUTO and run.job.lane not in SHOWN_FIRST:
            settled = await self._ask_meaning(run, request)
            if settled is None:
                return None
            request = settled
        lane = self._route(request)
        answer = await lane.run(request)
        while not isinstance(answer, Answer):
            # The lane stands where a person must say yes, or at work that it handed on; run again, it knows where.
            if isinstance(answer, Wait):
                waits = await self._wait(run, answer)
            else:
                waits = (await self._ask(run, answer))[0] is ApprovalState.PENDING
            if waits:
                return None
            answer = await lane.run(replace(request, resumes=True))
        return await self._reply(run, answer, lane.name)

    async def _read_attachments(self, run: Run) -> None:
        """What was sent along is fetched and has its words; what cannot be read has a note that says so."""
        async with self._db.transaction() as tx:
            waiting = await conversations.unread(tx, run.job.message_id)
        if not waiting:
            return

        async def read() -> str:
            account = Account(run.job.scope, run.job.thread_id, run.job.id, lane="attachments")
            with charged_to(account), guarded_by(self.steps.check_lease):
                await self._enrich(run.job.message_id)
            return "read"

        await self.steps.step("attachments", read)

    async def _classify(self, run: Run) -> Request:
        job = run.job
        async with self._db.transaction() as tx:
            message = await conversations.message(tx, job.message_id)
            thread = await conversations.thread(tx, job.thread_id)
            assert message is not None
            assert thread is not None
            asking = await principals.by_id(tx, message.principal_id)
            turns = await build(tx, message, limit=self._patience.history, token_budget=self._patience.context_tokens)
            # Which lane it is for is not known yet: a model that judges it is told no secret.
            plain = [replace(one, text=without(one.text), quoted=without(one.quoted)) for one in turns]
            at = await at_hand(tx, job, message, thread.world, self._claims)

        async def judge() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                known = await jobs.classification_of(tx, job.id)
                resumes = await pauses.exists(tx, job.id)
            if known is None:
                account = Account(job.scope, job.thread_id, job.id, lane="classify")
                with charged_to(account), guarded_by(self.steps.check_lease):
                    given = job.payload.get("classification")
                    known = Classification.given(given) if given else await self._cascade.judge(plain, thread.world, at)
                async with self._db.transaction() as tx:
                    await jobs.record_classification(tx, job, known)
                    said = job.scope is Scope.REACTIVE and job.mode != JobMode.ANSWER and DELEGATED not in job.payload
                    if known.intent is Intent.COMMAND and said:
                        await approvals.supersede_before(tx, job)
            return {"judged": known.as_dict(), "resumes": resumes}

        run.sources, found = sources_in(turns, thread.world), await self.steps.step("classify", judge)
        judged, on_host = Classification(**found["judged"]), asking is not None and asking.host_mode
        return Request(at.job or job, message, thread.world, turns, judged, found["resumes"], on_host)

    def _route(self, request: Request) -> Lane:
        picked = (pick(request) for _, pick in ROUTES)
        return next(self._lanes[name] for name in picked if name is not None and name in self._lanes)

    async def _ask_meaning(self, run: Run, request: Request) -> Request | None:
        """The request as whoever was asked means it, or in its safe reading; None while nobody has answered."""
        question = self._cascade.question(request.turns, request.judged, self._patience.question_seconds)
        state, choice, by = await self._ask(run, question)
        if state is ApprovalState.PENDING:
            return None
        if state is ApprovalState.SUPERSEDED:
            await self._reply(run, Answer(SUPERSEDED), "answer")
            return None

        async def settle() -> dict[str, Any]:
            judged = await self._cascade.settled(request.turns, request.judged, choice)
            async with self._db.transaction() as tx:
                await jobs.settle_classification(tx, run.job, judged)
                if choice is not None and by is not None and stands_alone(request.turns):
                    await corrections.add_chosen(tx, request.message, choice, UUID(by))
            return judged.as_dict()

        return replace(request, judged=Classification(**await self.steps.step("settle", settle)))

    async def _ask(self, run: Run, question: Question) -> tuple[ApprovalState, str | None, str | None]:
        """The answer, what was chosen and by whom; while there is none, the job waits."""

        async def ask() -> list[str | None]:
            async with self._db.transaction() as tx:
                found = await approvals.of_action(tx, run.job.id, approvals.action_hash(question.action))
                if found is None:
                    await self.steps.hold(tx, run)
                    told = replace(question, sources=list(run.sources))
                    found = await questions.put(tx, run.job, told, self._pulled)
            return [found.state, found.choice, str(found.answered_by) if found.answered_by else None]

        state, choice, by = await self.steps.step(f"{question.key}.{run.job.run}", ask)
        return ApprovalState(str(state)), choice, by

    async def _wait(self, run: Run, wait: Wait) -> bool:
        """Whether the job waits now: not if all that it waits for has ended meanwhile."""

        async def stand() -> bool:
            async with self._db.transaction() as tx:
                await self.steps.hold(tx, run)
                return await jobs.await_others(tx, run.job.id, wait.jobs)

        return await self.steps.step(f"wait.{run.job.run}", stand)

    async def _reply(self, run: Run, answer: Answer, lane: str) -> None:
        async def write() -> str:
            async with self._db.transaction() as tx:
                await self.steps.hold(tx, run)
                say = proactive.answer if run.job.scope is Scope.PROACTIVE else outbox.write_reply
                # Ready answers repeat nobody's words; everything else may.
                carries = run.sources and lane != "answer"
                meta = answer.result | ({"sources": run.sources} if carries else {})
                if await undo.last_changing(tx, run.job.thread_id, str(run.job.id)):
                    meta["undoable"] = str(run.job.id)
                if "metadata" in meta:
                    meta["metadata"] = {**meta["metadata"], **await job_parts.expense(tx, run.job.id)}
                await say(tx, run.job, answer.text, key="answer", pulled=self._pulled, meta=meta)
                result = {"reply": answer.text, **meta}
                await jobs.move(tx, run.job.id, JobStatus.DONE, result=result, lane=lane)
            return "written"

        await self.steps.step("reply", write)

    async def run(self, run: Run) -> None:
        """The job has travelled, and however that ended, its row and its user know."""
        await self.border.cross(run, self.travel)


def _is_small_talk(request: Request) -> bool:
    asks_nothing = request.judged.intent is Intent.OTHER and request.job.mode != "PLAN"
    return asks_nothing and small_talk(request.message.text) is not None


def _verdict(judged: Classification) -> Answer:
    confirm = ", needs confirmation" if judged.needs_confirmation else ""
    text = f"{judged.intent} ({judged.confidence:.0%}{confirm}): {judged.summary} Plan: {judged.plan}"
    return Answer(text, {"classification": judged.as_dict()})
