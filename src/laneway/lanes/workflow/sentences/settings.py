"""What a step works with: “change the recipient of mail to x@y.z”, “set the url of fetch to https://…”."""

from __future__ import annotations

import re
from typing import Any

from laneway.lanes.workflow.sentences.changing import STEP, one_step
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import holder
from laneway.lanes.workflow.sentences.words import unquoted

_SET = re.compile(
    r"(?:change|set|update|replace) (?:the )?(?P<key>url|address|recipients?|receiver|to|subject|message|text|prompt) "
    rf"(?:of|for|in|on) {STEP} (?:to|with|into) (?P<value>.+)",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"https?://[^\s,;\"']+")
_QUOTED = re.compile(r"[\"“'`](?P<text>[^\"“”`]+)[\"”'`]")
_KEYS = {"recipient": "to", "recipients": "to", "receiver": "to", "text": "message"}
_TYPES = {
    "url": ("http", "notify"), "to": ("notify",), "subject": ("notify",), "message": ("notify", "hitl"),
    "prompt": ("agent",),
}  # fmt: skip
"""Which types of steps have such a setting."""


def set_to(said: str, known: Known, named: str | None) -> Draft | None:
    """One setting of a step has another value, if the sentence says so."""
    found = _SET.fullmatch(said)
    if found is None:
        return None
    tag, document, place = holder(known, found["step"], named)
    key = _key(found["key"].lower(), place)
    value, config = _value(key, found["value"].strip()), dict(place.get("config", {}))
    if place["type"] not in _TYPES[key] or (key in ("to", "subject") and config.get("channel") != "email"):
        raise NotPlanned(f"`{place['id']}` ({place['type']}) has no {found['key'].lower()}.", "Say another step.")
    if key == "message" and "message" not in config and "text" in config:
        key = "text"
    change = {**place, "config": {**config, key: value}}
    was = f" (now {_short(config[key])})" if key in config else ""
    described = f"The {found['key'].lower()} of `{place['id']}` becomes {_short(value)}{was}."
    return one_step(tag, document, place, change, described)


def _key(word: str, place: dict[str, Any]) -> str:
    if word == "address":
        return "url" if place["type"] == "http" else "to"
    return _KEYS.get(word, word)


def _value(key: str, said: str) -> str:
    """The value as it was said: an address whole, any other text between quotation marks."""
    if key == "to" and _MAIL.fullmatch(said):
        return said
    if key == "url" and _URL.fullmatch(unquoted(said)):
        return unquoted(said)
    quoted = _QUOTED.fullmatch(said)
    if key not in ("to", "url") and quoted is not None:
        return quoted["text"]
    wanted = {"to": "one e-mail address", "url": "an address beginning with https://"}.get(key, "it in quotation marks")
    raise NotPlanned(f"“{said[:60]}” is not understood as its {key}.", f"Write {wanted}.")


def _short(value: Any) -> str:
    text = str(value)
    return f"“{text if len(text) <= 60 else text[:57] + '…'}”"
