"""When a workflow runs, how long a change holds, and what was done once made to last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from laneway.errors import BadInput
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import matching, target
from laneway.lanes.workflow.sentences.rules import free_tag
from laneway.lanes.workflow.sentences.words import slug, unquoted
from laneway.language.rhythm import cron_of
from laneway.language.times import moment_of

_RHYTHM = (
    r"(?P<when>(?:every|each|daily|hourly|weekly|monthly|weekdays|weekends|on|at|first|last|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b.*)"
)
_RUN = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"(?:always )?(?P<verb>run|start|execute|schedule|launch|trigger) (?:the )?(?:workflow )?(?P<what>[\w\"“”`'. "
        rf"-]{{1,80}}?)(?: workflow)?(?: to run)? {_RHYTHM}",
        rf"(?:the )?(?:workflow )?(?P<what>[\w\"“”`'. -]{{1,80}}?)(?: workflow)? (?:should|shall|must) run {_RHYTHM}",
        rf"(?P<verb>change|set|move) the schedule(?: of (?:the )?(?:workflow )?(?P<what>[\w\"“”`'. -]{{1,80}}?)"
        rf"(?: workflow)?)? to {_RHYTHM}",
    )
)
_LAST = re.compile(
    r"(?:always )?(?:make|turn|keep|save|store) (?:this|that|it)(?: one)?(?: (?:permanent|into a "
    r"workflow|as a workflow|a workflow|for ever|forever|recurring))"
    r"(?:,? (?:called|named|as) (?P<name>[\w\"“”`'. -]{1,60}?))?(?:,? (?:and run it )?(?P<when>(?:every|"
    r"each|daily|hourly|weekly)\b.*))?"
    r"|(?:do|run|repeat) (?:this|that|it)(?: again)? (?P<when2>(?:every|each|daily|hourly|weekly)\b.*)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:(?:for the next|during the next|only for|for) (?P<length>\d+ (?:minutes?|hours?|days?|weeks?)"
    r"|(?:an?|one|two|three) (?:hour|day|week)s?)"
    r"|until (?P<until>.+?))",
    re.IGNORECASE,
)
_AHEAD = re.compile(rf"{_LIMIT.pattern}, (?P<rest>.+)", re.IGNORECASE)
_BEHIND = re.compile(rf"(?P<rest>.+?),? {_LIMIT.pattern}", re.IGNORECASE)
_OWN = frozenset({"input", "enabled", "id"})
_THIS = frozenset({"it", "this", "that", "this workflow", "the workflow", "workflow"})


def limited(said: str, known: Known) -> tuple[str, datetime | None]:
    """The sentence without how long it holds, and until when that is."""
    for shape in (_AHEAD, _BEHIND):
        found = shape.fullmatch(said)
        if found is None:
            continue
        words = found["until"] or "in " + re.sub(r"^(?:an?|one)\b", "1", found["length"]).replace("two", "2").replace(
            "three", "3"
        )
        try:
            until = moment_of(words, known.now, ZoneInfo(known.zone))
        except BadInput:
            continue
        if until > known.now:
            return found["rest"], until
    return said, None


def scheduled(said: str, known: Known, named: str | None) -> Draft | None:
    """A workflow run at times, if the sentence says so."""
    for shape in _RUN:
        found = shape.fullmatch(said)
        if found is None:
            continue
        what = unquoted(found["what"] or "it")
        try:
            cron = cron_of(found["when"])
        except BadInput as error:
            raise NotPlanned(f"The time “{found['when'][:60]}” is not understood.", error.hint) from None
        tag, document = _meant(what, known, named)
        trigger = {"type": "cron", "schedule": cron, "timezone": known.zone}
        return _with_trigger(tag, document, trigger, found["when"], (found.groupdict().get("verb") or "").lower())
    return None


def _meant(what: str, known: Known, named: str | None) -> tuple[str, dict[str, Any]]:
    """The workflow of this name, or the one that begins with this step."""
    if what.lower() in _THIS:
        return target(known, named)
    if any(tag.lower() == what.lower() for tag in known.workflows):
        return target(known, what)
    having = [(tag, one) for tag, one in known.workflows.items() if matching(one, what) and known.tag in (None, tag)]
    if len(having) == 1:
        tag, document = having[0]
        led_to = {edge["to"] for edge in document["edges"]}
        first = [one["id"] for one in document["nodes"] if one["id"] not in led_to]
        if [one["id"] for one in matching(document, what)] == first:
            return tag, document
        raise NotPlanned(
            f"`{what}` is a step in the middle of `{tag}`; a workflow runs as a whole.", f"Say “run {tag} …”."
        )
    return target(known, what)


def _with_trigger(tag: str, document: dict[str, Any], trigger: dict[str, Any], words: str, verb: str) -> Draft:
    triggers = list(document.get("triggers", []))
    others = [one for one in triggers if one.get("type") == "cron"]
    if others and verb not in ("change", "set", "move"):
        there = ", ".join(str(one.get("schedule")) for one in others[:3])
        raise NotPlanned(f"`{tag}` runs at times already ({there}).", f"Say “change the schedule of {tag} to {words}”.")
    if len(others) > 1 and any(_OWN & one.keys() for one in others):
        raise NotPlanned(
            f"`{tag}` has several schedules that differ in more than their times.", "Change one by a patch."
        )
    # The one that is there keeps its place and whatever else it says.
    place = triggers.index(others[0]) if others else len(triggers)
    kept = [one for one in triggers if one.get("type") != "cron"]
    kept.insert(place, {**others[0], **trigger} if others else trigger)
    after = {**document, "triggers": kept}
    paused = " It is paused, and stays so until somebody resumes it." if kept[place].get("enabled") is False else ""
    return Draft(tag, between(document, after), f"`{tag}` runs {words} ({trigger['timezone']}).{paused}")


def made_to_last(said: str, known: Known, named: str | None) -> Draft | None:
    """The last pipeline of the conversation as a workflow, if the sentence asks for that."""
    found = _LAST.fullmatch(said)
    if found is None:
        return None
    offer = known.offer
    if offer is None and found["when2"] and known.workflows:
        # Nothing was just done: what shall run at times is a workflow.
        return None
    if offer is None or not isinstance(offer.get("plan"), dict):
        raise NotPlanned("There is nothing here to make permanent.", "Run it once first, then say so.")
    when = found["when"] or found["when2"]
    try:
        trigger = (
            {"type": "cron", "schedule": cron_of(when), "timezone": known.zone} if when else _offered(offer, known)
        )
    except BadInput as error:
        raise NotPlanned(f"The time “{when[:60]}” is not understood.", error.hint) from None
    words = str(offer.get("sentence") or offer.get("prompt") or "A pipeline").rstrip(".")
    tag = unquoted(found["name"] or "") or str(offer.get("tag") or "") or slug(words, "-", 6)
    tag = free_tag(known, re.sub(r"[^A-Za-z0-9_.-]+", "-", tag).strip("-.") or "pipeline")
    document = {
        "nodes": [{"id": "pipeline", "type": "pipeline", "config": _config(offer)}, _report()],
        "edges": [{"from": "pipeline", "to": "report"}], "triggers": [trigger],
        "metadata": {"name": tag, "description": words[:2000]},
    }  # fmt: skip
    runs = (
        "It runs when you say so."
        if trigger["type"] == "manual"
        else f"It runs {when or trigger['schedule']} ({known.zone})."
    )
    return Draft(tag, [{"op": "replace", "path": "", "value": document}], f"{words[:300]}. {runs}")


def _offered(offer: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """The trigger that was offered; by hand, if none was."""
    triggers = (offer.get("document") or {}).get("triggers") or [{}]
    schedule = triggers[0].get("schedule") or triggers[0].get("cron")
    return {"type": "cron", "schedule": schedule, "timezone": known.zone} if schedule else {"type": "manual"}


def _config(offer: Mapping[str, Any]) -> dict[str, Any]:
    """The pipeline as it ran, on the tables it is given where it fetches none."""
    nodes = (offer.get("document") or {}).get("nodes") or [{}]
    config = nodes[0].get("config", {})
    tables = config.get("tables") or offer.get("tables")
    # Words about a day are read anew on every day.
    work = {"prompt": config["prompt"]} if "prompt" in config else {"plan": offer["plan"]}
    return work | ({"tables": tables} if tables else {})


def _report() -> dict[str, Any]:
    return {"id": "report", "type": "notify", "config": {"channel": "owner", "message": "${$nodes.pipeline}"}}
