"""CostOptimizer: points out cheaper ways. It warns only, and of each thing once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.domain.session import EventKind, SessionEvent
from laneway.reactors.calls import Category, category
from laneway.reactors.contract import Continue, Reaction, ReactorContext, Warn
from laneway.reactors.tui_renderer import cut, plain
from laneway.sandbox.tool_calls import command_of, paths_of

LARGE_TOKENS = 4_000
LARGE_CHARACTERS = 1_900
"""Nearly all an event keeps of a result: a result this long was cut, or almost."""
TRIVIAL_TURNS = 5
BIG_MODEL = re.compile(r"(?i)opus|fable|gpt-5(?!.*(mini|nano|spark))|\bo[13](-pro)?$|gemini.*\bpro\b|grok-[4-9]")
_PARTS = {"offset", "limit", "start_line", "end_line", "line_start", "line_end", "view_range", "pages", "range"}
_CAT = re.compile(r"\s*cat\s+([^\s|;&<>$`*]+)\s*(\|\s*(grep|head|tail|wc|sed -n)\b.*)?\s*", re.DOTALL)


@dataclass(slots=True)
class _Turn:
    calls: int = 0
    output: int = 0


class CostOptimizer:
    """Watches for whole files read twice, `cat` where a search would do, and a big model for small turns."""

    name = "cheaper"

    def __init__(self, *, trivial_output: int = 300) -> None:
        self._trivial_output = trivial_output
        self._open: dict[str, str] = {}
        self._large: set[str] = set()
        self._just_read: str | None = None
        self._context: int | None = None
        self._turn, self._small_turns = _Turn(), 0
        self._told: set[str] = set()

    def handle(self, ctx: ReactorContext) -> Reaction:
        """A cheaper way, if this event shows one."""
        event = ctx.event
        if event.kind is EventKind.TOOL_CALLED:
            self._turn.calls += not event.side
            return self._called(event)
        if event.kind is EventKind.TOOL_ENDED:
            self._ended(event)
        elif event.kind is EventKind.TOKENS and not event.side:
            self._counted(event)
        if event.turn_ended and not event.side:
            return self._turned(event.model or ctx.state.model)
        return Continue()

    def _called(self, event: SessionEvent) -> Reaction:
        paths = paths_of(event.arguments)
        if category(event.tool, event.arguments) is Category.WRITE:
            self._large.difference_update(paths)
            return Continue()
        command = command_of(event.arguments)
        cat = _CAT.fullmatch(command) if command else None
        if cat is not None and cat[2]:
            return self._once(
                f"pipe {cat[1]}", f"`{cat[3]}` can read {_shown(cat[1])} itself; `cat` before it is a step more."
            )
        whole = cat[1] if cat is not None else self._whole(event, paths)
        if whole is None:
            return Continue()
        if whole in self._large:
            return self._once(
                f"again {whole}",
                f"{_shown(whole)} is large and is read whole again: a search (grep) or a part would do.",
            )
        self._open[event.call_id] = whole
        return Continue()

    def _whole(self, event: SessionEvent, paths: list[str]) -> str | None:
        reads = category(event.tool, event.arguments) is Category.READ and re.search(r"(?i)read|view|open", event.tool)
        return paths[0] if reads and len(paths) == 1 and not _PARTS & set(event.arguments) else None

    def _ended(self, event: SessionEvent) -> None:
        path = self._open.pop(event.call_id, None)
        self._just_read = path
        if path is not None and not event.failed and len(event.text) >= LARGE_CHARACTERS:
            self._large.add(path)

    def _counted(self, event: SessionEvent) -> None:
        """How much a file has put into the context tells its size better than the beginning of its text."""
        self._turn.output += event.tokens.output
        if event.context_used is None:
            return
        if self._just_read is not None and self._context is not None:
            if event.context_used - self._context >= LARGE_TOKENS:
                self._large.add(self._just_read)
            else:
                self._large.discard(self._just_read)
        self._context, self._just_read = event.context_used, None

    def _turned(self, model: str) -> Reaction:
        trivial = self._turn.calls <= 1 and 0 < self._turn.output <= self._trivial_output
        self._small_turns = self._small_turns + 1 if trivial else 0
        self._turn = _Turn()
        if self._small_turns < TRIVIAL_TURNS or not BIG_MODEL.search(model):
            return Continue()
        return self._once(
            f"model {model}",
            f"The last {TRIVIAL_TURNS} turns were small: a smaller model than {_shown(model)} would do.",
        )

    def _once(self, what: str, told: str) -> Reaction:
        if what in self._told or len(self._told) > 200:
            return Continue()
        self._told.add(what)
        return Warn(told)


def _shown(name: str) -> str:
    return cut(plain(name), 80)
