"""What a short message means after what was said before: "do it", "and web2 too", "yes, the second one".

A message that cannot stand alone is judged by what it refers to: the offer it accepts, or the request it adds to,
corrects, repeats or makes precise. Nothing is guessed: where there is nothing to refer to, it stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from laneway.classify.grammar import starts_with_verb
from laneway.classify.rules import normalise
from laneway.domain.conversation import Author
from laneway.transcript import Turn

LONGEST_SHORT = 12
"""A message of more words than this speaks for itself."""

_ACK = re.compile(
    r"^(?:(?:great|ok|okay|k|good|nice|cool|perfect|fine|right|thanks|thank you|thx|hm+|mhm+|uh|um|oh|ah|well|so|hey|"
    r"gut|super|danke|vale|bien|merci|grazie|oh no)\b[\s,.!:–-]*)+"
)
_YES = re.compile(
    r"^(?:yes|yeah|yep|yup|ya|sure|please|exactly|correct|absolutely|definitely|of course|go|do|both|all|let's|lets|"
    r"proceed|approved?|confirmed?|ship it|mhm+|sounds good|ja|jo|klar|genau|gerne|bitte|mach|tu|sí|si|claro|dale|"
    r"hazlo|adelante|oui|d'accord|vas-y|allez|sim|pode|claro|certo|va bene|sì|tak|evet|graag|prego|是|はい|да|نعم|"
    r"that first|the first|first)\b"
)
_NO = re.compile(
    r"^(?:no|nope|nah|don't|do not|stop|never ?mind|forget it|leave it|cancel that|not now|not yet|wait|nein|lass|"
    r"better not|rather not|non|laisse|não|lascia|nee|nie|hayır|нет|いいえ|不)\b"
)
_CORRECTION = re.compile(
    r"\b(?:other|another|not th(?:at|is|e)|i mean(?:t)?|instead|anderen?|otr[oa]|autre|altr[oa])\b"
)
_AGAIN = re.compile(
    r"^(?:again|once more|one more time|repeat|same (?:again|thing|here|for)?|ditto|likewise|nochmal|noch einmal|"
    r"otra vez|de nuevo|encore|ancora|jeszcze raz|tekrar)\b"
)
_MORE = re.compile(
    r"^(?:and|also|plus|same|what about|how about|or|but|then|und|auch|dasselbe|noch|y|también|lo mismo|et|aussi|"
    r"pareil|même chose|e|anche|też|en|ook)\b|\b(?:too|as well|auch|también|aussi|anche|ook)$"
)
_OFFER = re.compile(
    r"(?:shall|should|may|can|could) (?:i|we)\b|(?:do you|would you) (?:want|like)(?: me)?(?: to)?\b|want me to\b|"
    r"i (?:can|could|would|will)\b|i'(?:ll|d)\b|(?:i'm |i am )?(?:ready|about) to\b|soll ich\b|möchtest du\b|"
    r"kann ich\b|darf ich\b|quieres que\b|puedo\b|¿?(?:debo|quiere que)\b|dois-je\b|"
    r"(?:veux-tu|voulez-vous) que je\b|puis-je\b|"
    r"devo\b|vuoi che\b|posso\b|quer que\b|zal ik\b|mam\b|czy mam\b"
)


@dataclass(frozen=True)
class Meaning:
    """The text to judge in place of a message; an accepted offer is an order whatever its words."""

    text: str
    order: bool = False


def meant(turns: Sequence[Turn]) -> Meaning:
    """What the last message says once the turns before it are heard."""
    text = turns[-1].text
    plain = _ACK.sub("", normalise(text)) or normalise(text)
    if len(turns) < 2 or len(plain.split()) > LONGEST_SHORT:
        return Meaning(text)
    asked = _request_before(turns)
    before = turns[-2] if turns[-2].author is Author.ASSISTANT else None
    if before is not None and _YES.match(plain) and not _MORE.search(plain):
        offer = _offer(before.text)
        if offer is not None:
            return Meaning(offer, order=True)
    if asked is None or starts_with_verb(plain):
        return Meaning(plain if starts_with_verb(plain) else text)
    if _NO.match(plain) or plain.startswith("not "):
        return asked if _CORRECTION.search(plain) else Meaning(text)
    if _AGAIN.match(plain) or _MORE.search(plain):
        return asked
    if before is not None and _asks_back(before.text) and not text.rstrip().endswith("?"):
        return asked
    return Meaning(text)


def _request_before(turns: Sequence[Turn]) -> Meaning | None:
    """The latest earlier message of the user, understood in its own place."""
    for place in range(len(turns) - 2, -1, -1):
        if turns[place].author is Author.USER:
            return meant(turns[: place + 1])
    return None


def _sentences(said: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+|\n", said.casefold().replace("’", "'")) if part.strip()]


def _offer(said: str) -> str | None:
    """What the assistant offered to do, in the words of an order; None if it offered nothing."""
    for sentence in reversed(_sentences(said)):
        found = _OFFER.search(sentence)
        if found is not None:
            order = sentence[found.end() :].strip(" ?.!,")
            if order:
                return order
    return None


def _asks_back(said: str) -> bool:
    """Whether the assistant ended with a question about the request, not with an offer."""
    sentences = _sentences(said)
    return bool(sentences) and sentences[-1].rstrip().endswith("?")
