"""`laneway watch` while it runs: the sessions, the screen, and what is done about reactions."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Literal

from laneway.cli.lifetime import Ending
from laneway.cli.notices import telling
from laneway.cli.watch_board import Board
from laneway.cli.watch_lines import JsonLines, Lines, Printed, is_kill
from laneway.observe.changes import Changes
from laneway.observe.discovery import Found, discover, found_at, roots
from laneway.observe.notify import Notifier, notice_of
from laneway.observe.plug import pull
from laneway.observe.watched import Mark, Seen
from laneway.observe.watching import Bounds, Watching, Which, keep_watching
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from laneway.settings import Settings


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asked for."""

    provider: str | None
    session: str | None
    side: bool
    form: Literal["lines", "json", "tui"]
    ways: frozenset[str]
    poll: bool


Screen = Lines | JsonLines | Board
_AGES = timedelta(days=36_500)
"""A file that was named is open however old it is."""


async def live(settings: Settings, asked: Asked, options: Options) -> int:
    """It has watched until somebody asked for the end, or nobody read what it wrote; returns the exit code."""
    find, folders = _places(asked)
    with ExitStack() as stack, Ending(lambda: None).heard() as ending:
        out = Printed(sys.stdout)
        screen = _screen(asked, out, stack)
        complain = screen.complain if isinstance(screen, Board) else _complain
        async with telling(settings, asked.ways, complain) as notifier:
            acting = Acting(screen, notifier)
            make = screen.reactors(lambda _: shipped(options))
            file = _is_file(asked.session)
            which = Which(asked.provider, None if file else asked.session)
            watching = acting.watching = Watching(
                find, make, acting.hear, which=which, bounds=Bounds(recent=_AGES, rest=_AGES) if file else None,
                marks=_recorded if file else lambda _: None, runs=settings.home / "runs",
            )  # fmt: skip
            await asyncio.to_thread(watching.begin)
            _greet(asked, watching)

            async def after() -> None:
                if isinstance(screen, Board):
                    screen.draw(watching.shown(), watching.clock.now())
                if out.closed:
                    ending.end()

            changes = Changes(folders, polling=asked.poll, complain=complain)
            work = asyncio.create_task(keep_watching(watching, changes, after))
            asking = asyncio.create_task(ending.wait())
            await asyncio.wait([work, asking], return_when=asyncio.FIRST_COMPLETED)
            for task in (work, asking):
                task.cancel()
            failed, _ = await asyncio.gather(work, asking, return_exceptions=True)
            if isinstance(failed, Exception):
                raise failed
    return ending.exit_code


class Acting:
    """Does what a reaction calls for: shows it, tells people, pulls the plug."""

    def __init__(self, screen: Screen, notifier: Notifier) -> None:
        self.watching: Watching | None = None
        self._screen, self._notifier = screen, notifier
        self._pulling: set[int] = set()
        self._loop = asyncio.get_running_loop()

    def hear(self, seen: Seen) -> None:
        """Called by the thread that reads, for everything that happens."""
        if not seen.past or seen.session.mark.shown:
            self._screen.hear(seen)
        if seen.past:
            return
        for said in seen.said:
            notice = notice_of(seen, said)
            if notice is not None:
                self._notifier.put(notice)
        if any(is_kill(said) for said in seen.said) and id(seen.session) not in self._pulling:
            self._pulling.add(id(seen.session))
            asyncio.run_coroutine_threadsafe(self._pull(seen), self._loop)

    async def _pull(self, seen: Seen) -> None:
        others = [] if self.watching is None else self.watching.shown()
        pulled = await asyncio.to_thread(pull, seen.session, others)
        self._screen.note(seen, pulled.text)
        if pulled.ended and self.watching is not None:
            self.watching.note_ended(seen.session)
        self._pulling.discard(id(seen.session))


def _screen(asked: Asked, out: Printed, stack: ExitStack) -> Screen:
    if asked.form == "json":
        return JsonLines(out, side=asked.side)
    if asked.form == "lines":
        terminal = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if terminal else 160
        colour = terminal and not os.environ.get("NO_COLOR")
        return Lines(out, colour=colour, width=width, side=asked.side)
    from rich.console import Console

    return stack.enter_context(Board(Console(highlight=False), side=asked.side))


def _greet(asked: Asked, watching: Watching) -> None:
    if asked.form != "tui":
        several = f"{len(watching.sessions)} sessions, {len(watching.pending)} of them at work lately"
        what = f"{asked.session} from its beginning" if _is_file(asked.session) else several
        print(f"Watching {what}. Ctrl-C ends.", file=sys.stderr, flush=True)


def _is_file(session: str | None) -> bool:
    return session is not None and Path(session).is_file()


def _places(asked: Asked) -> tuple[Callable[[], Iterable[Found]], Callable[[], list[Path]]]:
    """How sessions are found, and the folders in which they change."""
    if asked.session is not None and _is_file(asked.session):
        path = Path(asked.session).absolute()
        return partial(found_at, "", path), lambda: [path.parent]
    folders = [
        folder for name, several in roots(os.environ).items() if asked.provider in (None, name) for folder in several
    ]
    return partial(discover, os.environ, asked.provider), lambda: folders


def _recorded(found: Found) -> Mark:
    """What the file holds by now is shown, and nobody is told of it."""
    return Mark(found.size, stale=found.changed_at, until=datetime.now(UTC), shown=True)


def _complain(trouble: str) -> None:
    print(trouble, file=sys.stderr, flush=True)
