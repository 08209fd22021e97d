"""Forks and sub-agents of Codex: what a file copied from its parent, and what is its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from laneway.domain.session import NO_TOKENS, Tokens
from laneway.observe.strict_json import Record, as_record, as_text, counted


class Usage(NamedTuple):
    """The counter of a file: it only grows, until it starts again."""

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    def since(self, before: Usage) -> Tokens:
        """The increase from one reading of the counter to the next; a counter that fell has started again."""
        if self.input < before.input or self.output < before.output:
            before = Usage()
        step = Usage(*(later - earlier for later, earlier in zip(self, before, strict=True)))
        return step.tokens

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.input - self.cached, self.output, self.cached, self.cache_write, self.reasoning)


def usage_of(fields: Any) -> Usage | None:
    """The counter as a record shows it; None if it shows none."""
    if type(fields) is not dict:
        return None
    return Usage(
        counted(fields.get("input_tokens")),
        counted(fields.get("cached_input_tokens")),
        counted(fields.get("cache_write_input_tokens")),
        counted(fields.get("output_tokens")),
        counted(fields.get("reasoning_output_tokens")),
    )


def parents_of(meta: Record) -> tuple[str, ...]:
    """The ids of the sessions this one says it was forked from or spawned by."""
    spawned = as_record(as_record(as_record(meta.get("source")).get("subagent")).get("thread_spawn"))
    named = (meta.get("forked_from_id"), meta.get("parent_thread_id"), spawned.get("parent_thread_id"))
    return tuple(dict.fromkeys(name for name in named if type(name) is str and name))


class Own(NamedTuple):
    """What a fork did itself."""

    tokens: Tokens
    user_turns: int | None
    """None where the log has no turn ids."""


Turns = tuple[int, int, int]
"""User turns counted so far, by the three ways in which a log tells them."""


class Lineage:
    """The token counts and turn ids of one file in their order, to lay beside its parent's."""

    def __init__(self) -> None:
        self.parents: tuple[str, ...] = ()
        self.first_own: int | None = None
        """The ordinal from which a sub-agent's records are its own, if the file says so."""
        self.usages: list[tuple[int | None, Usage]] = []
        self.turns: dict[str, tuple[int | None, Turns]] = {}

    def named(self, meta: Record) -> None:
        """The file has said who it is."""
        self.parents = parents_of(meta)
        start = meta.get("subagent_history_start_ordinal")
        self.first_own = start if type(start) is int else None

    def counted(self, ordinal: Any, usage: Usage) -> None:
        self.usages.append((ordinal if type(ordinal) is int else None, usage))

    def turn(self, turn_id: Any, ordinal: Any, before: Turns) -> None:
        """The turn begins here, after so many user turns."""
        name = as_text(turn_id)
        if name and name not in self.turns:
            self.turns[name] = (ordinal if type(ordinal) is int else None, before)

    def beside(self, parent: Lineage, now: Turns, way: int) -> Own:
        """What is left when all that the parent says, too, is taken away."""
        same = 0
        for (_, ours), (_, theirs) in zip(self.usages, parent.usages, strict=False):
            if ours != theirs:
                break
            same += 1
        start = next((before for name, (_, before) in self.turns.items() if name not in parent.turns), None)
        return Own(self._tokens_from(same), self._turns_from(start, now, way))

    def alone(self, now: Turns, way: int) -> Own | None:
        """What is the file's own by its ordinals, where the parent is not at hand; None if it does not say."""
        start = self.first_own
        if start is None:
            return None
        same = next((n for n, (ordinal, _) in enumerate(self.usages) if (ordinal or 0) >= start), len(self.usages))
        began = next((before for ordinal, before in self.turns.values() if (ordinal or 0) >= start), None)
        return Own(self._tokens_from(same), self._turns_from(began, now, way))

    def _tokens_from(self, first: int) -> Tokens:
        own, before = NO_TOKENS, self.usages[first - 1][1] if first else Usage()
        for _, usage in self.usages[first:]:
            own, before = own + usage.since(before), usage
        return own

    def _turns_from(self, start: Turns | None, now: Turns, way: int) -> int | None:
        if not self.turns:
            return None
        return 0 if start is None else now[way] - start[way]
