"""Skill: fetching an address that the user wrote, by the `http_request` tool.

Shapes:
    fetch https://… · GET https://… · open https://… and show me what it says · check https://…
    what does https://… say? · is https://… up? · show me the content of https://…
    rufe https://… ab · was steht auf https://…? · récupère https://… · que dit https://… · qué dice https://…
"""

from __future__ import annotations

import re

from laneway.llm.offline.orders import Offer, Telling, Understood, one
from laneway.llm.offline.outcomes import Outcome, block
from laneway.llm.offline.politeness import Words
from laneway.llm.offline.shapes import fitting, shapes

HTTP_REQUEST = "http_request"

_TELL = "(?:,? @and @tell_me(?: @page_said)+)?"
_SHAPES = shapes(
    f"@fetch(?:@me)? @content_of@page@url(?: (?:ab|auf|an))?{_TELL}",
    "what (?:does|do|is on|is at|is in) @page@url(?: @say)?",
    "@asks_page @page@url",
    "(?:is|ist) @page@url (?:still )?@is_up",
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
