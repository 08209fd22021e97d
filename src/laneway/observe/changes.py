"""Says which files changed: told by the system (watchfiles), else by nobody, and then one has to look."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import watchfiles

PULSE = 0.5
"""Seconds after which one looks up although nobody said anything."""
_MOST = 8_192
"""Paths that are kept apart; when more change at once, one has to look at everything."""
_log = logging.getLogger("laneway.observe.changes")
Place = tuple[Path, int, int]


class Changes:
    """Collects what changes below some folders. Folders may appear and vanish while it does."""

    def __init__(
        self, folders: Callable[[], Collection[Path]], *, polling: bool = False,
        complain: Callable[[str], None] = _log.warning,
    ) -> None:  # fmt: skip
        self.polling = polling
        """Whether nobody tells us; set by itself when the system cannot."""
        self._folders, self._complain = folders, complain
        self._changed: set[Path] = set()
        self._news = asyncio.Event()

    @asynccontextmanager
    async def heard(self) -> AsyncIterator[Changes]:
        """Changes are collected while the block lasts."""
        task = asyncio.create_task(self._listen(), name="watchfiles")
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def take(self, seconds: float) -> set[Path]:
        """What changed since the last time; waits so long for something to."""
        if seconds > 0 and not self._changed:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()
        self._news.clear()
        taken, self._changed = self._changed, set()
        return taken

    async def _listen(self) -> None:
        while not self.polling:
            places = self._places()
            if not places:
                await asyncio.sleep(PULSE)
                continue
            try:
                await self._hear(places)
            except FileNotFoundError:
                # Gone between being seen and being watched.
                await asyncio.sleep(PULSE)
            except (OSError, RuntimeError) as error:
                # No watches left (fs.inotify.max_user_watches), or no instances, which watchfiles calls RuntimeError.
                self.polling = True
                self._complain(f"The system cannot tell which files change, so they are looked at: {str(error)[:200]}")

    async def _hear(self, places: list[Place]) -> None:
        """Returns when other folders are there than these."""
        told = watchfiles.awatch(
            *(place[0] for place in places), watch_filter=None, debounce=200, step=50, rust_timeout=1000,
            yield_on_timeout=True,
        )  # fmt: skip
        # Not with `ignore_permission_denied`: that would hide that there are no watches left, too.
        unseen = {place[0] for place in places}
        self._say(unseen)
        async for changes in told:
            # What happened before somebody listened has to be looked for once they do.
            self._say({Path(path) for _, path in changes} | unseen)
            unseen = set()
            if not changes and self._places() != places:
                return

    def _say(self, paths: set[Path]) -> None:
        self._changed |= paths
        if len(self._changed) > _MOST:
            self._changed = {place[0] for place in self._places()}
        if self._changed:
            self._news.set()

    def _places(self) -> list[Place]:
        """The folders there are, each with what tells it from another of the same name."""
        found: list[Place] = []
        for folder in self._folders():
            with suppress(OSError):
                state = folder.stat()
                found.append((folder, state.st_dev, state.st_ino))
        return found
