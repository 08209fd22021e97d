"""TuiRenderer: every event as a line for the terminal, with an icon, a colour, and nothing that could harm it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from laneway.domain.redaction import redacted
from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.calls import Category, category
from laneway.reactors.contract import Continue, Reaction, ReactorContext
from laneway.sandbox.tool_calls import command_of, paths_of

WIDTH = 100
_RESET = "\x1b[0m"
_COLOURS = {"grey": "\x1b[90m", "red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m", "blue": "\x1b[34m",
            "magenta": "\x1b[35m", "cyan": "\x1b[36m", "bold": "\x1b[1m"}  # fmt: skip
_EVENTS = {
    EventKind.STARTED: ("▶", "bold"),
    EventKind.USER: ("›", "bold"),
    EventKind.ASSISTANT: ("●", "cyan"),
    EventKind.THINKING: ("…", "grey"),
    EventKind.ERROR: ("✗", "red"),
    EventKind.COMPACTED: ("⇣", "grey"),
    EventKind.ENDED: ("■", "bold"),
}
_CATEGORIES = {
    Category.READ: ("◇", "blue"),
    Category.WRITE: ("◆", "yellow"),
    Category.EXEC: ("$", "magenta"),
    Category.ASK: ("?", "bold"),
    Category.DELEGATE: ("⇢", "cyan"),
    Category.OTHER: ("·", "grey"),
}
_SPACE = re.compile(r"\s+")
_HIDING = re.compile("[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


class TuiRenderer:
    """Shows each event as it comes; what it shows is never a reaction."""

    name = "tui"

    def __init__(
        self, write: Callable[[str], None], *, colour: bool = True, width: int = WIDTH, label: str = ""
    ) -> None:
        self._write, self._colour, self._width, self._label = write, colour, width, plain(label)

    def handle(self, ctx: ReactorContext) -> Reaction:
        """The event's line was written, if it has one and is no replay that nobody looks at."""
        if ctx.shown or not ctx.replayed:
            told = line(ctx.event, colour=self._colour, width=self._width, label=self._label)
            if told is not None:
                self._write(told)
        return Continue()


def line(event: SessionEvent, *, colour: bool = True, width: int = WIDTH, label: str = "") -> str | None:
    """The event as one line; None for what nobody wants to see: ticks, counters, what went well."""
    told = _told(event)
    if told is None:
        return None
    icon, shade, words = told
    head = f"{event.at:%H:%M:%S} " + (f"{label} " if label else "") + ("  " if event.side else "")
    text = cut(f"{icon} {plain(words)}", max(20, width - len(head)))
    return f"{_COLOURS['grey']}{head}{_COLOURS[shade]}{text}{_RESET}" if colour else head + text


def _told(event: SessionEvent) -> tuple[str, str, str] | None:
    if event.kind is EventKind.TOOL_CALLED:
        kind = category(event.tool, event.arguments)
        icon, shade = _CATEGORIES[kind]
        return icon, shade, f"{kind} {event.tool} {subject(event.arguments)}"
    if event.kind is EventKind.TOOL_ENDED:
        return ("✗", "red", f"failed: {event.text}") if event.failed else None
    if event.kind is EventKind.STARTED:
        return "▶", "bold", f"{event.provider} {event.model} in {event.cwd or 'an unknown folder'}"
    if event.kind not in _EVENTS:
        return None
    icon, shade = _EVENTS[event.kind]
    return icon, shade, event.text or event.kind


def subject(arguments: Mapping[str, Any]) -> str:
    """What a call is about: its command, its files, or its first words; without secrets."""
    found = command_of(arguments) or " ".join(paths_of(arguments)[:3])
    if not found:
        found = next((value for value in arguments.values() if isinstance(value, str) and value.strip()), "")
    return str(redacted(found[:2_000]))


def plain(text: str) -> str:
    """The text on one line, with everything that steers a terminal or hides text made visible or taken out."""
    text = _SPACE.sub(" ", _HIDING.sub("", text[:4_000])).strip()
    return "".join("�" if unicodedata.category(sign) in ("Cc", "Cs", "Co") else sign for sign in text)


def cut(text: str, width: int) -> str:
    """The text no wider than so many columns; what is left out is told by `…`."""
    if sum(map(_columns, text)) <= width:
        return text
    used, kept = 1, []
    for sign in text:
        used += _columns(sign)
        if used > width:
            break
        kept.append(sign)
    return "".join(kept) + "…"


def _columns(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
