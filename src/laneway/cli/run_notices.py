"""Tells people elsewhere what `laneway run` sees, from a thread of its own: the run waits for nobody."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.observe.notify import Notice
    from laneway.observe.supervised.watching import Alarm
    from laneway.settings import Settings

_SECONDS = 8.0
"""How long the end of the run waits for notices that are under way."""


class RunNotices:
    """Notices by the desktop, a webhook and a channel; the run itself rings the bell."""

    def __init__(self, settings: Settings, folder: str) -> None:
        self._settings, self._folder = settings, folder
        self._queue: queue.SimpleQueue[Notice | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def put(self, alarm: Alarm) -> None:
        """The notice is on its way, if the reaction calls for one."""
        notice = _notice(alarm, self._folder)
        if notice is None:
            return
        self._queue.put(notice)
        if self._thread is None:
            # Not before it is needed: the agent is started by a fork, which no other thread should see.
            self._thread = threading.Thread(target=asyncio.run, args=(self._tell(),), daemon=True, name="notices")
            self._thread.start()

    def close(self) -> None:
        """Everything has been told that can be told in a few seconds."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(_SECONDS)

    async def _tell(self) -> None:
        from laneway.cli.notices import telling

        wanted = frozenset(self._settings.notify_by) - {"bell"}
        async with telling(self._settings, wanted, lambda trouble: None) as notifier:
            while (notice := await asyncio.to_thread(self._queue.get)) is not None:
                notifier.put(notice)


def _notice(alarm: Alarm, folder: str) -> Notice | None:
    from laneway.observe.notify import hash_of, notice_about, said_words

    event, said = alarm.event, alarm.said
    key = hash_of(event.provider, event.session_id, event.offset, said.reactor, said_words(said))
    return notice_about(event, said, folder, key)
