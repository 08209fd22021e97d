"""Skill: what to remember, and what was remembered, by the `remember` and `recall` tools.

Shapes:
    remember that … · remember: … · note that … · keep in mind that … · make a note: …        → `remember`
    what do you remember about …? · what did I tell you about …?                              → `recall`
    merk dir, dass … · souviens-toi que … · note que … · recuerda que … · anota que …
    was weißt du noch über …? · de quoi te souviens-tu sur …? · qué recuerdas de …?
"""

from __future__ import annotations

from laneway.llm.offline.orders import Offer, Telling, Understood, one, saying
from laneway.llm.offline.outcomes import Outcome, block, listed
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes

REMEMBER, RECALL = "remember", "recall"

_REMEMBERS = shapes(
    "@remember(?:,? (?:that|of this|this|for later|dass|que))? ?: ?<text:rest>",
    "@remember,? (?:that|dass|que|qu') ?<text:rest>",
)
_RECALLS = shapes(
    r"what (?:do you|did you|can you) (?:still )?remember (?:about|of|on) <query:rest>",
    r"what (?:did|have) i (?:tell|told) you about <query:rest>",
    r"do you remember (?:anything|something) about <query:rest>",
    r"(?:recall|look up in your memory) (?:what (?:i|you) (?:said|know|told you) about|everything about) <query:rest>",
    r"(?:was weiss?t|woran erinnerst) du (?:dich )?noch (?:uber|von|an|bei) <query:rest>",
    r"(?:de quoi te souviens[ -]tu|que te rappelles[ -]tu|que sais[ -]tu encore) (?:sur|de|a propos de) <query:rest>",
    r"que (?:recuerdas|te dije) (?:de|sobre) <query:rest>",
)


def notes(words: Words, offer: Offer) -> Understood:
    """A call that stores the sentence, or one that looks for what was stored."""
    for found in fitting(words.free, _RECALLS):
        query = found.value("query")
        return one(offer.order(RECALL, f"look up {query}", _recalled(query), query=query))
    if words.is_question:
        return None
    for found in fitting(words.free, _REMEMBERS):
        text = found.value("text")
        tell = saying(f"I will remember: {text}")
        return one(offer.order(REMEMBER, "remember that", tell, is_free=True, text=text))
    return None


def _recalled(query: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        facts = listed(outcome.result)
        return f"What I remember about {query}:\n{block(chr(10).join(facts))}" if facts else f"Nothing about {query}."

    return tell
