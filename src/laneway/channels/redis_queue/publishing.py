"""Puts results into Redis, each exactly once.

A result and its marker are written by one script, which nothing comes in between of and which writes only if all of its
keys can be written: if the marker names the reply, that is or was there, too. So a result whose record was cut off by a
crash is simply sent again, and Redis says that it has it. The marker outlives the result, and every outage that an
unsent result outlives.
"""

from __future__ import annotations

import logging
from typing import Any

from redis.asyncio import Redis

from laneway.channels.redis_queue.connection import FAULTS, told
from laneway.channels.redis_queue.keys import OTHER, WrongKind, checked
from laneway.channels.redis_queue.tokens import SIGNALS
from laneway.errors import TransientFault
from laneway.lanes.pipeline.lines import dumps

MARKER_SECONDS = 14 * 86_400
# The marker comes after what it stands for: what Redis refuses for a reason we do not know must not look done.
_PUBLISH = (
    OTHER
    + """
local wrong = other(KEYS[2], 'string')
if wrong then return wrong end
if redis.call('GET', KEYS[2]) == ARGV[4] then return 0 end
wrong = other(KEYS[1], 'list') or (KEYS[3] and other(KEYS[3], 'list'))
if wrong then return wrong end
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], ARGV[1])
if KEYS[3] then redis.call('RPUSH', KEYS[3], ARGV[5]) end
redis.call('SET', KEYS[2], ARGV[4], 'EX', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""
)
_log = logging.getLogger("laneway.redis")


class Publisher:
    """The way of a result into Redis."""

    def __init__(self, client: Redis, keep_seconds: int) -> None:
        self._keep_seconds = keep_seconds
        self._publish = client.register_script(_PUBLISH)

    async def publish(self, result: dict[str, Any], signal: dict[str, Any] | None, once: str) -> bool:
        """The result is the only one that lies there; False if it was published before, as `once` says.

        TransientFault: nobody knows, and it may be sent again.
        """
        keys = [
            f"agent:results:{result['job_id']}",
            f"agent:published:{result['job_id']}",
            *([SIGNALS] if signal else []),
        ]
        marker_seconds = max(MARKER_SECONDS, self._keep_seconds)
        values: list[bytes | int | str] = [
            dumps(result),
            self._keep_seconds,
            marker_seconds,
            once,
            *([dumps(signal)] if signal else []),
        ]
        try:
            return checked(await self._publish(keys=keys, args=values))
        except WrongKind as error:
            _log.warning("A result waits, and is tried again later: %s", told(error))
            raise TransientFault(f"Redis cannot take the result: {told(error)}") from error
        except FAULTS as error:
            raise TransientFault(f"Redis did not take the result of {result['job_id']}: {told(error)}") from error
