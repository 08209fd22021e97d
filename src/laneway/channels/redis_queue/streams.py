"""Jobs from a stream: read as a member of a consumer group, and acknowledged when they are committed."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from laneway.channels.redis_queue.job_message import (
    TEXTS,
    JobMessage,
    Unreadable,
    check_depth,
    fields_of,
    job_of,
    readable_id,
)
from laneway.channels.redis_queue.keys import OTHER, checked
from laneway.channels.redis_queue.large import fields_read, without_large
from laneway.channels.redis_queue.source import DEAD, MOST_DEAD, SILENCE_SECONDS, Entry
from laneway.channels.redis_queue.tokens import GROUP, fields_of_token
from laneway.domain.storable import storable
from laneway.errors import TooLarge
from laneway.lanes.pipeline.lines import loads
from laneway.lanes.pipeline.taking_out import TakenOut
from laneway.lanes.pipeline.unpacking import SMALL, NotTaken, Unpacked, mended

LONG_GONE_MS = 3_600_000
WHOLE = ("job", "token", "data", "payload", "message")
"""Fields of an entry that may hold the whole job as JSON."""

NESTED = frozenset({"context", "current_workflow", "timeout_sec", "tables", "plan"})
"""Fields whose values are JSON where an entry has one field for each of the job's."""

FLAT = frozenset({"version", "job_id", "prompt", "task", *TEXTS})
"""Fields whose values are texts, whatever they look like; any other is JSON if it is an object or a list."""

# The letter is there before the entry is let go: whatever stops the script, one of them is.
_BURY = (
    OTHER
    + """
if #redis.call('XPENDING', KEYS[1], ARGV[1], ARGV[2], ARGV[2], 1) == 0 then return 0 end
local wrong = other(KEYS[2], 'list')
if wrong then return wrong end
redis.call('RPUSH', KEYS[2], ARGV[3])
redis.call('LTRIM', KEYS[2], -tonumber(ARGV[4]), -1)
redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
return 1
"""
)


class StreamSource:
    """One stream and this worker's place in its consumer group."""

    def __init__(self, client: Redis, name: str, worker: str, most_bytes: int, tokens: bool = False) -> None:
        self.name, self._client, self._worker, self._most_bytes = name, client, worker, most_bytes
        self._tokens = tokens
        self._bury = client.register_script(_BURY)

    async def begin(self) -> Sequence[Entry]:
        await self._make_group()
        found: list[Entry] = []
        after = b"0"
        while batch := await asyncio.to_thread(_entries, await self._read_group(after, 100, None)):
            found += [replace(entry, again=True) for entry in batch]
            after = batch[-1].key
        return found

    async def take(self, most: int, seconds: float) -> Sequence[Entry]:
        try:
            answer = await self._read_group(">", most, max(1, round(seconds * 1000)))
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            # A Redis that kept nothing has come back, or somebody deleted the stream.
            await self._make_group()
            return []
        # A batch of large entries takes a while to be written as JSON.
        return await asyncio.to_thread(_entries, answer)

    async def read(self, entry: Entry) -> JobMessage:
        # The entry itself is flat: texts, which are copied and not looked into.
        fields = await asyncio.to_thread(fields_of, entry.raw, self._most_bytes)
        if not self._tokens:
            found = await self._job_fields(fields)
            return job_of(found.fields, "stream", found.tables)
        token = await self._whole(fields)
        if token is None:
            raise Unreadable("malformed", "The entry has no field `token` that holds JSON.")
        job = fields_of_token(token.fields)
        workflow = await self._workflow(job.get("run_id"))
        return job_of({"current_workflow": workflow, **job} if workflow else job, "token", token.tables)

    async def _job_fields(self, fields: Mapping[str, Any]) -> Unpacked:
        """The job of an entry: whole in one field, or a field for each of its own."""
        whole = await self._whole(fields)
        if whole is not None:
            return whole
        found, tables = dict(fields), list[TakenOut]()
        for name, given in fields.items():
            if name in FLAT or not (name in NESTED or given.lstrip().startswith(("{", "["))):
                continue
            try:
                nested = await _nested(name, given)
            except _NoJSON as wrong:
                if name in NESTED:
                    raise Unreadable("malformed", str(wrong), readable_id(fields.get("job_id"))) from None
                continue
            found[name], tables = nested.fields[name], [*tables, *nested.tables]
        check_depth(found)
        # Only written like this can a NUL be in what was text until now.
        escaped = any("\\u0000" in given for given in fields.values())
        return await without_large(Unpacked(dict(storable(found)) if escaped else found, tuple(tables)))

    async def _whole(self, fields: Mapping[str, Any]) -> Unpacked | None:
        for name in WHOLE:
            given = fields.get(name)
            if isinstance(given, str) and given.lstrip().startswith("{"):
                return await fields_read(given.encode(), self._most_bytes)
        return None

    async def _workflow(self, run_id: object) -> dict[str, Any] | None:
        """The workflow of this run, as whoever runs it keeps it; None if there is none that can be read."""
        key = f"ir:{run_id}"
        if not isinstance(run_id, str) or len(key) > 200:
            return None
        try:
            if await self._client.strlen(key) > self._most_bytes:
                return None
            stored = await self._client.get(key)
            return fields_of(stored, self._most_bytes) if isinstance(stored, bytes) else None
        except (Unreadable, ResponseError):
            # Of another type, perhaps: that is no reason to keep all other jobs waiting.
            return None

    async def release(self, entry: Entry) -> None:
        await self._client.xack(self.name, GROUP, entry.key)

    async def bury(self, entry: Entry, letter: bytes) -> None:
        checked(await self._bury(keys=[self.name, DEAD], args=[GROUP, entry.key, letter, MOST_DEAD]))

    async def beat(self, at_hand: Collection[bytes]) -> Sequence[Entry]:
        await self._make_group()
        if at_hand:
            # What waits here for its turn is no dead worker's.
            await self._client.xclaim(self.name, GROUP, self._worker, 0, list(at_hand), justid=True)
        found: list[Entry] = []
        after: Any = b"0-0"
        while True:
            claimed = await self._client.xautoclaim(
                self.name, GROUP, self._worker, SILENCE_SECONDS * 2000, start_id=after, count=100
            )
            left = _entries([[self.name, claimed[1]]])
            found += [replace(entry, again=True) for entry in left if entry.key not in at_hand]
            after = claimed[0]
            if after in (b"0-0", "0-0"):
                break
        await self._forget_the_dead()
        return found

    async def _forget_the_dead(self) -> None:
        """Consumers that are long gone and owe nothing are no members any more."""
        for consumer in await self._client.xinfo_consumers(self.name, GROUP):
            gone = int(consumer["idle"]) > LONG_GONE_MS and int(consumer["pending"]) == 0
            if gone and consumer["name"] != self._worker.encode():
                await self._client.xgroup_delconsumer(self.name, GROUP, consumer["name"])

    async def leave(self) -> None:
        """What is pending stays so: it is claimed by others after a while, or by us at the next start."""

    async def _make_group(self) -> None:
        try:
            await self._client.xgroup_create(self.name, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def _read_group(self, after: bytes | str, most: int, block: int | None) -> Any:
        return await self._client.xreadgroup(GROUP, self._worker, {self.name: after}, count=most, block=block)


def _entries(answer: Any) -> list[Entry]:
    """What Redis answered, in either shape of its protocol; an entry that was deleted meanwhile is an empty one."""
    streams = answer.items() if isinstance(answer, Mapping) else answer or ()
    found: list[Entry] = []
    for _, batches in streams:
        # The newer protocol puts the entries of a stream into a list of their own.
        entries = batches[0] if len(batches) == 1 and batches and _is_batch(batches[0]) else batches
        found += [Entry(key, _as_json(fields or {})) for key, fields in entries]
    return found


def _is_batch(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list | tuple)


def _as_json(fields: Mapping[bytes, bytes]) -> bytes:
    """The fields as one JSON object; bytes that are no UTF-8 stay what they are, and are refused when they are read."""
    texts = ((name.decode(errors="replace"), value) for name, value in fields.items())
    inner = b",".join(orjson.dumps(name) + b":" + _quoted(value) for name, value in texts)
    return b"{" + inner + b"}"


def _quoted(value: bytes) -> bytes:
    try:
        return orjson.dumps(value.decode())
    except UnicodeDecodeError:
        return b'"' + value + b'"'


class _NoJSON(Exception):
    """Says of a field why its value cannot be read."""


async def _nested(name: str, given: str) -> Unpacked:
    """What the value of a field is as JSON."""
    try:
        if len(given) <= SMALL:
            return Unpacked({name: loads(given.encode())})
        found = await mended(b"{" + orjson.dumps(name) + b":" + given.encode() + b"}", len(given) * 4)
    except NotTaken as refused:
        raise _NoJSON(f"`{name}` cannot be read: {refused.error}") from None
    except TooLarge as error:
        raise _NoJSON(f"`{name}` cannot be read: {error}") from None
    except (ValueError, RecursionError):
        raise _NoJSON(f"`{name}` is no valid JSON.") from None
    if set(found.fields) != {name}:
        raise _NoJSON(f"`{name}` is no valid JSON.")
    return found
