"""What `laneway watch` prints: a line for each event and each reaction, or JSON."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TextIO

from laneway.observe.notify import said_words
from laneway.observe.watched import Seen, Watched
from laneway.reactors import Reactor, Said, Severity, Warn
from laneway.reactors.tui_renderer import TuiRenderer, cut, plain, subject

Make = Callable[[Watched], Sequence[Reactor]]
_RED, _YELLOW, _GREY, _RESET = "\x1b[1;31m", "\x1b[33m", "\x1b[90m", "\x1b[0m"


class Printed:
    """Writes to a stream that may be closed by whoever reads it; then `closed` says so, and nothing breaks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self.closed = stream, False

    def __call__(self, line: str) -> None:
        if self.closed:
            return
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self.closed = True
            # Python would complain at its end that it cannot flush.
            if self._stream is sys.stdout:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Lines:
    """For people: the events as TuiRenderer shows them, and the reactions to them right below."""

    def __init__(self, write: Callable[[str], None], *, colour: bool, width: int, side: bool) -> None:
        self._write, self._colour, self._width, self._side = write, colour, width, side

    def reactors(self, make: Make) -> Make:
        """The same reactors, with one before them that shows the events; sub-agents' only if they are wanted."""

        def made(session: Watched) -> Sequence[Reactor]:
            shows = self._side or not session.found.side
            screen = TuiRenderer(self._write, colour=self._colour, width=self._width, label=session.label)
            return [*([screen] if shows else []), *make(session)]

        return made

    def hear(self, seen: Seen) -> None:
        """The reactions are shown; the event itself was, by its reactor."""
        for said in seen.said:
            self._write(reaction_line(seen, said, colour=self._colour, width=self._width))

    def note(self, seen: Seen, text: str) -> None:
        """What was done about a reaction is shown below it."""
        line = f"{seen.event.at:%H:%M:%S} {seen.session.label} ■ {plain(text)}"
        self._write(f"{_RED}{line}{_RESET}" if self._colour else line)


def reaction_line(seen: Seen, said: Said, *, colour: bool = True, width: int = 100) -> str:
    """A reaction as one line, with the reactor that said it; longer than others, since it is what matters."""
    head = f"{seen.event.at:%H:%M:%S} {seen.session.label} "
    mark = {"warning": "⚠", "notification": "▲", "kill": "■"}[weight(said)]
    text = cut(f"{mark} {plain(said.reactor)}: {plain(said_words(said))}", max(40, 2 * width - len(head)))
    if not colour:
        return head + text
    return f"{_GREY}{head}{_YELLOW if isinstance(said.reaction, Warn) else _RED}{text}{_RESET}"


def weight(said: Said) -> str:
    """How much a reaction weighs: warning, notification or kill."""
    return "warning" if isinstance(said.reaction, Warn) else str(said.reaction.severity)


class JsonLines:
    """For programs: one object a line for each event, then one for each reaction to it."""

    def __init__(self, write: Callable[[str], None], *, side: bool) -> None:
        self._write, self._side = write, side

    def reactors(self, make: Make) -> Make:
        return make

    def hear(self, seen: Seen) -> None:
        wanted = self._side or not seen.session.found.side
        if wanted and seen.event.kind != "tick":
            self._say(_event(seen))
        for said in seen.said:
            told = {"reaction": weight(said), "reactor": said.reactor, "text": said_words(said)}
            self._say(_whose(seen) | told)

    def note(self, seen: Seen, text: str) -> None:
        self._say(_whose(seen) | {"done": text})

    def _say(self, told: dict[str, Any]) -> None:
        self._write(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace").decode())


def _whose(seen: Seen) -> dict[str, Any]:
    event = seen.event
    return {"at": event.at.isoformat(), "provider": event.provider, "session": event.session_id}


def _event(seen: Seen) -> dict[str, Any]:
    event = seen.event
    told = {
        "event": str(event.kind), "text": event.text, "tool": event.tool, "about": subject(event.arguments),
        "failed": event.failed, "tokens": event.tokens.total, "cost": None if event.cost is None else float(event.cost),
        "sub_agent": seen.session.found.side or event.side,
    }  # fmt: skip
    return _whose(seen) | {name: value for name, value in told.items() if value}


def is_kill(said: Said) -> bool:
    """Whether the reactor wants the session ended."""
    return not isinstance(said.reaction, Warn) and said.reaction.severity is Severity.KILL
