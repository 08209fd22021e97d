"""Words and tables in, a checked plan, rows out. The cheapest that can plan it does: memory, planner, then a model.

tables → (rows from an address) → plan known before | planner | model → (rows the plan fetches) → run → result
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import Any

from laneway.domain.job import JobMode
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import BadInput, failure
from laneway.lanes.contract import Answer, Request, Wait
from laneway.lanes.pipeline import offers, results
from laneway.lanes.pipeline.drafting import TOOL, Draft, Drafting
from laneway.lanes.pipeline.fetching import Fetching
from laneway.lanes.pipeline.inputs import ADDRESS, Given, Inputs, runner_of
from laneway.lanes.pipeline.plan import FETCHED, Plan, plan_of, sentence
from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.plans import OFFERED_AT, Columns, normalised, of_a_day, plan_key, request_key
from laneway.lanes.pipeline.process import worked
from laneway.language.refusal import MODEL_HINT
from laneway.store import pauses, plans
from laneway.store.artifacts import Artifacts
from laneway.store.database import Connection, Database
from laneway.store.pauses import Pause
from laneway.store.questions import Question

PLANNER, GIVEN = "planner", "request"
TRIES = 2


class NotUnderstood(BadInput):
    """Nobody here could make a plan of the request, and nothing was guessed."""

    code = "not-understood"


Drafted = Draft | Answer | Question | Wait
"""A draft; or how the run ends without one, as a model's tools may want."""


@dataclass(frozen=True)
class Refused:
    """The planner's no, kept until a model has been asked."""

    reason: str
    hint: str


class PipelineLane:
    """One-off work on tables."""

    name = "pipeline"

    def __init__(
        self, db: Database, steps: Steps, shelf: Artifacts, inputs: Inputs, fetching: Fetching, drafting: Drafting,
        *, most_rows: int, today: Callable[[], date], zone: str,
    ) -> None:  # fmt: skip
        self._db, self._steps, self._shelf, self._inputs = db, steps, shelf, inputs
        self._fetching, self._drafting, self._most_rows = fetching, drafting, most_rows
        self._today, self._zone = today, zone

    async def run(self, request: Request) -> Answer | Question | Wait:
        """The rows are worked out and stored; or a person must first say yes to what would be sent or done."""
        given = await self._inputs.of(request.job, request.message)
        for source in given.sources:
            if source not in current_run().sources:
                current_run().sources.append(source)
        if request.job.mode is JobMode.PLAN:
            return await self._only_planned(request, given)
        asked = await self._named_address(request, given)
        if asked is not None:
            return asked
        draft = await self._resumed(request, given) or await self._draft(request, given)
        for tries_left in range(TRIES, -1, -1):
            if not isinstance(draft, Draft):
                return draft
            if draft.plan is None:
                return await self._in_words(request, draft)
            try:
                return await self._carried_out(request, given, draft)
            except BadInput as fault:
                if not tries_left or draft.cache or draft.made_by in (PLANNER, GIVEN):
                    raise
                draft = await self._by_model(request, given, str(fault), draft)
        raise AssertionError("unreachable")

    async def _only_planned(self, request: Request, given: Given) -> Answer | Question | Wait:
        """What would be done, in a sentence; nothing is fetched and nothing run."""
        found = None if given.tables else ADDRESS.search(request.message.text)
        if found is not None:
            return Answer(f"I would fetch the rows of {found[0]} and plan with their columns. Nothing was done.")
        draft = await self._draft(request, given)
        if not isinstance(draft, Draft):
            return draft
        if draft.plan is None:
            return Answer(f"{draft.text} Nothing was done.")
        return Answer(f"{sentence(plan_of(draft.plan))} Nothing was done.", {"plan": draft.plan})

    async def _named_address(self, request: Request, given: Given) -> Question | None:
        """Rows from the address that the request names, if it brings no others; a question if one must be answered."""
        found = ADDRESS.search(request.message.text)
        if found is None or given.tables or "plan" in runner_of(request.job):
            return None
        [step] = plan_of([{"do": FETCHED, "url": found[0]}]).fetches.values()
        return await self._fetch(request, given, FETCHED, step, vouched=False)

    async def _fetch(
        self, request: Request, given: Given, name: str, step: dict[str, Any], *, vouched: bool
    ) -> Question | None:
        brought = await self._fetching.bring(request, step, vouched=vouched)
        if isinstance(brought, Question):
            return brought
        given.fetched(name, brought.rows, brought.url, step, brought.note)
        return None

    async def _draft(self, request: Request, given: Given) -> Drafted:
        """The plan as the request brings it, as it was checked before, as the planner or, last, a model makes it."""
        own = runner_of(request.job).get("plan")
        if own is not None:
            return Draft(plan_of(own).document(), GIVEN)
        words = _without_address(request.message.text)
        asks, text = request.message.principal_id, request.message.text
        key = await asyncio.to_thread(plan_key, request.world, asks, text, await given.columns(), self._today())

        async def look() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                known = await plans.known(tx, key)
            if known is not None and known.made_by != PLANNER:
                return asdict(Draft(known.plan, known.made_by, cache="plan", key=key))
            # The planner looks at the values, too: of other rows the same words may mean another plan, or be in doubt.
            made = await asyncio.to_thread(planned, words, await given.samples(), self._today())
            if isinstance(made, Refusal):
                return asdict(Refused(made.reason, made.hint))
            plan = _whole(made.document(), given)
            return asdict(Draft(plan, PLANNER, cache="plan" if known and known.plan == plan else None, key=key))

        found = await self._steps.step("pipeline.plan", look)
        if "reason" not in found:
            return _draft_of(found)
        if not self._drafting.available:
            return self._unplanned(request, Refused(**found))
        return await self._by_model(request, given, "", Draft(None, "", key=key))

    def _unplanned(self, request: Request, refused: Refused) -> Draft:
        """What is said where nobody can plan: a refusal, or, where a lasting change may be meant, an offer."""
        if request.judged.runner_up != "workflow":
            raise NotUnderstood(refused.reason, hint=f"{refused.hint} {MODEL_HINT}".strip())
        told = f"I did not run anything: {refused.reason} {refused.hint} {MODEL_HINT}"
        return Draft(None, PLANNER, told, calls=())

    async def _by_model(self, request: Request, given: Given, fault: str, before: Draft) -> Drafted:
        made = await self._drafting.draft(request, await given.samples(), fault)
        if not isinstance(made, Draft):
            return made
        plan = None if made.plan is None else _whole(made.plan, given)
        calls = (*(before.calls if fault else ()), *made.calls)
        # Read with what was said before it, or told by a tool, the same words may mean something else the next time.
        key = before.key if len(request.turns) <= 1 and set(made.calls) <= {TOOL} else ""
        return replace(made, plan=plan, calls=calls, key=key)

    async def _carried_out(self, request: Request, given: Given, draft: Draft) -> Answer | Question:
        plan = plan_of(draft.plan or {})
        for name, step in plan.fetches_beside(given.tables.keys() - given.fetches.keys()).items():
            if given.fetches.get(name) == step:
                continue
            asked = await self._fetch(request, given, name, step, vouched=draft.made_by == GIVEN)
            if asked is not None:
                await self._pause(request, draft)
                return asked
        found = await self._steps.step("pipeline.run", lambda: self._worked(request, given, draft, plan))
        return Answer(found["text"], found["result"])

    async def _worked(self, request: Request, given: Given, draft: Draft, plan: Plan) -> dict[str, Any]:
        outcome = await worked(plan, given.tables, self._most_rows)
        counts = [count.document() for count in outcome.counts]
        said, origins = sentence(plan), given.origins_of(plan)
        laid = await results.shelved(self._shelf, outcome.rows)
        result = {
            "result_preview": results.dataset(outcome.rows), "metadata": _metadata(draft),
            "plan": draft.plan, "sentence": said, "counts": counts, "sources_of_rows": origins,
        }  # fmt: skip
        notes = [*given.notes, *outcome.notes]
        result |= {"notes": notes} if notes else {}
        text = results.answered(said, counts, origins, outcome.rows, notes)
        columns = await given.columns()
        async with self._db.transaction() as tx:
            await self._steps.hold(tx, current_run())
            result["result_ref"] = await results.recorded(tx, request.job, request.message.principal_id, laid, result)
            await self._remember(tx, request, columns, draft)
            offer = await self._offer(tx, request, draft)
        if offer is not None:
            # What is not offered may be asked for all the same: it is kept beside the answer.
            result["offer" if offer[1] else "lasting"], text = offer[0], f"{text}\n\n{offer[1]}".rstrip()
        return {"text": text, "result": result}

    async def _remember(self, tx: Connection, request: Request, columns: Columns, draft: Draft) -> None:
        if draft.key and draft.cache != "plan" and draft.plan is not None:
            made, words = plans.KnownPlan(draft.plan, draft.made_by), normalised(request.message.text)[:2000]
            await plans.keep(tx, draft.key, made, world=request.world, words=words, of=columns)

    async def _offer(self, tx: Connection, request: Request, draft: Draft) -> tuple[dict[str, Any], str] | None:
        """The workflow this may become, and the words that offer it: asked for the third time, or perhaps meant so."""
        prompt, key = request.message.text, request_key(request.world, request.message.text)
        times = await plans.used(tx, key, request.job.id, request.message.principal_id)
        often = times >= OFFERED_AT
        why = f"It was asked {times} times." if often else "It may be meant to last."
        made = offers.offer(prompt, draft.plan, why, zone=self._zone, dated=of_a_day(prompt))
        if made is None:
            return None
        shown = often or request.judged.runner_up == "workflow"
        return made, offers.offered(made, times if often else 0) if shown else ""

    async def _in_words(self, request: Request, draft: Draft) -> Answer:
        """What there is to say instead of rows, stored as every result is."""
        text = draft.text
        result: dict[str, Any] = {"result_preview": results.as_text(text), "metadata": _metadata(draft)}
        if draft.made_by == PLANNER:
            # A program that asked must not take these words for what it wanted.
            result["failed"] = failure(NotUnderstood.code, text)

        async def store() -> dict[str, Any]:
            content = text.encode()
            laid = content, "text/plain; charset=utf-8", await self._shelf.lay(content)
            async with self._db.transaction() as tx:
                await self._steps.hold(tx, current_run())
                ref = await results.recorded(tx, request.job, request.message.principal_id, laid, result)
            return {"result_ref": ref}

        result |= await self._steps.step("pipeline.words", store)
        if request.judged.runner_up == "workflow":
            made = offers.offer(request.message.text, None, "It may be meant to last.")
            text = text if made is None else f"{text}\n\n{offers.offered(made)}"
            result |= {} if made is None else {"offer": made}
        return Answer(text, result)

    async def _pause(self, request: Request, draft: Draft) -> None:
        """The plan waits with the job, so that the answer to the question finds it and no model is asked again."""
        pause = Pause([asdict(draft)], [], dict(current_run().calls), list(current_run().sources), [])

        async def store() -> str:
            async with self._db.transaction() as tx:
                await self._steps.hold(tx, current_run())
                await pauses.put(tx, request.job.id, pause)
            return "stored"

        await self._steps.step("pause", store)

    async def _resumed(self, request: Request, given: Given) -> Drafted | None:
        if not request.resumes:
            return None

        async def read() -> dict[str, Any]:
            async with self._db.transaction() as tx:
                found = await pauses.of_job(tx, request.job.id)
            return {} if found is None else {"draft": found.messages[0], "sources": found.sources, "calls": found.calls}

        stored = await self._steps.step("paused", read)
        if not stored:
            return None
        if stored.get("calls"):
            # It was not the plan that stopped, but a tool that the model called before it wrote one.
            return await self._by_model(request, given, "", Draft(None, ""))
        current_run().sources += [one for one in stored["sources"] if one not in current_run().sources]
        return _draft_of(stored["draft"])


def _whole(plan: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """The plan with the step that fetched its table, so that it can be run again as it stands."""
    steps: Sequence[Mapping[str, Any]] = plan.get("steps", ())
    step = given.fetches.get(FETCHED)
    if step is None or plan.get("from") not in (None, FETCHED) or (steps and steps[0].get("do") == FETCHED):
        return dict(plan)
    return plan_of([step, *steps]).document()


def _without_address(text: str) -> str:
    return " ".join(ADDRESS.sub(" ", text).split())


def _metadata(draft: Draft) -> dict[str, Any]:
    """How it was done, in the seed's words; what it took is added to every result at its end."""
    return {
        "tool_calls": list(draft.calls), "cache_hit": draft.cache is not None, "cache_kind": draft.cache,
        "llm_model": draft.made_by,
    }  # fmt: skip


def _draft_of(stored: Mapping[str, Any]) -> Draft:
    """The draft as it was stored, by an earlier version, too."""
    return Draft(**{one.name: stored[one.name] for one in fields(Draft)} | {"calls": tuple(stored["calls"])})
