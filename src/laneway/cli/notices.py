"""The ways in which a command tells people what a reactor found, as the settings and this machine allow."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from laneway.errors import LanewayError
from laneway.observe.notify import ByChannel, Notice, Notifier, Pace, Tell, Way
from laneway.observe.ways import Bell, ways_of
from laneway.settings import Settings


@asynccontextmanager
async def telling(
    settings: Settings, wanted: frozenset[str], complain: Callable[[str], None]
) -> AsyncIterator[Notifier]:
    """Notices are given while the block lasts, and those that wait at its end, too, if it does not take long."""
    notifier = Notifier(ways(settings, wanted), Pace(settings.notify_per_minute), complain)
    task = asyncio.create_task(notifier.keep_telling(), name="notices")
    try:
        yield notifier
        await notifier.finish(5)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def ways(settings: Settings, wanted: frozenset[str]) -> list[Way]:
    """Those of the wanted ways that are there."""
    found = ways_of(settings, wanted)
    if "bell" in wanted and sys.stderr.isatty():
        found.append(Bell(_ring))
    if "channel" in wanted and (send := _server()) is not None:
        found.append(ByChannel(send))
    return found


def _server() -> Tell | None:
    """Sends a notice to the server, which tells the owner; None if there is no server to be found."""
    from laneway.cli.connection import connect

    try:
        client = connect()
    except LanewayError:
        return None

    async def send(notice: Notice) -> None:
        await asyncio.to_thread(client.notice, notice.line, notice.key)

    return send


def _ring(sign: str) -> None:
    sys.stderr.write(sign)
    sys.stderr.flush()
