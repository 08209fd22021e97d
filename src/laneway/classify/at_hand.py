"""What a request has at hand when its lane is chosen: its door, rows to work on, and what was offered just before."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Author, Message, World
from laneway.domain.job import Job
from laneway.store import plans
from laneway.store.database import Connection
from laneway.transcript import Turn

RUNNER_DOORS = frozenset({"agent:jobs", "/test/chat"})
"""Doors whose requests are either a lasting change or work on tables, and nothing else."""

_ADDRESS = re.compile(r"https?://[^\s<>]+")
_WORD = re.compile(r"[^\W_]+")
_FOLLOWS = re.compile(
    r"(?i)\s*(?:(?:ok(?:ay)?|and|then|now|please)\b[\s,]*)*"
    r"(?:(?:only|just|keep only|without|same|sort|order by|group|filter|limit)\b"
    r"|(?:show|list|give|which|how many|what|count|sum|average|total|drop|keep|leave out)\b.{0,80}"
    r"\b(?:those|these|them|the ones|(?:the|that) (?:result|table|list|rows))\b)"
)
"""Words that go on with a table; whatever else is said after one goes its own way."""
_PERMANENT = re.compile(
    r"(?i)\s*(?:(?:yes|ok(?:ay)?|please|and|then|now)\b[\s,]*)*"
    r"(?:(?:make|keep) (?:it|this|that)(?: as)? (?:permanent|lasting|(?:a )?workflow|(?:a )?schedule)|"
    r"(?:schedule|automate) (?:it|this|that)\b|(?:do|run) (?:it|this|that) (?:every|each|daily|weekly|hourly)\b).{0,80}"
)

Claim = Callable[[Connection, Job, Message, World], Awaitable[str | None]]
"""A lane's own look at a message: its name if the words, all of them, are plainly for it."""


@dataclass(frozen=True)
class AtHand:
    """The job, which knows an offer that its message takes up, and what else decides where it goes."""

    job: Job | None = None
    rows: bool = False
    follows: bool = False
    """Whether the thread was given a table just before."""
    context: list[Turn] = field(default_factory=list)
    """The current workflow and the tables in a few words, for a model that has to judge."""
    tables: bool = False
    """Whether the message itself came with tables, or files that are read as such."""
    claimed: str | None = None
    """The lane that knows the words for its own."""

    @property
    def runner(self) -> bool:
        """Whether it came by a door for lasting changes and tables only, or brings a plan as those there do."""
        if self.job is None:
            return False
        runner = _runner(self.job)
        return runner.get("door") in RUNNER_DOORS or (self.job.lane is None and bool(runner.get("plan")))

    def names_its_tables(self, text: str) -> bool:
        """Whether the words name a table that the message brought, or a column of it."""
        tables = {} if self.job is None else _runner(self.job).get("tables")
        said = set(map(_single, _WORD.findall(text.casefold())))
        return isinstance(tables, dict) and any(said & _named(name, rows) for name, rows in tables.items())

    def names_its_steps(self, text: str) -> bool:
        """Whether the words name a step of the workflow that the request brings along."""
        steps = [] if self.job is None else _steps(_runner(self.job))
        said = set(map(_single, _WORD.findall(text.casefold())))
        return any(said & _named(str(step.get("id")), None) for step in steps)

    def taken_up(self, text: str) -> str | None:
        """The lane that goes on with what was said just before, if the words do."""
        if self.job is not None and "offer" in self.job.payload:
            return "workflow"
        if self.claimed is not None:
            return self.claimed
        return "pipeline" if self.follows and len(text) < 300 and _FOLLOWS.match(text) else None


async def at_hand(tx: Connection, job: Job, message: Message, world: World, claims: Sequence[Claim] = ()) -> AtHand:
    """What there is for this job; the same in every run of it."""
    if world is not World.OWNER:
        return AtHand(job)
    meta, table = await plans.around(tx, message)
    runner = _runner(job)
    offer = await plans.offered_before(tx, message) if _PERMANENT.fullmatch(message.text) else None
    if offer is not None:
        job = replace(job, payload={**job.payload, "offer": offer})
    claimed = None if offer is not None else await _claimed(tx, job, message, world, claims)
    follows = meta.get("result_preview", {}).get("kind") == "dataset"
    given = bool(runner.get("tables") or runner.get("previous_results") or runner.get("plan"))
    rows = table or given or _ADDRESS.search(message.text) is not None
    return AtHand(job, rows, follows, _context(message.id, runner), table or given, claimed)


async def _claimed(tx: Connection, job: Job, message: Message, world: World, claims: Sequence[Claim]) -> str | None:
    for claim in claims:
        if (lane := await claim(tx, job, message, world)) is not None:
            return lane
    return None


def _runner(job: Job) -> Mapping[str, Any]:
    found = job.payload.get("runner")
    return found if isinstance(found, dict) else {}


def _named(name: str, rows: Any) -> set[str]:
    """The words that a table and its columns are called by, as far as its first row is here."""
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else {}
    return {_single(word) for one in (name, *first) for word in _WORD.findall(str(one).casefold()) if len(word) > 1}


def _single(word: str) -> str:
    return word.removesuffix("s")


def _steps(runner: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes of the current workflow, however they are kept."""
    workflow = runner.get("current_workflow")
    nodes = workflow.get("nodes") if isinstance(workflow, dict) else None
    if isinstance(nodes, dict):
        nodes = [{"id": name, **node} for name, node in nodes.items() if isinstance(node, dict)]
    return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []


def _context(message_id: UUID, runner: Mapping[str, Any]) -> list[Turn]:
    """At most a line of each, so that no document of theirs fills the model's view."""
    told = []
    if steps := _steps(runner):
        listed = ", ".join(f"{node.get('id')} ({node.get('type')})" for node in steps[:12])
        told.append(f"[the current workflow has the nodes {listed}]")
    tables = runner.get("tables")
    if isinstance(tables, dict):
        told.append(f"[given are the tables {', '.join(str(name) for name in list(tables)[:12])}]")
    return [Turn(message_id, Author.USER, line[:190]) for line in told]
