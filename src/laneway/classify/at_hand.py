"""What a request has at hand when its lane is chosen: its door, rows to work on, and what was offered just before."""

from __future__ import annotations

import re
from collections.abc import Mapping
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


@dataclass(frozen=True)
class AtHand:
    """The job, which knows an offer that its message takes up, and what else decides where it goes."""

    job: Job | None = None
    rows: bool = False
    follows: bool = False
    """Whether the thread was given a table just before."""
    context: list[Turn] = field(default_factory=list)
    """The current workflow and the tables in a few words, for a model that has to judge."""

    @property
    def runner(self) -> bool:
        """Whether the request came by a door for lasting changes and tables only."""
        return self.job is not None and _runner(self.job).get("door") in RUNNER_DOORS

    def taken_up(self, text: str) -> str | None:
        """The lane that goes on with what was said just before, if the words do."""
        if self.job is not None and "offer" in self.job.payload:
            return "workflow"
        return "pipeline" if self.follows and len(text) < 300 and _FOLLOWS.match(text) else None


async def at_hand(tx: Connection, job: Job, message: Message, world: World) -> AtHand:
    """What there is for this job; the same in every run of it."""
    if world is not World.OWNER:
        return AtHand(job)
    meta, table = await plans.around(tx, message)
    runner, offer = _runner(job), meta.get("offer")
    if isinstance(offer, dict) and _PERMANENT.fullmatch(message.text):
        job = replace(job, payload={**job.payload, "offer": offer})
    follows = meta.get("result_preview", {}).get("kind") == "dataset"
    given = bool(runner.get("tables") or runner.get("previous_results") or runner.get("plan"))
    rows = table or given or _ADDRESS.search(message.text) is not None
    return AtHand(job, rows, follows, _context(message.id, runner))


def _runner(job: Job) -> Mapping[str, Any]:
    found = job.payload.get("runner")
    return found if isinstance(found, dict) else {}


def _context(message_id: UUID, runner: Mapping[str, Any]) -> list[Turn]:
    """At most a line of each, so that no document of theirs fills the model's view."""
    told = []
    workflow = runner.get("current_workflow")
    nodes = workflow.get("nodes") if isinstance(workflow, dict) else None
    if isinstance(nodes, dict):
        nodes = [{"id": name, **node} for name, node in nodes.items() if isinstance(node, dict)]
    if isinstance(nodes, list):
        listed = ", ".join(f"{node.get('id')} ({node.get('type')})" for node in nodes[:12] if isinstance(node, dict))
        told.append(f"[the current workflow has the nodes {listed}]")
    tables = runner.get("tables")
    if isinstance(tables, dict):
        told.append(f"[given are the tables {', '.join(str(name) for name in list(tables)[:12])}]")
    return [Turn(message_id, Author.USER, line[:190]) for line in told]
