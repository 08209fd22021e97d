"""Another limit for a rule that is there: “change the threshold to 80”, “lower the price limit to 80”."""

from __future__ import annotations

import re
from typing import Any

from laneway.domain.workflow import Document
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences.changing import LONGER, SHORTER, one_step
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import matching, target
from laneway.lanes.workflow.sentences.words import NUMBER, number, slug, unquoted

_LIMIT = re.compile(
    r"(?P<verb>change|set|lower|reduce|raise|increase|update) (?:the )?(?:(?P<field>[\w -]{1,40}?) )?"
    r"(?:limit|threshold)(?: (?:of|for|in) (?:the )?(?:step )?(?P<of>[\w\"“”`' -]{1,60}?))?"
    rf"(?: from (?P<old>{NUMBER}))? to (?P<new>{NUMBER})",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"(?P<field>[\w.\[\]'\"]+) (?P<sign><=?|>=?|==) (?P<number>-?\d+(?:\.\d+)?)(?![\w.])")


def limited(said: str, known: Known, named: str | None) -> Draft | None:
    """The one number a condition compares with is another, if the sentence says so."""
    found = _LIMIT.fullmatch(said)
    if found is None:
        return None
    tag, document = target(known, named)
    new, verb, about = number(found["new"]), found["verb"].lower(), unquoted(found["of"] or found["field"] or "")
    loops = [one for one in matching(document, about) if one["type"] == "loop"] if about else []
    if len(loops) == 1:
        return _rounds(tag, document, loops[0], new, verb)
    index, old = _place(document, about)
    if found["old"] and number(found["old"]) != old:
        raise NotPlanned(f"The limit is {old} now, not {number(found['old'])}.", "Say the new one only.")
    _check_direction(verb, old, new)
    after = _with(document, index, old, new)
    edge = document["edges"][index]
    described = f"The limit of the way from `{edge['from']}` to `{edge['to']}` becomes {new} (now {old})."
    return Draft(tag, between(document, after), described)


def _rounds(tag: str, document: Document, loop: dict[str, Any], new: int | float, verb: str) -> Draft:
    config = dict(loop.get("config", {}))
    if not isinstance(new, int) or new < 1:
        raise NotPlanned(f"A loop goes round a whole number of times, not {new}.", "Say another number.")
    _check_direction(verb, config.get("max_iterations", 0), new)
    change = {**loop, "config": {**config, "max_iterations": new}}
    return one_step(tag, document, loop, change, f"The loop `{loop['id']}` goes back at most {new} times.")


def _place(document: Document, about: str) -> tuple[int, int | float]:
    """The one edge whose condition compares with one number, and that number."""
    found = [
        (index, {number(one["number"]) for one in compared})
        for index, edge in enumerate(document["edges"])
        if (compared := _about(edge, about, document))
    ]
    if len(found) != 1 or len(found[0][1]) != 1:
        what = f" of {about}" if about else ""
        shown = "; ".join(str(document["edges"][index]["condition"])[:80] for index, _ in found[:4])
        raise NotPlanned(
            f"Several limits{what} may be meant: {shown}." if found else f"No condition has a limit{what}.",
            "Say which one, like “the price limit”, or change the condition by a patch.",
        )
    return found[0][0], next(iter(found[0][1]))


def _about(edge: dict[str, Any], about: str, document: Document) -> list[re.Match[str]]:
    """The comparisons of an edge that these words are about: its field, or a step at one of its ends."""
    compared = list(_COMPARED.finditer(str(edge.get("condition", ""))))
    ends = {one["id"] for one in matching(document, about)} if about else set()
    if not about or {edge["from"], edge["to"]} & ends:
        return compared
    return [one for one in compared if one["field"].rsplit(".", 1)[-1].strip("[]'\"") == slug(about)]


def _check_direction(verb: str, old: int | float, new: int | float) -> None:
    if new == old:
        raise NotPlanned(f"The limit is {old} already.", "There is nothing to change.")
    if (verb in SHORTER and new > old) or (verb in LONGER and new < old):
        raise NotPlanned(f"The limit is {old} now.", f"{new} does not {verb} it.")


def _with(document: Document, index: int, old: int | float, new: int | float) -> Document:
    """The document with the number changed in that condition, and in the texts that tell of it."""
    edges, target_id = [dict(one) for one in document["edges"]], document["edges"][index]["to"]
    edges[index]["condition"] = _COMPARED.sub(
        lambda one: f"{one['field']} {one['sign']} {new}" if number(one["number"]) == old else one[0],
        edges[index]["condition"],
    )
    nodes = [_told(one, old, new) if one["id"] == target_id else one for one in document["nodes"]]
    after = {**document, "nodes": nodes, "edges": edges}
    about = document.get("metadata", {}).get("description")
    return {**after, "metadata": {**after["metadata"], "description": _said(about, old, new)}} if about else after


def _told(node: dict[str, Any], old: int | float, new: int | float) -> dict[str, Any]:
    if node["type"] != "notify" or "config" not in node:
        return node
    texts = {key: _said(node["config"][key], old, new) for key in ("message", "subject") if key in node["config"]}
    return {**node, "config": {**node["config"], **texts}}


def _said(text: str, old: int | float, new: int | float) -> str:
    return re.sub(rf"(?<![\w.$]){re.escape(str(old))}(?![\w]|\.\d)", str(new), text)
