"""After a denial: follows the session's log until it tells what became of the call."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from laneway.domain.session import SessionEvent
from laneway.observe.hooks.denied import DeniedCall, DeniedCalls
from laneway.observe.reading import Reading
from laneway.observe.tail import DocumentTail

LONGEST = timedelta(minutes=10)
"""By then the agent has written down how the call ended, or never will."""
_BACK = 262_144
"""Bytes before the denial that are read again: the call itself stands there."""
_MOST_BYTES, _MOST_FILES = 8 << 20, 50


class LogEnd:
    """The end of a log of lines, read on as it grows; a piece is read at a time, however long the log is."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reading = Reading(path, wanted=True)
        self._at: int | None = None

    def read(self) -> list[SessionEvent]:
        """The events written since the last time."""
        try:
            # Never a pipe or a device, whatever the hook called its log.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            return []
        with os.fdopen(descriptor, "rb") as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode):
                return []
            if self._at is None or state.st_size < self._at:
                self._at = max(0, state.st_size - _BACK)
                self._reading = Reading(self._path, wanted=True)
            file.seek(self._at)
            piece = file.read(_MOST_BYTES)
            self._at += len(piece)
        self._reading.feed(piece)
        return self._reading.take()


@dataclass(slots=True)
class _Followed:
    log: LogEnd | DocumentTail
    until: datetime
    calls: list[DeniedCall] = field(default_factory=list)


class Following:
    """The logs of sessions with denied calls, each followed until its calls have ended."""

    def __init__(self, denied: DeniedCalls, alarm: Callable[[DeniedCall], None], every: float = 0.5) -> None:
        self._denied, self._alarm, self._every = denied, alarm, every
        self._logs: dict[Path, _Followed] = {}
        self._wake = asyncio.Event()

    def add(self, call: DeniedCall, transcript: str, now: datetime) -> None:
        """The call's log is looked at from now on; a sub-agent has one of its own beside its session's."""
        for path in _logs_of(call, transcript):
            if path not in self._logs and len(self._logs) >= _MOST_FILES:
                continue
            document = path.suffix == ".json"
            followed = self._logs.setdefault(path, _Followed(DocumentTail(path) if document else LogEnd(path), now))
            followed.until = now + LONGEST
            followed.calls.append(call)
            self._wake.set()

    async def keep_following(self, now: Callable[[], datetime]) -> None:
        """The logs are read as they grow, for ever."""
        while True:
            await self._wake.wait()
            while self._logs:
                await self.look(now())
                await asyncio.sleep(self._every)
            self._wake.clear()

    async def look(self, now: datetime) -> None:
        """What the logs say by now is known; a call that ran is alarmed about."""
        for path, followed in list(self._logs.items()):
            for event in await asyncio.to_thread(followed.log.read):
                ran = self._denied.which_ran(event)
                if ran is not None:
                    self._alarm(ran)
            followed.calls = [call for call in followed.calls if self._denied.waiting(call)]
            if not followed.calls or now > followed.until:
                self._logs.pop(path, None)


def _logs_of(call: DeniedCall, transcript: str) -> Iterator[Path]:
    if not transcript.startswith("/") or not transcript.endswith((".jsonl", ".json")):
        return
    path = Path(transcript)
    yield path
    if call.sub_agent and call.sub_agent.replace("-", "").isalnum():
        yield path.with_suffix("") / "subagents" / f"agent-{call.sub_agent}.jsonl"
