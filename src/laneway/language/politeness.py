"""Politeness around a request: “hey, could you please … for me, thanks!” asks for what “…” does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_BEFORE: Final = re.compile(
    r"(?:(?P<asks>(?:can|could|would|will) (?:you|u)|would you mind|i(?: would|'d)? (?:like|want|need) you to)"
    r"|i(?: would|'d) like to|i (?:want|need) to"
    r"|please|pls|plz|kindly|(?:hi|hey|hello)(?: there)?|ok|okay|alright|now|just|laneway"
    r"|good (?:morning|evening|afternoon)|go ahead and)(?=[\s,!:])[\s,!]*(?::\s+)?",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"(?:[\s,.!?]+(?:please|pls|plz|thanks(?: a lot| so much| in advance)?|thank you(?: very much| so much)?|thx|for me"
    r"|right now|right away|(?:can|could|would|will) you(?: please)?)|[.!?;\s]+)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Request:
    """What is asked, without the politeness around it, and where it stands in the text."""

    core: str
    start: int
    end: int
    is_question: bool
    """True if it ends with a question mark and nothing like “can you” explains it."""


def strip_politeness(text: str) -> Request:
    """The request itself."""
    start, asks = len(text) - len(text.lstrip()), False
    while found := _BEFORE.match(text, start):
        asks, start = asks or found["asks"] is not None, found.end()
    end, questioned = len(text), False
    while end > start and (found := _AFTER.search(text, max(start, end - 40), end)):
        questioned = questioned or "?" in found.group()
        end = found.start()
    return Request(text[start:end], start, end, questioned and not asks)
