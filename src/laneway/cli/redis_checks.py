"""What `laneway doctor` says of the queue in Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from laneway.cli.checks import Finding
from laneway.errors import SettingsError
from laneway.settings import Settings

if TYPE_CHECKING:
    from redis.asyncio import Redis

OLDEST = (6, 2)
"""The first version that moves an entry between lists in one step and hands over what dead consumers left."""

MANY_WAITING = 1000


async def queue(settings: Settings) -> AsyncIterator[Finding]:
    """One finding for each thing that jobs from Redis need; none if there is no REDIS_URL."""
    if settings.redis_url is None:
        return
    # Without an address of a Redis, its client is never loaded.
    from laneway.channels.redis_queue.connection import FAULTS, connected, place, told

    url = settings.redis_url.get_secret_value()
    try:
        client = connected(url)
    except SettingsError as error:
        yield Finding("redis", "fail", error.message, error.hint)
        return
    try:
        about = await client.info()
        yield version(place(url), str(about.get("redis_version", "0")))
        yield lasting(about.get("aof_enabled") in (1, "1"), await _saves(client))
        yield await _jobs(client, settings)
    except FAULTS as error:
        advice = "Is it running, and are its password and TLS (rediss://) right in REDIS_URL?"
        yield Finding("redis", "fail", f"Redis at {place(url)} does not answer: {told(error)}", advice)
    finally:
        await client.aclose()
    yield owners(len(settings.redis_owners))


async def _jobs(client: Redis, settings: Settings) -> Finding:
    from laneway.channels.redis_queue.keys import kinds, wrong_kinds

    wrong = await wrong_kinds(client, kinds(settings.redis_jobs, settings.redis_stream, settings.redis_tokens))
    if wrong:
        return keys([one.says for one in wrong])
    return waiting(settings.redis_jobs, await client.llen(settings.redis_jobs), await client.llen("agent:dead"))


async def _saves(client: Redis) -> bool:
    from redis.exceptions import ResponseError

    try:
        return bool((await client.config_get("save")).get("save"))
    except ResponseError:
        # Rented ones do not say; those who rent them out look after that.
        return True


def version(where: str, number: str) -> Finding:
    """Whether it answers, and knows every command that is needed."""
    told = tuple(int(part) for part in number.split(".")[:2] if part.isdigit())
    if told < OLDEST:
        return Finding("redis", "fail", f"Redis at {where} is {number}.", "At least 6.2 is needed.")
    return Finding("redis", "ok", f"It answers at {where} (version {number}).")


def lasting(appends: bool, saves: bool) -> Finding:
    """Whether what it holds outlives it."""
    if appends:
        return Finding("redis keeps", "ok", "Jobs and results outlive a restart of Redis (appendonly).")
    kept = "only what was there at its last snapshot" if saves else "nothing"
    return Finding("redis keeps", "warn", f"After a crash Redis knows {kept}.", "Set `appendonly yes` in its settings.")


def keys(wrong: Sequence[str]) -> Finding:
    """Which keys of ours are of another type than we need."""
    advice = "RENAME it if you need what is in it, else DEL it; what waits goes on by itself."
    return Finding("redis jobs", "fail", " ".join(wrong), advice)


def waiting(name: str, jobs: int, dead: int) -> Finding:
    """How many jobs wait, and how many were none."""
    says = f"{jobs} jobs wait in {name}, {dead} were refused and lie in agent:dead."
    if dead or jobs > MANY_WAITING:
        return Finding("redis jobs", "warn", says, "LRANGE agent:dead 0 -1 tells why; then DEL agent:dead.")
    return Finding("redis jobs", "ok", says)


def owners(known: int) -> Finding:
    """Whose jobs are taken."""
    says = f"{known} workflow owners are people here, and others are refused." if known else (
        "Each workflow_owner is an operator of its own (redis.owners names nobody)."
    )  # fmt: skip
    return Finding("redis owners", "ok", says)
