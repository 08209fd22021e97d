"""Jobs from a list: each is moved to the worker's own list in one step, and leaves that when it is committed."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from redis.asyncio import Redis

from laneway.channels.redis_queue.job_message import JobMessage, job_of
from laneway.channels.redis_queue.keys import OTHER, checked
from laneway.channels.redis_queue.large import fields_read
from laneway.channels.redis_queue.source import DEAD, MOST_DEAD, SILENCE_SECONDS, Entry

# The letter is there before the job is let go: whatever stops the script, one of them is.
_BURY = (
    OTHER
    + """
if not redis.call('LPOS', KEYS[1], ARGV[1]) then return 0 end
local wrong = other(KEYS[2], 'list')
if wrong then return wrong end
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], -tonumber(ARGV[3]), -1)
redis.call('LREM', KEYS[1], 1, ARGV[1])
return 1
"""
)
# In one step: a worker that was only silent, and lives again, must not be struck off the list of those looked after.
_TAKE_OVER = """
if redis.call('EXISTS', KEYS[1]) == 1 then return false end
local taken = redis.call('LMOVE', KEYS[2], KEYS[3], 'LEFT', 'RIGHT')
if not taken then redis.call('SREM', KEYS[4], ARGV[1]) end
return taken
"""
LEAVING_SECONDS = 3
"""Longer than Redis may hold a question of a worker that has left."""


class ListSource:
    """One list that all workers take from, and one for each worker."""

    def __init__(self, client: Redis, name: str, worker: str, most_bytes: int) -> None:
        self.name, self._client, self._worker, self._most_bytes = name, client, worker, most_bytes
        self._workers = f"{name}:workers"
        self._bury, self._take_next = client.register_script(_BURY), client.register_script(_TAKE_OVER)

    async def begin(self) -> Sequence[Entry]:
        """What lies in our own list: an answer of Redis may have been lost on its way."""
        # What the dead left is moved into our own list, and read from there.
        await self.beat(())
        return [_entry(raw, again=True) for raw in await self._client.lrange(self._own(self._worker), 0, -1)]

    async def take(self, most: int, seconds: float) -> Sequence[Entry]:
        # Redis takes parts of seconds, whatever its client's types say.
        first = await self._client.blmove(self.name, self._own(self._worker), seconds, "LEFT", "RIGHT")  # type: ignore[arg-type]
        if first is None:
            return []
        pipeline = self._client.pipeline(transaction=False)
        for _ in range(most - 1):
            pipeline.lmove(self.name, self._own(self._worker), "LEFT", "RIGHT")
        more = await pipeline.execute() if most > 1 else []
        return [_entry(raw) for raw in (first, *more) if raw is not None]

    async def read(self, entry: Entry) -> JobMessage:
        found = await fields_read(entry.raw, self._most_bytes)
        return job_of(found.fields, "list", found.tables)

    async def release(self, entry: Entry) -> None:
        # Redis takes bytes, whatever its client's types say.
        await self._client.lrem(self._own(self._worker), 1, entry.key)  # type: ignore[arg-type]

    async def bury(self, entry: Entry, letter: bytes) -> None:
        checked(await self._bury(keys=[self._own(self._worker), DEAD], args=[entry.key, letter, MOST_DEAD]))

    async def beat(self, at_hand: Collection[bytes]) -> Sequence[Entry]:
        pipeline = self._client.pipeline(transaction=True)
        pipeline.sadd(self._workers, self._worker)
        pipeline.set(self._alive(self._worker), "1", ex=SILENCE_SECONDS)
        pipeline.smembers(self._workers)
        known = (await pipeline.execute())[-1]
        taken: list[Entry] = []
        for other in sorted(name.decode(errors="replace") for name in known):
            if other != self._worker:
                taken += await self.take_over(other)
        return taken

    async def take_over(self, other: str) -> list[Entry]:
        """All that the other worker had not let go is ours, if that one is dead."""
        keys = [self._alive(other), self._own(other), self._own(self._worker), self._workers]
        taken = []
        while (raw := await self._take_next(keys=keys, args=[other])) is not None:
            taken.append(_entry(raw, again=True))
        return taken

    async def leave(self) -> None:
        while await self._client.lmove(self._own(self._worker), self.name, "RIGHT", "LEFT") is not None:
            pass
        # Not struck off: Redis may not have heard yet that nobody waits for an answer any more, and give a job.
        await self._client.set(self._alive(self._worker), "1", ex=LEAVING_SECONDS)

    def _own(self, worker: str) -> str:
        return f"{self.name}:processing:{worker}"

    def _alive(self, worker: str) -> str:
        return f"{self.name}:alive:{worker}"


def _entry(raw: bytes | str, *, again: bool = False) -> Entry:
    whole = raw if isinstance(raw, bytes) else raw.encode()
    return Entry(whole, whole, again)
