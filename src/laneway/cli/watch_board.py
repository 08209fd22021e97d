"""`laneway watch --tui`: all open sessions in one table that fills the screen, and what reactors said below it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from laneway.cli.printing import lasting
from laneway.cli.watch_lines import Make, reaction_line, weight
from laneway.domain.session import SessionState
from laneway.observe.watched import Seen, Watched
from laneway.reactors.tui_renderer import line, plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

_STYLES = {"warning": "yellow", "notification": "bold red", "kill": "bold white on red"}
_LAST = 8
"""Reactions that stay in view."""


class Board:
    """The screen while it is up. It is drawn anew at most four times a second, and only by the one who calls `draw`."""

    def __init__(self, console: Console, *, side: bool) -> None:
        self._console, self._side = console, side
        self._reactions: deque[tuple[str, str]] = deque(maxlen=_LAST)
        self._counts: dict[int, tuple[int, str]] = {}
        """By session: how often reactors spoke, and the weight of the last time."""
        self._live: Live | None = None
        self._drawn = 0.0

    def __enter__(self) -> Board:
        from rich.live import Live

        self._live = Live(
            console=self._console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.__exit__(None, None, None)

    def reactors(self, make: Make) -> Make:
        return make

    def hear(self, seen: Seen) -> None:
        """Reactions are counted and stay in view for a while."""
        for said in seen.said:
            count, _ = self._counts.get(id(seen.session), (0, ""))
            self._counts[id(seen.session)] = count + 1, weight(said)
            self._reactions.append((reaction_line(seen, said, colour=False, width=self._console.width), weight(said)))

    def note(self, seen: Seen, text: str) -> None:
        self._reactions.append((f"{seen.event.at:%H:%M:%S} {seen.session.label} ■ {plain(text)}", "kill"))

    def complain(self, trouble: str) -> None:
        """What does not work is in view, too: standard error would spoil the screen."""
        self._reactions.append((plain(trouble), "warning"))

    def draw(self, sessions: Sequence[Watched], now: datetime) -> None:
        """The screen shows the sessions as they are, unless it did a moment ago."""
        if self._live is not None and time.monotonic() - self._drawn >= 0.25:
            self._drawn = time.monotonic()
            self._live.update(self.picture(sessions, now), refresh=True)

    def picture(self, sessions: Sequence[Watched], now: datetime) -> RenderableType:
        """The whole screen; sessions that do not fit are counted."""
        from rich.console import Group
        from rich.text import Text

        shown = [session for session in sessions if self._side or not session.found.side]
        fits = max(1, self._console.height - 6 - len(self._reactions))
        more = len(shown) - fits
        parts: list[RenderableType] = [self._table(shown[:fits], now)]
        if more > 0:
            parts.append(Text(f"… and {more} more", style="bright_black"))
        parts += [Text(text, style=_STYLES[kind], no_wrap=True, overflow="ellipsis") for text, kind in self._reactions]
        parts.append(Text(f"{len(shown)} sessions · {now.astimezone():%H:%M:%S} · Ctrl-C ends", style="bright_black"))
        return Group(*parts)

    def _table(self, sessions: Sequence[Watched], now: datetime) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        table = Table(expand=True, box=None, pad_edge=False, header_style="bold")
        for title in ("session", "folder", "state"):
            table.add_column(title, no_wrap=True, overflow="ellipsis", max_width=30)
        for title in ("tokens", "cost"):
            table.add_column(title, no_wrap=True, justify="right")
        table.add_column("last", no_wrap=True, overflow="ellipsis", ratio=1)
        table.add_column("reactions", no_wrap=True, justify="right")
        for session in sessions:
            if session.state is not None:
                # As Text, or what an agent wrote in brackets would be taken for a style.
                table.add_row(*map(Text, self._row(session, session.state, now)), self._said(session))
        return table

    def _row(self, session: Watched, state: SessionState, now: datetime) -> tuple[str, ...]:
        folder = state.cwd.rstrip("/").rpartition("/")[2]
        return (
            f"{session.found.provider} {session.label}",
            plain(folder),
            doing(state, now),
            tokens(state.tokens.total),
            f"${state.cost:.2f}",
            _last(session),
        )

    def _said(self, session: Watched) -> RenderableType:
        from rich.text import Text

        count, kind = self._counts.get(id(session), (0, ""))
        return Text(str(count) if count else "", style=_STYLES.get(kind, ""))


def doing(state: SessionState, now: datetime) -> str:
    """What a session is at, and since when if it is silent."""
    quiet = 0.0 if state.last_activity is None else (now - state.last_activity).total_seconds()
    silent = f" {lasting(quiet * 1000)}" if quiet >= 10 else ""
    if state.ended:
        return "ended"
    if state.open_calls:
        return plain(f"in {next(iter(state.open_calls.values())).tool}")[:20] + silent
    return ("waits for you" if state.waiting else "working") + silent


def tokens(count: int) -> str:
    """A count as people read it."""
    if count < 1_000:
        return str(count)
    return f"{count / 1_000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def _last(session: Watched) -> str:
    told = None if session.last is None else line(session.last, colour=False, width=200)
    return "" if told is None else told[9:].strip()
