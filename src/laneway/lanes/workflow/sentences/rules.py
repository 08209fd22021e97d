"""Rules: “always e-mail me when the price drops below 100”, “whenever a user signs up, notify slack”."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.lanes.workflow.sentences.building import beside
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import free_id, matching, node, target
from laneway.lanes.workflow.sentences.happenings import Happening, happening
from laneway.lanes.workflow.sentences.telling import Told, told
from laneway.lanes.workflow.sentences.words import slug

_WHEN = r"(?:whenever|when|every time(?: that)?|each time(?: that)?|as soon as|any time(?: that)?|once|if|in case)"
_AHEAD = re.compile(
    rf"(?:always )?{_WHEN} (?P<what>.+?)(?:, (?:then )?| then )(?:always |automatically |please )*(?P<act>.+)",
    re.IGNORECASE,
)
_BEHIND = re.compile(rf"(?:always |automatically )*(?P<act>.+?),? {_WHEN} (?P<what>.+)", re.IGNORECASE)
_TIMED = re.compile(
    r"(?:always )?(?P<act>.+?) (?P<what>(?:every|each|daily|hourly|weekly|on|at) .+|daily|hourly|weekly)", re.IGNORECASE
)
_TIMED_AHEAD = re.compile(
    r"(?P<what>(?:every|each|daily|hourly|weekly|on|at) .+?),? (?P<act>(?:e-?mail|mail|send|notify|"
    r"alert|tell|inform|ping|post|call) .+)",
    re.IGNORECASE,
)
_FAILING = re.compile(
    r"(?:the )?(?:workflow )?[\"`“]?(?P<tag>[\w.-]+)[\"`”]?(?: workflow)? (?:fails|breaks|goes wrong|has an error)",
    re.IGNORECASE,
)
_WITHOUT_COMMA = re.compile(
    rf"(?:always )?{_WHEN} (?P<what>.+?) (?P<act>(?:e-?mail|mail|send|notify|alert|tell|inform|ping|warn|post) .+)",
    re.IGNORECASE,
)


def rule(said: str, known: Known, named: str | None) -> Draft | None:
    """The change a rule asks for, if the sentence is one."""
    for shape in (_AHEAD, _WITHOUT_COMMA, _BEHIND, _TIMED_AHEAD, _TIMED):
        found = shape.fullmatch(said)
        if found is None:
            continue
        act, what = told(found["act"].strip()), failing(found["what"], known) or happening(found["what"])
        if act is not None and what is not None and (what.cron is None) == (shape not in (_TIMED, _TIMED_AHEAD)):
            return _made(act, what, known, named)
    return None


def _made(act: Told, what: Happening, known: Known, named: str | None) -> Draft:
    if what.workflow is not None:
        return _new(act, what, replace(known, tag=None))
    if named is None and known.tag not in known.workflows:
        named = _having(what, known)
        if named is None:
            return _new(act, what, known)
    tag, document = target(known, named)
    notes = (act.note,) if act.note else ()
    grafted = _grafted(act, what, document)
    if grafted is None and named is None:
        # Nothing in the workflow knows of it: the rule stands by itself.
        return _new(act, what, replace(known, tag=None))
    if grafted is None:
        raise NotPlanned(f"No step of `{tag}` tells when {what.words}.", "Say after which step it shall happen.")
    operations, where = grafted
    return Draft(tag, operations, f"{_capital(act.words)} {where}.", notes=notes)


def _having(what: Happening, known: Known) -> str | None:
    """The only workflow with a step that is called so, where it is waited for that this step fails."""
    step = (what.step or "").lower()
    found = [tag for tag, one in known.workflows.items() if any(each["id"].lower() == step for each in one["nodes"])]
    return found[0] if what.step_fails and len(found) == 1 else None


def _grafted(act: Told, what: Happening, document: Document) -> tuple[Operations, str] | None:
    """The rule as a part of a workflow that is there; None if no step of it knows of what is waited for."""
    new = _notify(act, what, document)
    if what.cron is not None:
        return None
    if what.error:
        return _on_errors(document, new), "when a step fails"
    if what.step is not None and matching(document, what.step):
        step = node(document, what.step)["id"]
        if what.step_fails:
            return beside(document, step, new, on="error"), f"when `{step}` fails"
        return beside(document, step, new), f"when `{step}` is done"
    if what.condition is not None:
        return _behind_limit(act, what, document, new)
    source = _source(document, (what.event or "").replace(".", " ").replace("_", " "), what.words)
    return None if source is None else (beside(document, source, new), f"when {what.words} (after `{source}`)")


def _behind_limit(act: Told, what: Happening, document: Document, new: dict[str, Any]) -> tuple[Operations, str] | None:
    source = _source(document, what.field or "")
    if source is None or what.condition is None:
        return None
    # What a server answered lies in the body of a request's result.
    inside = ".body" if node(document, source)["type"] == "http" else ""
    new["config"]["message"] = act.text or _message(what, f"$nodes.{source}{inside}")
    condition = what.condition_behind(source, inside)
    return beside(document, source, new, condition=condition), f"when {what.words} (after `{source}`)"


def _source(document: Document, *said: str) -> str | None:
    """The one step that these words are about; None if there is none, or a sentence if there are several."""
    for words in said:
        found = matching(document, words.replace("_", " "))
        if len(found) > 1:
            raise NotPlanned(f"Several steps may know of the {words}: {_ids(found)}.", "Say after which one.")
        if found:
            return str(found[0]["id"])
    return None


def _on_errors(document: Document, new: dict[str, Any]) -> Operations:
    """Every step that may fail and says nothing of it yet leads to the new one when it does."""
    guarded = {edge["from"] for edge in document["edges"] if edge.get("on") == "error"}
    told_ones = {edge["to"] for edge in document["edges"] if edge.get("on") == "error"}
    steps = [one["id"] for one in document["nodes"] if one["id"] not in guarded | told_ones]
    if not steps:
        raise NotPlanned("Every step has a way to go when it fails already.", "Say which step you mean.")
    edges = [
        {"op": "add", "path": "/edges/-", "value": {"from": step, "to": new["id"], "on": "error"}} for step in steps
    ]
    return [{"op": "add", "path": "/nodes/-", "value": {**new, "config": {**new["config"], "join": "any"}}}, *edges]


def _new(act: Told, what: Happening, known: Known) -> Draft:
    """A workflow of its own for the rule."""
    empty: Document = {"nodes": [], "edges": []}
    tell = _notify(act, what, empty)
    document: Document = {"nodes": [tell], "edges": []}
    notes = [act.note] if act.note else []
    if what.condition is not None:
        check = {"id": f"check_{what.field}", "type": "conditional", "config": {"input": "$input.event"}}
        document = {
            "nodes": [check, tell],
            "edges": [{"from": check["id"], "to": tell["id"], "condition": what.condition_behind(str(check["id"]))}],
        }
        notes.append(
            f'Whoever sends the event `{what.event}` sends the {what.field} along, like {{"{what.field}": 1}}.'
        )
    trigger = _trigger(what, known)
    if trigger["type"] == "event":
        notes.append(f"It starts when the event `{what.event}` comes in.")
    document["triggers"] = [trigger]
    tag = known.tag or free_tag(known, slug(f"{tell['id'].replace('_', ' ')} {what.words}", "-", 8))
    described = f"{_capital(act.words)} {'' if what.cron else 'when '}{what.words}."
    document["metadata"] = {"name": tag, "description": described}
    return Draft(tag, [{"op": "replace", "path": "", "value": document}], described, notes=tuple(notes))


def failing(said: str, known: Known) -> Happening | None:
    """The failure of a run of a workflow that is named, if that is what the words wait for."""
    found = _FAILING.fullmatch(said.strip(" ,"))
    tags = [tag for tag in known.workflows if found and tag.lower() == found["tag"].lower()]
    return Happening(said.strip(" ,"), event="workflow.run.failed", workflow=tags[0]) if tags else None


def _trigger(what: Happening, known: Known) -> dict[str, Any]:
    if what.workflow is not None:
        return {"type": "event", "event": str(what.event), "condition": f"$.workflow == {json.dumps(what.workflow)}"}
    if what.cron is not None:
        return {"type": "cron", "schedule": what.cron, "timezone": known.zone}
    if what.event is None:
        raise NotPlanned(f"It is not clear what “{what.words}” is known by.", "Say it like “when an order is placed”.")
    return {"type": "event", "event": what.event}


def free_tag(known: Known, wanted: str) -> str:
    """A tag like this that no workflow has yet."""
    number, free = 2, wanted
    while free in known.workflows:
        free, number = f"{wanted}-{number}", number + 1
    return free


def _notify(act: Told, what: Happening, document: Document) -> dict[str, Any]:
    config = dict(act.config)
    config["message"] = act.text or _message(what, "$input.event")
    if config["channel"] == "email":
        config["subject"] = _capital(what.words)[:200]
    return {"id": free_id(document, act.name), "type": "notify", "config": config}


def _message(what: Happening, source: str) -> str:
    if what.field is not None:
        return f"{_capital(what.words)}: it is ${{{source}.{what.field}}} now."
    return f"{_capital(what.words)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ids(nodes: list[dict[str, Any]]) -> str:
    return ", ".join(f"`{one['id']}`" for one in nodes[:12])
