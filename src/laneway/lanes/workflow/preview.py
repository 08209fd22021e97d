"""What somebody sees before a yes: the change in words and as a picture, and which runs would have ended otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.domain.workflow import Document
from laneway.lanes.workflow.diagram import mermaid
from laneway.lanes.workflow.differences import differences
from laneway.lanes.workflow.notes import notes
from laneway.lanes.workflow.patches import Proposal
from laneway.lanes.workflow.replaying import RecordedRun, Replay, replayed
from laneway.store.database import Connection

MOST_LINES, MOST_RUNS = 40, 20
Recorded = Callable[[Connection, UUID, int], Awaitable[Sequence[RecordedRun]]]
"""The newest runs of a workflow with what came out of their nodes."""


@dataclass(frozen=True)
class Preview:
    """A change that is not made yet, as a person or a program reads it."""

    tag: str
    base_version: int
    description: str
    changes: list[str]
    notes: list[str]
    mermaid: str
    replays: list[Replay]

    @property
    def different(self) -> list[Replay]:
        return [one for one in self.replays if one.differs]

    def document(self) -> dict[str, Any]:
        """The preview as JSON."""
        return {
            "workflow": self.tag, "base_version": self.base_version, "version": self.base_version + 1,
            "description": self.description, "changes": self.changes, "notes": self.notes, "diagram": self.mermaid,
            "replayed": len(self.replays), "would_end_differently": [one.document() for one in self.different],
            "cannot_tell": [one.document() for one in self.replays if one.unknown],
        }  # fmt: skip

    def text(self, more: Sequence[str] = (), valid_until: datetime | None = None) -> str:
        """The preview as it stands in a conversation."""
        where = f"workflow `{self.tag}`" + (f", version {self.base_version}" if self.base_version else " (new)")
        # In one line: whoever describes a change must not write the rest of the question as well.
        lines = [f"May I change {where}?", " ".join(self.description.split()), *_bullets(self.changes)]
        if valid_until is not None:
            lines.append(f"It is undone by itself on {valid_until:%Y-%m-%d at %H:%M} UTC.")
        lines += [f"Note: {note}" for note in dict.fromkeys([*more, *self.notes])]
        lines += self._runs()
        return "\n".join([line for line in lines if line] + ["```mermaid", self.mermaid.strip(), "```"])

    def _runs(self) -> list[str]:
        """What the recorded runs say, the ones that would have ended differently by name."""
        if not self.replays:
            return []
        unknown = [one for one in self.replays if one.unknown]
        many = f"the last {len(self.replays)} runs" if len(self.replays) > 1 else "the last run"
        lines = [f"Of {many}, {len(self.different) or 'none'} would have ended differently."]
        lines += [
            f"- run {one.run}: {one.then.words} instead of {one.now.words.removeprefix('ends ').removeprefix('fails ')}"
            if one.now.status == one.then.status else f"- run {one.run}: {one.then.words}; it {_past(one.now.words)}"
            for one in self.different[:MOST_RUNS]
        ]  # fmt: skip
        if len(self.different) > MOST_RUNS:
            lines.append(f"- and {len(self.different) - MOST_RUNS} more")
        if unknown:
            asks = ", ".join(sorted({f"`{one.then.asks}`" for one in unknown if one.then.asks}))
            lines.append(f"Of {len(unknown)} it cannot be told from here{f': it depends on {asks}' if asks else ''}.")
        return lines


class Previews:
    """Makes previews, with as many recorded runs as are wanted."""

    def __init__(self, recorded: Recorded, runs: int) -> None:
        self._recorded, self._runs = recorded, runs

    async def of(self, tx: Connection, proposal: Proposal) -> Preview:
        """The preview of a proposal; nothing is stored."""
        runs: Sequence[RecordedRun] = ()
        if proposal.workflow is not None and self._runs:
            runs = await self._recorded(tx, proposal.workflow.id, self._runs)
        return await asyncio.to_thread(preview, proposal, runs)


def preview(proposal: Proposal, runs: Sequence[RecordedRun] = ()) -> Preview:
    """What the proposal would change, and for which of these runs."""
    said = {finding.sentence for finding in notes(proposal.before)} if proposal.base_version else set()
    new = [finding.sentence for finding in notes(proposal.after) if finding.sentence not in said]
    return Preview(
        proposal.tag, proposal.base_version, proposal.description, changes_between(proposal.before, proposal.after),
        new, mermaid(proposal.after, proposal.before if proposal.base_version else None),
        replayed(proposal.before, proposal.after, runs),
    )  # fmt: skip


def changes_between(before: Document, after: Document) -> list[str]:
    """The difference of two versions in words."""
    return [one.words[:1].upper() + one.words[1:] for one in differences(before, after)]


def _bullets(changes: Sequence[str]) -> list[str]:
    shown = [f"- {change}" for change in changes[:MOST_LINES]]
    left = len(changes) - len(shown)
    return [*shown, f"- and {left} more changes"] if left > 0 else shown


def _past(words: str) -> str:
    return words.replace("ends at", "ended at").replace("fails at", "failed at")
