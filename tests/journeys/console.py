"""`laneway workflow …` as a user types it, against the Laneway of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.cli import in_process
from tests.web.conftest import Door

Console = Callable[..., Awaitable[str]]


def console(door: Door, home: Path) -> Console:
    """Runs the command and gives what it prints; of one that fails, its complaint too."""

    async def laneway(*words: str, given: str = "", code: int = 0) -> str:
        environ = {"LANEWAY_URL": door.url, "LANEWAY_KEY": door.key, "PATH": "/usr/bin:/bin", "LANEWAY_HOME": str(home)}
        ended = await asyncio.to_thread(in_process.run, ("workflow", *words), given, home, environ)
        assert ended.returncode == code, (ended.stdout, ended.stderr)
        return ended.stdout + (ended.stderr if code else "")

    return laneway
