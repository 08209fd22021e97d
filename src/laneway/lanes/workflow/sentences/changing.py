"""Steps changed: “change the timeout of fetch to 30 s”, “retry fetch 5 times”, “send it to x@y.z instead”."""

from __future__ import annotations

import re
from typing import Any

from laneway.domain.workflow import Document
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import holder, target
from laneway.lanes.workflow.sentences.telling import told
from laneway.lanes.workflow.sentences.words import LENGTH, lasting, milliseconds, slug, unquoted

STEP = r"(?:the )?(?:step |node )?(?P<step>[\w\"“”`' -]{1,80}?)(?: step| node)?"
_TIMEOUTS = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?P<verb>change|set|increase|raise|extend|reduce|lower|shorten|make|update) the time-?out "
        rf"(?:of|for|on) {STEP} to (?P<time>{LENGTH})",
        rf"(?P<verb>change|set|increase|raise|extend|reduce|lower|shorten|update) {STEP}(?:'s)? time-?out "
        rf"to (?P<time>{LENGTH})",
        rf"(?P<verb>give) {STEP} (?P<time>{LENGTH})(?: of time-?out| to finish| as (?:its )?time-?out)?",
        rf"{STEP} (?:should|shall|must|may) (?P<verb>time out) after (?P<time>{LENGTH})",
        rf"(?P<verb>time out) {STEP} after (?P<time>{LENGTH})",
    )
)
_RETRY = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?:always )?(?:retry|try|repeat) {STEP}(?: again)? (?:up to |at most )?(?P<count>\d+|once|twice|three|"
        rf"four|five)(?: times)?(?: (?:if|when|whenever) it fails)?"
        rf"(?:,? (?:with|waiting) (?:a )?(?P<pause>{LENGTH})(?: (?:pause|wait|delay|backoff))?"
        rf"(?: (?:in )?between(?: (?:(?:the |two |each )?(?:tries|attempts|times)|them))?)?)?",
        rf"(?:change|set) the (?:number of )?retries (?:of|for) {STEP} to (?P<count>\d+)",
    )
)
_COUNTS = {"once": 1, "twice": 2, "three": 3, "four": 4, "five": 5}
_RENAME = re.compile(rf"rename {STEP} (?:to|into|as) (?P<name>[\w\"“”`' -]{{1,80}})", re.IGNORECASE)
_INSTEAD = (
    re.compile(r"(?:always )?(?P<act>.+?) instead(?: of (?P<old>.+))?", re.IGNORECASE),
    re.compile(r"use (?P<by>e-?mail|slack|telegram|whatsapp) instead(?: of (?P<old>.+))?", re.IGNORECASE),
)
SHORTER = frozenset({"reduce", "lower", "shorten"})
LONGER = frozenset({"increase", "raise", "extend"})


def timed_out(said: str, known: Known, named: str | None) -> Draft | None:
    """A step's timeout changed, if the sentence says so."""
    found = next((match for shape in _TIMEOUTS if (match := shape.fullmatch(said))), None)
    if found is None:
        return None
    tag, document, place = holder(known, found["step"], named)
    length, now, verb = milliseconds(found["time"]), place.get("timeout_ms"), found["verb"].lower()
    if now is not None and ((verb in SHORTER and length >= now) or (verb in LONGER and length <= now)):
        raise NotPlanned(
            f"The timeout of `{place['id']}` is {lasting(now)} now.", f"{lasting(length)} does not {verb} it."
        )
    change = {**place, "timeout_ms": length}
    was = f" (now {lasting(now)})" if now else ""
    return one_step(tag, document, place, change, f"The timeout of `{place['id']}` becomes {lasting(length)}{was}.")


def retried(said: str, known: Known, named: str | None) -> Draft | None:
    """How often a step is tried changed, if the sentence says so."""
    found = next((match for shape in _RETRY if (match := shape.fullmatch(said))), None)
    if found is None:
        return None
    tag, document, place = holder(known, found["step"], named)
    count = _COUNTS.get(found["count"].lower()) or int(found["count"])
    if not 1 <= count <= 10:
        raise NotPlanned(f"A step can be tried 1 to 10 times, not {count}.", "Say another number.")
    retry = {**place.get("retry", {}), "max_attempts": count}
    pause = found.groupdict().get("pause")
    retry |= {"backoff_ms": milliseconds(pause)} if pause else {}
    return one_step(tag, document, place, {**place, "retry": retry}, f"`{place['id']}` is tried up to {count} times.")


def renamed(said: str, known: Known, named: str | None) -> Draft | None:
    """A step under another id everywhere, if the sentence says so."""
    found = _RENAME.fullmatch(said)
    if found is None:
        return None
    tag, document, place = holder(known, found["step"], named)
    new = unquoted(found["name"])
    new = new if re.fullmatch(r"[A-Za-z0-9_-]+", new) else slug(new)
    if any(one["id"] == new for one in document["nodes"]):
        raise NotPlanned(f"There is a step `{new}` already.", "Choose another name.")
    after = _under(document, str(place["id"]), new)
    return Draft(tag, between(document, after), f"The step `{place['id']}` is called `{new}`.")


def _under(value: Any, old: str, new: str, key: str = "") -> Any:
    """The document with the id replaced wherever it stands for the step."""
    if isinstance(value, dict):
        return {name: _under(one, old, new, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_under(one, old, new, key) for one in value]
    if not isinstance(value, str):
        return value
    if key in ("id", "from", "to", "loop_back_to", "break_path", "timeout_path"):
        return new if value == old else value
    named = re.escape(old)
    value = re.sub(rf"(\$(?:nodes|previous)\.){named}(?![\w-])", lambda found: found[1] + new, value)
    if key in ("condition", "expression"):
        way = f".{new}" if re.fullmatch(r"[A-Za-z_]\w*", new) else f'["{new}"]'
        for spelt in (rf"\.{named}(?![\w-])", rf"\[(['\"]){named}\2\]"):
            value = re.sub(rf"\b(ctx(?:\.previous)?){spelt}", lambda found: found[1] + way, value)
    return value


def redirected(said: str, known: Known, named: str | None) -> Draft | None:
    """A notification sent elsewhere, if the sentence says so."""
    by = _INSTEAD[1].fullmatch(said)
    found = by or _INSTEAD[0].fullmatch(said)
    if found is None:
        return None
    words = (
        f"send a {by['by']} message" if by else re.sub(r"^send (?:it|this|that|them)\b", "send a message", found["act"])
    )
    act = told(words)
    if act is None:
        return None
    tag, document = target(known, named)
    place = _notifying(document, found["old"])
    config = {key: value for key, value in place.get("config", {}).items() if key not in ("channel", "to", "url")}
    where = dict(act.config)
    if where.get("channel") == "owner":
        raise NotPlanned("It is not clear where it shall go.", act.note or "Say an address or a channel.")
    config |= where
    config |= (
        {"subject": "A workflow has something to say"}
        if where["channel"] == "email" and "subject" not in config
        else {}
    )
    if where["channel"] != "email":
        config.pop("subject", None)
    notes = (act.note,) if act.note else ()
    described = f"`{place['id']}` changes: {act.words} instead."
    return Draft(
        tag, one_step(tag, document, place, {**place, "config": config}, "").operations, described, notes=notes
    )


def _notifying(document: Document, old: str | None) -> dict[str, Any]:
    steps = [one for one in document["nodes"] if one["type"] == "notify"]
    if old is not None:
        wanted = re.sub(r"\be-?mail\b", "email", unquoted(old).lower())
        steps = [one for one in steps if wanted in (one["id"].lower(), *map(str, one.get("config", {}).values()))]
    if len(steps) != 1:
        ids = ", ".join(f"`{one['id']}`" for one in steps[:12])
        raise NotPlanned(
            f"Several steps tell somebody: {ids}." if steps else "No step of the workflow tells that to anybody.",
            "Say “… instead of …” with the name of one." if steps else "Say it like “add a notification step after X”.",
        )
    return dict(steps[0])


def one_step(tag: str, document: Document, place: dict[str, Any], change: dict[str, Any], described: str) -> Draft:
    """One step of the document changed, by its name."""
    path = f"/nodes/@{place['id']}"
    operations = [{**step, "path": path + step["path"]} for step in between(place, change)]
    if not operations:
        raise NotPlanned(f"`{place['id']}` is that way already.", "There is nothing to change.")
    return Draft(tag, operations, described)
