"""Puts results into Redis, each exactly once.

A result and its marker are written by one script, which Redis runs as a whole or not at all: if the marker is there,
the result is or was there, too. So a result whose record was cut off by a crash is simply sent again, and Redis says
that it has it. The marker outlives the result, and every outage that an unsent result outlives.
"""

from __future__ import annotations

from typing import Any

import orjson
from redis.asyncio import Redis

from laneway.channels.redis_queue.connection import FAULTS, told
from laneway.channels.redis_queue.tokens import SIGNALS
from laneway.errors import TransientFault

MARKER_SECONDS = 14 * 86_400
_PUBLISH = """
if not redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[3]) then return 0 end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
if KEYS[3] then redis.call('RPUSH', KEYS[3], ARGV[4]) end
return 1
"""


class Publisher:
    """The way of a result into Redis."""

    def __init__(self, client: Redis, keep_seconds: int) -> None:
        self._keep_seconds = keep_seconds
        self._publish = client.register_script(_PUBLISH)

    async def publish(self, result: dict[str, Any], signal: dict[str, Any] | None) -> bool:
        """The result is in Redis; False if it was already. TransientFault: nobody knows, and it may be sent again."""
        keys = [
            f"agent:results:{result['job_id']}",
            f"agent:published:{result['job_id']}",
            *([SIGNALS] if signal else []),
        ]
        marker_seconds = max(MARKER_SECONDS, self._keep_seconds)
        values: list[bytes | int] = [
            orjson.dumps(result),
            self._keep_seconds,
            marker_seconds,
            *([orjson.dumps(signal)] if signal else []),
        ]
        try:
            return bool(await self._publish(keys=keys, args=values))
        except FAULTS as error:
            raise TransientFault(f"Redis did not take the result of {result['job_id']}: {told(error)}") from error
