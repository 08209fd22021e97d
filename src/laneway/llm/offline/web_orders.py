"""Skill: fetching an address that the user wrote, by the `http_request` tool.

Shapes:
    fetch https://… · GET https://… · open https://… and show me what it says · check https://…
    what does https://… say? · show me the content of https://…
    rufe https://… ab · was steht auf https://…? · récupère https://… · que dit https://… · qué dice https://…
"""

from __future__ import annotations

import re

from laneway.llm.offline.orders import Offer, Telling, Understood, one
from laneway.llm.offline.outcomes import Outcome, block
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes

HTTP_REQUEST = "http_request"

_URL = r"<?(?P<url>[\x01]?(?:https?://[^\s<>\x00-\x04]*[^\s<>\x00-\x04.,;:!?)]|\x00+)[\x02]?)>?"
_PAGE = r"(?:@the(?:page|url|link|address|site|website|seite|adresse|pagina|page web) (?:at |on |from )?)?"
_CONTENT = r"(?:@the(?:content|contents|text|inhalt|contenu|contenido|texto) (?:of|from|at|on|von|de|du) )?"
_TELL = (
    r"(?:,? (?:and|und|et|y) (?:(?:show|tell|give)(?: me)?|zeige? mir|dis[ -]moi|montre[ -]moi|dime|muestrame)"
    r"(?: (?:what|it|the|is|there|says?|page|content|contents|text|response|result|status|was|dort|steht|ce|qu'il|dit"
    r"|que|lo|dice|i|you|get|back))+)?"
)
_SHAPES = shapes(
    rf"(?:fetch|get|open|request|check|read|visit|load|retrieve|pull up|show|call|rufe?|hole?|lies|offne|zeige?|recupere[rz]?"
    rf"|ouvre[rz]?|lis|affiche[rz]?|montre|obten|abre|lee|muestra)(?: me| mir|[ -]moi)? {_CONTENT}{_PAGE}{_URL}(?: (?:ab|auf|an))?{_TELL}",
    rf"what (?:does|do|is on|is at|is in|'s on|'s at) {_PAGE}{_URL}(?: (?:say|says|return|show|contain|answer|respond))?",
    rf"what's (?:on|at) {_PAGE}{_URL}",
    rf"(?:was (?:steht auf|sagt|zeigt)|que (?:dit|contient)|qu'y a[ -]t[ -]il sur|que (?:dice|hay en|contiene)) {_PAGE}{_URL}",
)


def web_orders(words: Words, offer: Offer) -> Understood:
    """A call that fetches the page; only an address in the user's own words is ever called."""
    for found in fitting(words.core, _SHAPES):
        url = found.value("url")
        if re.fullmatch(r"https?://[^\s/]\S*", url, re.I) is None:
            return None
        return one(offer.order(HTTP_REQUEST, f"fetch {url}", _telling(url), url=url))
    return None


def _telling(url: str) -> Telling:
    def tell(outcome: Outcome) -> str:
        fields = outcome.fields
        status = next((fields[name] for name in ("status_code", "status", "code") if name in fields), None)
        names = ("text", "body", "content", "json")
        text = next((str(fields[name]) for name in names if fields.get(name)), "") or outcome.stdout
        if not text and isinstance(outcome.result, str):
            text = outcome.result
        first = f"{url} answered" + (f" with status {status}" if status is not None else "")
        return f"{first}:\n{block(text)}" if text.strip() else f"{first} and no text."

    return tell
