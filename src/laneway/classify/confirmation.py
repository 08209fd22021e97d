"""Whether a message asks for something that must not happen without a yes.

The message is taken apart into clauses; the worst of them counts. What grammar makes certain is settled here,
everything else by the learned probability with a low guard: uncertain never becomes an unconfirmed action.
"""

from __future__ import annotations

from laneway.classify import confirm_features
from laneway.classify.confirm_clauses import starting
from laneway.classify.confirm_features import EARNEST, QUIET, Message
from laneway.classify.confirm_signs import Signs
from laneway.classify.confirm_stance import Stance
from laneway.classify.effects import Effect
from laneway.classify.effects_words import CHANGING
from laneway.classify.rules import small_talk

_CHANGES = frozenset(CHANGING)
_MAYBE_ORDERED = ("wish", "see_to", "lasting", "coming", "urgent", "subordinate", "polite_wish")


def settled(text: str) -> bool | None:
    """Whether the message needs a yes, where grammar makes that certain."""
    if small_talk(text) is not None:
        return False
    return _settled(confirm_features.message(text))


def _settled(told: Message) -> bool | None:
    if starting("assent").match(told.plain) or told.line is Effect.HARMLESS:
        return None if told.any(*EARNEST) else False
    if told.rehearsal:
        return False if not told.earnest and not told.any(*EARNEST) else None
    if told.line is Effect.CHANGES or any(_surely_changes(signs, stance) for _, signs, stance in told.clauses):
        return None if any(_takes_back(piece.text, signs, stance) for piece, signs, stance in told.clauses) else True
    return False if all(_surely_quiet(signs, stance) for _, signs, stance in told.clauses) else None


def _surely_changes(signs: Signs, stance: Stance) -> bool:
    return stance is Stance.CHANGE and not any(map(signs.has, ("how_to", "held", "remark", "farewell")))


def _takes_back(clause: str, signs: Signs, stance: Stance) -> bool:
    """Whether the clause may make a mere example of the order before: "…, explain it", "…, but only as a plan"."""
    explained = "explain" in signs.head or ("text" in signs.head and signs.has("held"))
    return (
        (stance is Stance.READ and explained)
        or clause.startswith(("but only", "only as", "aber nur"))
        or signs.has("remark", "farewell")
    )


def _surely_quiet(signs: Signs, stance: Stance) -> bool:
    """Whether the clause changes nothing and nothing in it could be meant as an order after all."""
    if stance is Stance.REMARK:
        return not any(map(signs.has, _MAYBE_ORDERED))
    if stance is Stance.READ:
        inside = bool((signs.inner | signs.adrift) & _CHANGES) or signs.has("ends in past")
        return not inside or any(map(signs.has, ("past", "how_to", "held")))
    if stance in (Stance.IDLE, Stance.THING):
        return not (signs.inner | signs.adrift) & _CHANGES
    return stance in QUIET


def features(text: str) -> list[float]:
    """How the message is built, as numbers between 0 and 1, for learning the same decision."""
    told = confirm_features.message(text)
    certain = False if small_talk(text) is not None else _settled(told)
    return [float(certain is True), float(certain is False), *confirm_features.table(told).values()]
