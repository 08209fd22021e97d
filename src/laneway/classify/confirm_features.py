"""The message as numbers: the stances and signs of its clauses, brought together so that the worst clause counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from laneway.classify import confirm_clauses, programs
from laneway.classify.confirm_clauses import Piece
from laneway.classify.confirm_signs import Signs
from laneway.classify.confirm_stance import Stance, stances
from laneway.classify.effects import Effect
from laneway.classify.effects_words import CHANGING, READING

EARNEST = (
    *(Stance.CHANGE, Stance.LIKELY, Stance.WISH, Stance.INDIRECT, Stance.COMING, Stance.ENDS),
    *(Stance.UNKNOWN, Stance.NOMINAL),
)
"""Clauses that want something changed, surely or perhaps."""
QUIET = (Stance.READ, Stance.THING, Stance.ASK, Stance.HELD, Stance.REMARK, Stance.IDLE)
"""Clauses that want nothing changed."""
_PLACED = (Stance.CHANGE, Stance.LIKELY, Stance.READ, Stance.ASK, Stance.REMARK)
_OF_EARNEST = ("see_to", "lasting", "urgent", "people", "matter", "particle")
_OF_ANY = ("remark", "farewell", "how_to", "held")
_CHANGES = frozenset(CHANGING)


@dataclass(frozen=True)
class Message:
    """A message taken apart."""

    plain: str
    clauses: list[tuple[Piece, Signs, Stance]]
    line: Effect
    rehearsal: bool
    earnest: bool

    def any(self, *wanted: Stance) -> bool:
        """Whether a clause amounts to one of these."""
        return any(stance in wanted for _, _, stance in self.clauses)


def message(text: str) -> Message:
    """The text taken apart."""
    plain = confirm_clauses.plain(text)
    rehearsed = bool(confirm_clauses.anywhere("rehearsal").search(plain))
    earnest = bool(confirm_clauses.anywhere("in_earnest").search(plain))
    return Message(plain, stances(confirm_clauses.pieces(plain)), programs.effect(plain), rehearsed, earnest)


def table(told: Message) -> dict[str, float]:
    """Each number by its name; all lie between 0 and 1."""
    signs = [signs for _, signs, _ in told.clauses]
    ordered = [signs for _, signs, stance in told.clauses if stance in EARNEST]
    found = _of_stances(told) | _of_verbs(told, signs, ordered)
    found |= {f"order: {mark}": _some(ordered, mark) for mark in _OF_EARNEST}
    found |= {f"any: {mark}": _some(signs, mark) for mark in _OF_ANY}
    return {name: float(value) for name, value in found.items()}


def _of_stances(told: Message) -> dict[str, bool]:
    all_of = [stance for _, _, stance in told.clauses]
    found = {f"any {stance}": stance in all_of for stance in Stance}
    found |= {f"first {stance}": all_of[:1] == [stance] for stance in _PLACED}
    found |= {f"last {stance}": all_of[-1:] == [stance] for stance in _PLACED}
    return found | {
        "earnest, no rehearsal": told.any(*EARNEST) and not told.rehearsal,
        "all quiet": all(stance in QUIET for stance in all_of),
        "rehearsal": told.rehearsal,
        "line changes": told.line is Effect.CHANGES,
        "line reads": told.line is Effect.HARMLESS,
    }


def _of_verbs(told: Message, signs: list[Signs], ordered: list[Signs]) -> dict[str, bool]:
    earnest = [] if told.rehearsal else ordered
    found = {f"order {name}": any(name in each.head for each in earnest) for name in CHANGING}
    found |= {f"head {name}": any(name in each.head for each in signs if not each.asks) for name in READING}
    return found | {
        "inner change": any(each.inner & _CHANGES and not each.has("how_to") for each in ordered),
        "to be done": any(each.done & _CHANGES and not each.has("past") for each in ordered),
        "was done": any(each.done & _CHANGES and (each.has("past") or each.has("remark")) for each in signs),
        "unknown verb": any(each.has("head unknown", "article next") for each in ordered),
    }


def _some(signs: Iterable[Signs], mark: str) -> bool:
    return any(each.has(mark) for each in signs)
