"""Our keys in Redis: of which type each must be, and what is said of one that is of another.

Redis takes nothing back that a script has written before it fails: scripts look at the types first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from laneway.channels.redis_queue.source import DEAD
from laneway.channels.redis_queue.tokens import SIGNALS, STREAM

LONGEST_SHOWN = 150
OTHER = """
local function other(key, must)
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' and kind ~= must then return {key, kind, must} end
end
"""
"""For scripts: nothing if the key may be written as what it `must` be, else what they return at once for `checked`."""


class WrongKind(RedisError):
    """A key of ours holds something of another type, which is not ours to delete; nothing was written."""

    def __init__(self, key: str, found: str, must: str) -> None:
        # Whoever names a job names a key, and log lines are one line each.
        self.key = repr(key)[1:-1][:LONGEST_SHOWN]
        self.says = f"`{self.key}` is a {found} where a {must} must be."
        super().__init__(f"{self.says} Rename or delete it")


def checked(answer: Any) -> bool:
    """Whether the script did something; WrongKind if it found a key of another type and did nothing."""
    if isinstance(answer, list | tuple):
        raise WrongKind(*(part.decode(errors="replace") if isinstance(part, bytes) else str(part) for part in answer))
    return bool(answer)


def kinds(jobs: str, stream: str | None, tokens: bool) -> dict[str, str]:
    """The type of every key that the whole queue stands on; those of single jobs are not among them."""
    found = {jobs: "list", f"{jobs}:workers": "set", DEAD: "list"}
    if stream is not None:
        found[stream] = "stream"
    return found | ({STREAM: "stream", SIGNALS: "list"} if tokens else {})


async def check_kinds(client: Redis, must: Mapping[str, str]) -> None:
    """Returns if each of the keys is of its type or is not there; WrongKind names the first that is not."""
    for wrong in await wrong_kinds(client, must):
        raise wrong


async def wrong_kinds(client: Redis, must: Mapping[str, str]) -> list[WrongKind]:
    """Those of the keys that are there and not of their type."""
    pipeline = client.pipeline(transaction=False)
    for key in must:
        pipeline.type(key)
    wrong: list[WrongKind] = []
    for (key, kind), found in zip(must.items(), await pipeline.execute(), strict=True):
        told = found.decode() if isinstance(found, bytes) else str(found)
        if told not in ("none", kind):
            wrong.append(WrongKind(key, told, kind))
    return wrong
