"""One stretch of a run: everything that can be done now is done, side by side; then the run has ended or rests.

All that is known of the run is in its rows, so a stretch that was cut off is simply walked again: nodes that ended are
not touched, and what others had begun is looked up by the names of their effects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from laneway.clock import Clock
from laneway.domain.conversation import Incoming
from laneway.domain.job import NODE_OF, Job, JobMode, Scope
from laneway.domain.judgement import Intent
from laneway.domain.storable import storable
from laneway.domain.workflow_run import NodeRecord, NodeStatus, WorkflowRun
from laneway.engine.running import current_run
from laneway.engine.steps import Steps
from laneway.errors import BadInput, LanewayError, LeaseLost, NotFound
from laneway.lanes.contract import Request
from laneway.lanes.workflow.filling import Filling, check_filled
from laneway.lanes.workflow.graph import Graph
from laneway.lanes.workflow.hands import Doing, Done, Failed, Hands, Kind, Outcome, Start, Waits
from laneway.lanes.workflow.recording import kept, noted, whole
from laneway.lanes.workflow.walking import Lost, Standing, Walk
from laneway.store import conversations, events, intake, principals, workflow_nodes, workflow_runs
from laneway.store.database import Connection, Database

AT_ONCE = 8
"""Nodes of one run that work at the same time."""
WAIT = {"backoff_ms": 4_000, "backoff_multiplier": 1}
"""How a node is tried again that waits for room in a budget."""
SHORT_SECONDS = 3.0
"""A pause before another attempt that is shorter is waited for here; a longer one is a row."""
LONGEST_PAUSE = 86_400.0
"""Seconds before another attempt, however often it has failed."""
MOST_VISITS = 5000
"""Nodes one run may visit, loops and all."""
CODE = frozenset({"condition", "expression", "join", "loop_back_to", "break_path", "timeout_path"})
"""Settings that are no texts to be filled: CEL, and the graph's own."""
CEL = frozenset({"condition", "expression"})


@dataclass(frozen=True)
class Shop:
    """What every stretch works with."""

    db: Database
    steps: Steps
    hands: Hands
    clock: Clock
    start: Start
    kinds: Mapping[str, Kind]


@dataclass(frozen=True)
class Stood:
    """Where a stretch has ended: what failed without a way on, what is asked, and when to look again."""

    failed: NodeRecord | None
    open: list[NodeRecord]
    questions: list[Waits]


class Stretch:
    """Walks one run as far as it goes."""

    def __init__(
        self, shop: Shop, run: WorkflowRun, request: Request, previous: Mapping[str, Any],
        previous_sources: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._shop, self._run, self._request, self._previous = shop, run, request, previous
        self._previous_sources = list(previous_sources)
        self._walk = Walk(run.document)
        self._seats = Seats(self._walk.graph)
        self.visits = dict(run.visits)
        self.records: dict[tuple[str, int], NodeRecord] = {}
        self.outputs: dict[str, Any] = {}
        self._newest: dict[str, int] = {}
        self._questions: list[Waits] = []
        self._tried: set[tuple[str, int]] = set()

    async def load(self) -> None:
        """What is on record of the run is known here."""
        async with self._shop.db.transaction() as tx:
            found = await workflow_nodes.of_run(tx, self._run.id)
        for record in found:
            await self._know(record)

    async def go(self) -> Stood:
        """Nothing more can be done now."""
        await self.load()
        working: dict[asyncio.Task[None], str] = {}
        try:
            while True:
                for name in self._next(set(working.values())):
                    if len(working) < AT_ONCE:
                        working[asyncio.create_task(self._visit(name), name=f"node {name}")] = name
                if not working:
                    return self._stood()
                ended, _ = await asyncio.wait(working, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    del working[task]
                    task.result()
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    def _next(self, working: set[str]) -> list[str]:
        """The nodes to work on now: what is ready, and what is open and was not looked at in this stretch."""
        if self._failed() is not None:
            return []
        if len(self.records) >= MOST_VISITS:
            raise BadInput(f"The run has visited {MOST_VISITS} nodes; it is stopped.", hint="Bound its loops.")
        standings = self._walk.standings(self.visits, self.records)
        wanted = [name for name, standing in standings.items() if standing in (Standing.READY, Standing.OPEN)]
        found = [name for name in wanted if name not in working and (name, self._count(name)) not in self._tried]
        return self._seats.free_for(found, standings, working)

    def _failed(self) -> NodeRecord | None:
        """A node that failed and has no way on from there."""
        found = [record for record in self.records.values() if record.status is NodeStatus.FAILED and not record.taken]
        return next((record for record in found if record.visit == self._count(record.node)), None)

    def _stood(self) -> Stood:
        current = [record for (name, visit), record in self.records.items() if visit == self._count(name)]
        return Stood(self._failed(), [record for record in current if not record.ended], self._questions)

    def _count(self, name: str) -> int:
        return self.visits.get(name, 1)

    async def _visit(self, name: str) -> None:
        """The node has ended, waits, or is tried again later; its row says which."""
        node, visit = self._walk.node(name), self._count(name)
        self._tried.add((name, visit))
        if name in self._run.pinned:
            return await self._pinned(name, visit)
        while True:
            record = self.records.get((name, visit))
            again_at = record.again_at if record is not None and record.status is NodeStatus.RETRYING else None
            if again_at is not None and again_at > self._shop.clock.now():
                return None
            record = await self._begun(name, visit, str(node["type"]))
            doing, outcome = await self._worked(node, record)
            if not (isinstance(outcome, Failed) and await self._again(record, outcome)):
                return await self._ended(doing, record, outcome)

    async def _begun(self, name: str, visit: int, kind: str) -> NodeRecord:
        async with self._transaction() as tx:
            fresh = (name, visit) not in self.records
            record = await workflow_nodes.begin(tx, self._run.id, name, visit, kind)
            if fresh:
                await self._tell(tx, "workflow.node.started", record)
        await self._know(record)
        return record

    async def _worked(self, node: Mapping[str, Any], record: NodeRecord) -> tuple[Doing | None, Outcome]:
        """What one attempt of the node came to; whatever it raises that we can explain is a failure of the node."""
        try:
            kind = self._shop.kinds[record.type]
            doing = await self._doing(node, record, kind)
            if self._run.test and kind.acts and not _only_reads(record.type, doing.config):
                return doing, Done({"test": True, "would": doing.shown(doing.config)})
            return doing, await kind.done(doing)
        except LeaseLost:
            raise
        except LanewayError as error:
            return None, Failed(str(error), retryable=False, code=error.code)

    async def _doing(self, node: Mapping[str, Any], record: NodeRecord, kind: Kind) -> Doing:
        given, sources = self._given(record.node)
        config = dict(node.get("config") or {})
        started = {**self._run.input, **self._run.cause}
        filling = Filling(
            self.outputs, self._run.input, self._previous, started, self._shop.hands.secret, kind.knows_secrets
        )  # fmt: skip
        filled = {key: value if key in CODE else filling.fill(value) for key, value in config.items()}
        check_filled(record.type, config, filled)
        # Code may read what any node gave; the rest of the settings say what they read.
        used = set(self.outputs) | {"$input"} if CEL & config.keys() else filling.used
        takes = kind.takes and "input" not in config
        earlier = self._previous_sources if CEL & config.keys() or "$previous" in used else ()
        told = list(dict.fromkeys([*self._sources_of(used), *earlier, *(sources if takes else ())]))
        ctx = {**self.outputs, "previous": dict(self._previous), "input": self._run.input}
        ctx |= {name: self.outputs[name] for name in ("previous", "input") if name in self.outputs}
        shown = await asyncio.to_thread(lambda: noted(filling.shown(filled)))
        async with self._transaction() as tx:
            await workflow_nodes.given(tx, record, shown, told)
        shop = self._shop
        return Doing(
            self._run, node, record, filled, given, ctx, tuple(told), dict(filling.told), filling.shown,
            self._request, shop.hands, shop.db, shop.steps, shop.clock, shop.start, spawn,
        )  # fmt: skip

    def _given(self, name: str) -> tuple[Any, list[str]]:
        """What the nodes before it gave, or the run's input; and whose words are in that."""
        came_from = self._walk.came_from(name, self.visits, self.records)
        if not came_from:
            return self._run.input, list(self._run.sources)
        sources = self._sources_of(set(came_from))
        if len(came_from) == 1:
            return self.outputs.get(came_from[0]), sources
        return {one: self.outputs.get(one) for one in came_from}, sources

    def _sources_of(self, used: set[str]) -> list[str]:
        found = [one for one in self._run.sources if used & {"$input", "$trigger"}]
        for name in sorted(used):
            record = self.records.get((name, self._count(name)))
            found += record.sources if record is not None else []
        return list(dict.fromkeys(found))

    async def _again(self, record: NodeRecord, failure: Failed) -> bool:
        """Whether the node is tried again at once; if it is tried later, its row says when."""
        retry = self._walk.node(record.node).get("retry")
        most = int(retry.get("max_attempts", 3)) if isinstance(retry, Mapping) else 1
        tried = record.attempts - record.earlier
        if not failure.waits and (not failure.retryable or tried >= most):
            return False
        retry = WAIT if failure.waits or not isinstance(retry, Mapping) else retry
        times = min(retry.get("backoff_multiplier", 2), LONGEST_PAUSE) ** (tried - 1)
        pause = min(min(retry.get("backoff_ms", 1000), LONGEST_PAUSE * 1000) / 1000 * times, LONGEST_PAUSE)
        async with self._transaction() as tx:
            error = {"message": failure.why, "code": failure.code, "attempt": record.attempts}
            changed = await workflow_nodes.retry(tx, record, error, self._shop.clock.now() + timedelta(seconds=pause))
            await self._tell(tx, "workflow.node.retrying", changed, error=error, seconds=pause)
        await self._know(changed)
        if pause <= SHORT_SECONDS:
            await asyncio.sleep(pause)
            self.records[record.node, record.visit] = replace(changed, again_at=None)
        return True

    async def _ended(self, doing: Doing | None, record: NodeRecord, outcome: Outcome) -> None:
        if isinstance(outcome, Waits):
            return await self._waits(record, outcome)
        if isinstance(outcome, Failed):
            return await self._fails(record, outcome, self._heard(doing, record))
        sources = [*(doing.sources if doing else ()), *outcome.sources]
        try:
            found = await kept(outcome.output, self._shop.hands.artifacts)
        except LanewayError as error:
            return await self._fails(record, Failed(str(error), retryable=False, code=error.code), sources)
        chosen = await self._chosen(record.node, found.value)
        if isinstance(chosen, Lost):
            return await self._fails(record, Failed(chosen.why, retryable=False, code="condition"), sources)
        async with self._transaction() as tx:
            output, ref = await found.record(tx)
            changed = await workflow_nodes.done(tx, record, output, ref, chosen, list(dict.fromkeys(sources)))
            again = await self._back(tx, changed, found.value)
            await self._tell(tx, "workflow.node.done", changed)
        self.outputs[record.node] = found.value
        self.records[record.node, record.visit] = changed
        self.visits |= again
        return None

    async def _chosen(self, name: str, output: Any) -> list[int] | Lost:
        ctx = {"previous": dict(self._previous), "input": self._run.input, **self.outputs, name: output}
        return await asyncio.to_thread(self._walk.chosen, name, output, ctx)

    async def _back(self, tx: Connection, record: NodeRecord, output: Any) -> dict[str, int]:
        """The visits that count from now on, if this is a loop that goes back."""
        if record.type != "loop" or not output.get("again"):
            return {}
        again = {name: self._count(name) + 1 for name in self._walk.body(record.node)}
        await workflow_runs.set_visits(tx, self._run.id, again)
        return again

    async def _waits(self, record: NodeRecord, waits: Waits) -> None:
        async with self._transaction() as tx:
            fresh = record.status is not NodeStatus.WAITING
            changed = await workflow_nodes.wait(tx, record, waits.on, waits.until)
            if fresh:
                await self._tell(tx, "workflow.node.waiting", changed)
        await self._know(changed)
        if waits.question is not None:
            self._questions.append(waits)

    def _heard(self, doing: Doing | None, record: NodeRecord) -> list[str]:
        """Whose words may be in the reason of a failure: those it worked on, and those who answered it."""
        if doing is None:
            # It was not even put together: the reason may quote anything a node before it gave.
            return self._sources_of({*self.outputs, "$input"})
        hears = self._shop.kinds[record.type].hears
        return [*doing.sources, *([f"the answer to `{record.node}`"] if hears else [])]

    async def _fails(self, record: NodeRecord, failure: Failed, sources: Sequence[str]) -> None:
        error = {"message": failure.why, "code": failure.code}
        output = {"error": {**error, "node": record.node}}
        async with self._transaction() as tx:
            told = list(dict.fromkeys([*sources, *failure.sources]))
            changed = await workflow_nodes.failed(tx, record, error, output, self._walk.on_error(record.node), told)
            await self._tell(tx, "workflow.node.failed", changed, error=error)
        await self._know(changed)

    async def _pinned(self, name: str, visit: int) -> None:
        output = self._walk.pinned(name, visit, self._run.pinned[name])
        chosen = await self._chosen(name, output)
        async with self._transaction() as tx:
            record = await workflow_nodes.pin(
                tx, self._run.id, name, visit, str(self._walk.node(name)["type"]), output,
                [] if isinstance(chosen, Lost) else chosen,
            )  # fmt: skip
            again = await self._back(tx, record, output)
        await self._know(record)
        self.visits |= again
        if isinstance(chosen, Lost):
            await self._fails(record, Failed(chosen.why, retryable=False, code="condition"), ())

    async def _know(self, record: NodeRecord) -> None:
        self.records[record.node, record.visit] = record
        newest = self._newest[record.node] = max(record.visit, self._newest.get(record.node, 0))
        if record.ended and record.visit == newest:
            self.outputs[record.node] = await whole(record, self._shop.hands.artifacts)

    def ends(self) -> list[str]:
        return self._walk.ends(self.visits, self.records)

    def _transaction(self) -> AbstractAsyncContextManager[Connection]:
        return _held(self._shop)

    async def _tell(self, tx: Connection, kind: str, record: NodeRecord, **more: Any) -> None:
        body: dict[str, Any] = {"run": str(self._run.id), "workflow": self._run.tag}
        body |= {"node": record.node, "type": record.type}
        body |= {"visit": record.visit, "attempt": record.attempts, **more}
        job = self._request.job
        await events.append(tx, kind, body, thread_id=job.thread_id, job_id=job.id)


@asynccontextmanager
async def _held(shop: Shop) -> AsyncIterator[Connection]:
    """A transaction in which the job still belongs to this run; else LeaseLost, and nothing of it is kept."""
    async with shop.db.transaction() as tx:
        await shop.steps.hold(tx, current_run())
        yield tx


def _only_reads(kind: str, config: Mapping[str, Any]) -> bool:
    return kind == "http" and str(config.get("method") or "GET").upper() in ("GET", "HEAD")


def soonest(records: list[NodeRecord]) -> datetime | None:
    """When the first of these is to be looked at again; None if none has a time."""
    return min((record.again_at for record in records if record.again_at is not None), default=None)


async def spawn(
    tx: Connection, job: Job, run: WorkflowRun, record: NodeRecord, words: str, wanted: Mapping[str, Any]
) -> UUID:
    """An agent node that has tools is a job of its own, queued once for each attempt, where the run reports.

    It passes the same gate, asks the same people, and what taints the node's words taints it. Nobody but the run hears
    what it answers, and it sees nothing of the conversation around it.
    """
    thread = await conversations.thread(tx, job.thread_id)
    principal = await principals.by_id(tx, run.principal_id)
    if thread is None or principal is None:
        raise NotFound("Whoever owns the workflow is gone.", hint="Import it for somebody else.")
    place = {"run": str(run.id), "node": record.node}
    judged = {
        "intent": Intent.QUESTION, "summary": f"The node {record.node} of the workflow {run.tag}.",
        "plan": "Do what it says.", "needs_confirmation": False, "confidence": 1.0,
    }  # fmt: skip
    incoming = Incoming(
        thread.channel, thread.external_id, f"node:{run.id}:{record.visit}:{record.attempts}:{record.node}"[:200],
        str(storable(words)), principal, mode=JobMode.EXECUTE, lane="tools",
        payload={NODE_OF: {**place, **wanted}, "classification": judged},
        meta={"hushed": True, "alone": True, "workflow_run": str(run.id), "sources": list(record.sources)},
        program=job.program,
    )  # fmt: skip
    return (await intake.write(tx, incoming, aside=True, scope=Scope.PROACTIVE)).job_id


_LEFT = frozenset({Standing.READY, Standing.OPEN, Standing.BLOCKED})
_BEGUN = frozenset({Standing.OPEN, Standing.ENDED})
Branch = frozenset[str]


class Seats:
    """How many branches behind a `parallel` node are under way at once, where it sets `max_concurrency`.

    A branch is what only one of the node's edges leads to. It has its seat from its first node until nothing of it is
    left to do, waiting included; what several edges lead to (the join and all behind it) takes none.
    """

    def __init__(self, graph: Graph) -> None:
        self._rows = [
            (most, _branches(graph, name))
            for name in graph.nodes
            if graph.type(name) == "parallel" and (most := graph.config(name).get("max_concurrency")) is not None
        ]

    def free_for(
        self, wanted: Collection[str], standings: Mapping[str, Standing], working: Collection[str]
    ) -> list[str]:
        """Those of the wanted nodes, in their order, that have a seat or need none."""
        begun = {name for name, standing in standings.items() if standing in _BEGUN} | set(working)
        left = {name for name, standing in standings.items() if standing in _LEFT} | set(working)
        found: list[str] = []
        for name in wanted:
            if all(self._has_seat(name, most, branches, begun, left) for most, branches in self._rows):
                found.append(name)
                begun.add(name)
        return found

    def _has_seat(self, name: str, most: int, branches: list[Branch], begun: set[str], left: set[str]) -> bool:
        own = next((branch for branch in branches if name in branch), None)
        if own is None or own & begun:
            return True
        return sum(bool(branch & begun) and bool(branch & left) for branch in branches) < int(most)


def _branches(graph: Graph, name: str) -> list[Branch]:
    targets = list(dict.fromkeys(edge.target for edge in graph.out(name) if not edge.on_error))
    reached = {target: graph.onward.get(target, {target}) for target in targets}
    return [
        frozenset(reached[one] - set().union(*(reached[other] for other in targets if other != one))) for one in targets
    ]
