"""What a message says in its own words, beside the text by which it is judged: "and web2 too", "restart nginx on web1".

It is no part of `context`: the weights learned from conversations are stale as soon as a file of it changes.
"""

from __future__ import annotations

from laneway.classify.context_words import ENDS, at_head, stripped
from laneway.classify.rules import normalise

MADE = ("rewrite the text: ", "show that again, ", "show that ", "change that to ")
"""Begins a text that is made of the message itself."""


def beyond(text: str, said: str) -> str:
    """The words as they were said, where they are no mere yes or again, and the text is not taken from them."""
    plain, judged = stripped(said)[1], stripped(text)[1]
    taken = (judged and plain.endswith(judged)) or any(judged == f"{begin}{plain}" for begin in MADE)
    return "" if taken or not _after_assent(normalise(said)) else said


def _after_assent(plain: str) -> str:
    while (head := at_head(plain, "yes", "again", "ack", "filler", "thanks", "tail")) is not None:
        plain = plain[len(head) :].lstrip(f"{ENDS} ,.!…;:–-，。")
    return plain
