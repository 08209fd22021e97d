"""A workflow that shall rest for a while: “pause report until tomorrow at 9”, “resume report”."""

from __future__ import annotations

import re
from typing import Any

from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import target
from laneway.lanes.workflow.sentences.words import unquoted

_PAUSE = re.compile(
    r"(?P<verb>pause|suspend|disable|switch off|turn off|resume|unpause|enable|switch on|turn on|continue) "
    r"(?:the )?(?:workflow )?(?P<what>[\w\"“”`'.-]{1,80}?)(?: workflow)?",
    re.IGNORECASE,
)
_ON = frozenset({"resume", "unpause", "enable", "switch on", "turn on", "continue"})
_THIS = frozenset({"it", "this", "that", "workflow"})
_BY_HAND = frozenset({"manual", "chat"})
"""What a person starts is not paused: whoever starts it wants it."""


def paused(said: str, known: Known, named: str | None) -> Draft | None:
    """The triggers of a workflow are switched off or on, if the sentence says so."""
    found = _PAUSE.fullmatch(said)
    if found is None:
        return None
    what, on = unquoted(found["what"]), found["verb"].lower() in _ON
    tag, document = target(known, named if what.lower() in _THIS else what)
    triggers = [_switched(one, on) for one in document.get("triggers", [])]
    if not any(one["type"] not in _BY_HAND for one in triggers):
        raise NotPlanned(f"`{tag}` does not start by itself.", "There is nothing to pause or resume.")
    if triggers == document["triggers"]:
        raise NotPlanned(f"`{tag}` is {'not paused' if on else 'paused already'}.", "There is nothing to change.")
    described = f"`{tag}` starts by itself again." if on else f"`{tag}` is paused: it does not start by itself."
    return Draft(tag, between(document, {**document, "triggers": triggers}), described)


def _switched(trigger: dict[str, Any], on: bool) -> dict[str, Any]:
    if trigger["type"] in _BY_HAND:
        return trigger
    rest = {key: value for key, value in trigger.items() if key != "enabled"}
    return rest if on else {**rest, "enabled": False}
