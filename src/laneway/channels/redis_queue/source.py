"""Where jobs lie in Redis until they are committed: what a list and a stream have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from laneway.channels.redis_queue.job_message import JobMessage

DEAD = "agent:dead"
MOST_DEAD = 10_000
"""So many of the newest dead letters are kept."""

BEAT_SECONDS, SILENCE_SECONDS = 4.0, 15
"""How often a worker says that it lives, and after how much silence others take what it left."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that was taken and that Redis still keeps for us: `key` is what lets it go."""

    key: bytes
    raw: bytes
    again: bool = False
    """Whether it was taken before, by us or a dead worker, so that it may be committed already."""


class Source(Protocol):
    """A list or a stream."""

    name: str

    async def begin(self) -> Sequence[Entry]:
        """This worker is known to the others; returns what it had taken and never let go."""
        ...

    async def take(self, most: int, seconds: float) -> Sequence[Entry]:
        """Up to `most` further entries, after at most `seconds`; each is kept for us by Redis."""
        ...

    async def read(self, entry: Entry) -> JobMessage:
        """The job in it; Unreadable if there is none."""
        ...

    async def release(self, entry: Entry) -> None:
        """Redis has forgotten the entry: it is committed."""
        ...

    async def bury(self, entry: Entry, letter: bytes) -> None:
        """In one step the entry is gone and the letter lies with the dead; nothing, if another has done so.

        WrongKind: the dead letters are no list now, and nothing is done.
        """
        ...

    async def beat(self, at_hand: Collection[bytes]) -> Sequence[Entry]:
        """The others know that this worker lives; returns what the dead among them left."""
        ...

    async def leave(self) -> None:
        """What was taken and not let go is there for others, who soon take this worker for gone."""
        ...
