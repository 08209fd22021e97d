"""What one clause amounts to: a change told or wished, a look, a question, a remark, or something unclear."""

from __future__ import annotations

from enum import StrEnum

from laneway.classify import confirm_signs, effects, programs
from laneway.classify.confirm_clauses import Piece, starting
from laneway.classify.confirm_signs import Signs
from laneway.classify.effects import Effect
from laneway.classify.effects_words import CHANGING, READING

_CHANGES, _READS = frozenset(CHANGING), frozenset(READING)


class Stance(StrEnum):
    """What a clause amounts to."""

    CHANGE = "change"
    LIKELY = "likely change"
    WISH = "wish"
    INDIRECT = "indirect order"
    COMING = "about to be"
    ENDS = "ends something"
    UNKNOWN = "unknown order"
    NOMINAL = "order without verb"
    READ = "read"
    THING = "thing to read"
    ASK = "ask"
    FAVOUR = "asked as a favour"
    HELD = "not to be done"
    REMARK = "remark"
    IDLE = "idle"
    UNCLEAR = "unclear"


_DOUBTS = ("idle", "head reads", "how_to", "thing to read", "first_person")
_WHOLE = (Stance.READ, Stance.ASK, Stance.REMARK, Stance.HELD)
"""After these a clause without a verb is only their end."""


def stances(pieces: list[Piece]) -> list[tuple[Piece, Signs, Stance]]:
    """Each clause with its signs and what it amounts to."""
    found: list[tuple[Piece, Signs, Stance]] = []
    for piece in pieces:
        signs = confirm_signs.read(piece.text, piece.asks)
        judged = stance(piece, signs)
        if found and judged in (Stance.CHANGE, Stance.LIKELY) and _goes_on(piece, found[-1]):
            judged = Stance.REMARK
        if judged is Stance.CHANGE and signs.has("one word") and len(pieces) > 1 and not signs.has("joined changes"):
            judged = Stance.LIKELY
        if judged is Stance.NOMINAL and any(earlier in _WHOLE for _, _, earlier in found):
            judged = Stance.UNCLEAR
        found.append((piece, signs, judged))
    return found


def _goes_on(piece: Piece, before: tuple[Piece, Signs, Stance]) -> bool:
    """Whether the subject of the clause before is the subject of this one: "I'll edit it and send it"."""
    _, signs, judged = before
    return judged is Stance.REMARK and signs.has("first_person") and bool(starting("joined").match(piece.text))


def stance(piece: Piece, signs: Signs) -> Stance:
    """What the clause amounts to, the surest signs first."""
    if piece.asks or signs.has("joined asks"):
        wanted = signs.has("favour") and not signs.has("read noun near") and not signs.inner & _READS
        return Stance.FAVOUR if wanted else Stance.ASK
    line = programs.effect(piece.text)
    if line is not Effect.NOTHING:
        return Stance.CHANGE if line is Effect.CHANGES else Stance.READ
    if effects.negated(piece.text) or effects.negated(effects.bare(piece.text)):
        return _denied(piece, signs)
    if signs.has("empty") or signs.has("idle word"):
        return Stance.IDLE
    if piece.effect is Effect.CHANGES:
        return _changing(piece, signs)
    if piece.effect is Effect.HARMLESS:
        return _harmless(piece, signs)
    return _unclear(signs)


def _denied(piece: Piece, signs: Signs) -> Stance:
    if piece.effect is Effect.CHANGES:
        return Stance.CHANGE
    return Stance.ENDS if signs.has("lasting") or piece.effect is Effect.UNCLEAR else Stance.HELD


def _changing(piece: Piece, signs: Signs) -> Stance:
    if signs.has("gentle head", "read noun near") and not signs.has("place"):
        return Stance.THING
    if signs.has("how_to", "first_person"):
        return Stance.UNCLEAR
    if effects.denied_abroad(piece.text) and not signs.has("lasting"):
        return Stance.HELD if signs.has("head abroad") else Stance.LIKELY
    if signs.has("head reads") and effects.names_file(piece.text):
        return Stance.CHANGE
    return Stance.LIKELY if any(map(signs.has, _DOUBTS)) else Stance.CHANGE


def _harmless(piece: Piece, signs: Signs) -> Stance:
    if signs.has("polite_wish"):
        return Stance.WISH
    if effects.remark(piece.text):
        return _remark(signs)
    if signs.has("see_to") and not signs.has("how_to"):
        return Stance.INDIRECT
    return Stance.READ


def _remark(signs: Signs) -> Stance:
    if signs.has("own_duty"):
        return Stance.REMARK
    if signs.has("subordinate", "ends in verb"):
        return Stance.LIKELY
    if signs.has("past") or not signs.has("wish"):
        told = signs.has("see_to") and not signs.has("past") and not signs.has("first_person")
        return Stance.INDIRECT if told else Stance.REMARK
    return Stance.WISH if _ordered(signs) else Stance.REMARK


def _ordered(signs: Signs) -> bool:
    """Whether a changing verb stands in the clause in any form that can be an order."""
    return bool((signs.inner | signs.done | signs.adrift | signs.head | signs.named | signs.abroad) & _CHANGES)


def _unclear(signs: Signs) -> Stance:
    if signs.has("joined changes"):
        return Stance.READ if signs.has("joined reads") or signs.has("joined held") else Stance.CHANGE
    if signs.has("idle"):
        return Stance.IDLE
    if signs.has("past first") or signs.has("own_duty"):
        return Stance.REMARK
    if signs.has("subordinate", "ends in verb"):
        return Stance.LIKELY
    if signs.has("gentle head", "read noun near") and not signs.has("place"):
        return Stance.THING
    if signs.has("head changes") and not signs.has("past"):
        return Stance.LIKELY
    if _wished(signs):
        return Stance.WISH
    if _told_inside(signs):
        return Stance.LIKELY
    return next((found for mark, found in _IN_TURN if signs.has(mark)), Stance.UNCLEAR)


def _wished(signs: Signs) -> bool:
    if signs.has("polite_wish"):
        return True
    reads = any(map(signs.has, ("thing to read", "read noun near", "to_know", "remark")))
    reads = reads or bool((signs.inner | signs.head) & _READS) or signs.has("first_person", "how_to")
    return signs.has("wish") and not reads and (_ordered(signs) or signs.has("particle"))


def _told_inside(signs: Signs) -> bool:
    """Whether an order stands inside: "if it is full clear it", "wenn ja neu starten"."""
    if signs.has("head reads") or signs.has("how_to") or signs.has("remark"):
        return False
    if signs.inner & _CHANGES and not signs.inner & _READS:
        return True
    return bool(signs.abroad & _CHANGES) and not signs.abroad & _READS and not signs.has("held")


_IN_TURN = (
    ("see_to", Stance.INDIRECT),
    ("to_know", Stance.READ),
    ("head reads", Stance.READ),
    ("joined reads", Stance.READ),
    ("thing to read", Stance.THING),
    ("past", Stance.REMARK),
    ("remark", Stance.REMARK),
    ("farewell", Stance.IDLE),
    ("wish", Stance.WISH),
    ("coming", Stance.COMING),
    ("head light", Stance.UNKNOWN),
    ("head unknown", Stance.UNKNOWN),
    ("arrow", Stance.NOMINAL),
    ("copula", Stance.REMARK),
    ("value", Stance.NOMINAL),
    ("switched", Stance.NOMINAL),
    ("amount first", Stance.NOMINAL),
    ("ends in particle", Stance.NOMINAL),
)
