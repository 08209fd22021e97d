"""Work an agent has left running behind its back: commands and sub-agents it started and does not wait for."""

from __future__ import annotations

import re

from laneway.domain.session import EventKind, SessionEvent

_STARTED = re.compile(r"(?i)\b(?:running in (?:the )?background|background).{0,60}?\b(?:id|agentId)[:\s]+([\w-]{2,80})")
_OVER = re.compile(r"(?i)completed|failed|killed|exited|finished|stopped|not found|no longer")
_ENDING = re.compile(r"(?i)(kill_?(shell|bash)|task_?stop|stop_?task|close_agent)")
_MOST = 100


class BackgroundWork:
    """Which of it still runs, as far as the log tells."""

    def __init__(self) -> None:
        self._called: set[str] = set()
        self._running: dict[str, None] = {}
        self._asked: dict[str, str] = {}
        """Calls that look after such work, with the work they ask about."""

    @property
    def running(self) -> bool:
        return bool(self._running)

    def note(self, event: SessionEvent) -> None:
        """What this event starts or ends is known."""
        if event.kind is EventKind.TOOL_CALLED:
            self._call(event)
        elif event.kind is EventKind.TOOL_ENDED and event.call_id in self._called:
            self._called.discard(event.call_id)
            self._start(event)
        elif event.kind is EventKind.ENDED:
            self._running.clear()
        elif self._running and event.text and _OVER.search(event.text):
            self._end(f"{event.text} {self._asked.pop(event.call_id, '')}")

    def _call(self, event: SessionEvent) -> None:
        told = " ".join(str(value)[:200] for value in event.arguments.values()) if self._running else ""
        if _ENDING.fullmatch(event.tool):
            self._end(told)
        elif any(name in told for name in self._running) and len(self._asked) < _MOST:
            self._asked[event.call_id] = told
        elif event.arguments.get("run_in_background") is True and len(self._called) < _MOST:
            self._called.add(event.call_id)

    def _start(self, event: SessionEvent) -> None:
        named = _STARTED.search(event.text)
        if not event.failed and len(self._running) < _MOST:
            self._running[named[1] if named else event.call_id] = None

    def _end(self, text: str) -> None:
        for name in [name for name in self._running if name in text]:
            del self._running[name]
