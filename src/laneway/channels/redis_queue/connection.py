"""The client of Redis: how it is made, what may go wrong with it, and how its place is told without its password."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from laneway.errors import SettingsError

FAULTS = (RedisError, OSError, TimeoutError)
"""Everything that Redis, or the way to it, may do to us."""

BLOCK_SECONDS = 1.0
"""How long Redis holds a question for a job; an answer takes at most a little longer."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0
"""How long it is waited before Redis is asked again what it refused: twice as long every time."""

SCHEMES = ("redis", "rediss", "unix")


def connected(url: str) -> Redis:
    """A client that connects when it is first asked; SettingsError if the address is none, without repeating it."""
    if urlsplit(url).scheme not in SCHEMES:
        raise SettingsError(
            "REDIS_URL must begin with redis://, rediss:// or unix://.", hint="redis://:PASSWORD@HOST:6379/0"
        )
    options: dict[str, Any] = {
        "socket_timeout": 10.0, "socket_connect_timeout": 5.0, "health_check_interval": 15, "client_name": "laneway",
        # An answer that was lost is looked for by us: asked again behind our back, a job would lie about unseen.
        "retry": Retry(NoBackoff(), 0),
    }  # fmt: skip
    try:
        return Redis.from_url(url, **options)
    except (ValueError, RedisError):
        raise SettingsError("REDIS_URL is no address of a Redis.", hint="redis://:PASSWORD@HOST:6379/0") from None


def place(url: str) -> str:
    """Where Redis is, without anything secret."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path
    try:
        port = parts.port
    except ValueError:
        port = None
    return f"{parts.hostname or 'localhost'}:{port or 6379}"


def told(error: BaseException) -> str:
    """What went wrong, in a few words; the client names hosts and never passwords."""
    words = " ".join(str(error).split())[:200].rstrip(".")
    return f"{words or type(error).__name__}."
