"""Steps added and removed: “add a notification step after processing”, “remove the step fetch”."""

from __future__ import annotations

import re
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.lanes.workflow.sentences.building import ahead, behind, beside, edges_into, without
from laneway.lanes.workflow.sentences.draft import Draft, Known, NotPlanned
from laneway.lanes.workflow.sentences.finding import free_id, holder, node, target
from laneway.lanes.workflow.sentences.telling import told
from laneway.lanes.workflow.sentences.words import LENGTH, lasting, milliseconds

_STEP = r"(?P<step>[\w\"“”`' -]{1,80}?)(?: step| node)?"
_KIND = (
    rf"(?:an? |another |one )?(?P<kind>(?:e-?mail|mail|slack|telegram|whatsapp)(?: notification| message| alert)?|"
    rf"notification|notify|alert|approval|confirmation|review|sign-?off|"
    rf"(?:wait|delay|pause) of {LENGTH}|{LENGTH} (?:wait|delay|pause))(?: step| node)?(?: (?:that|"
    rf"which|to|for) (?P<more>.+?))?"
)
_THAT = r"(?:an? )?(?:new )?(?:step|node) (?:that|which|to) (?P<act>.+?)"
_WHERE = (
    rf"(?:(?P<where>after|behind|following|before|ahead of) (?:the )?{_STEP}"
    rf"|between (?:the )?(?P<first>[\w\"`' -]{{1,60}}?) and (?:the )?(?P<second>[\w\"`' -]{{1,60}}?)"
    rf"|(?P<end>at the (?:very )?end))"
)
_ADD = tuple(
    re.compile(rf"(?:always )?(?:add|insert|put|append|include) {what},? {_WHERE}", re.IGNORECASE)
    for what in (_KIND, _THAT)
)
_WAIT = re.compile(rf"(?:always )?(?P<kind>wait (?:for )?{LENGTH}) {_WHERE}", re.IGNORECASE)
_ASK = re.compile(rf"(?:always )?ask me (?:for (?:my |an )?(?P<kind>approval|confirmation) )?{_WHERE}", re.IGNORECASE)
_AHEAD = re.compile(rf"{_WHERE},? (?:add|insert|put|append|include) {_KIND}", re.IGNORECASE)
_TELL = re.compile(
    rf"(?:always )?(?P<act>.+?),? (?P<where>after|once) (?:the )?{_STEP}(?: is done| finishes| has run| completes)?",
    re.IGNORECASE,
)
_REMOVE = re.compile(
    rf"(?:remove|delete|drop|take out|get rid of) (?:the )?(?:step |node )?(?:called |named )?{_STEP}", re.IGNORECASE
)
_WHOLE = re.compile(
    r"(?:remove|delete|drop|get rid of) (?:the |my |this )?(?:whole |entire )?"
    r"(?:workflow(?: (?:called |named )?[\"“`']?(?P<tag>[\w.-]+)[\"”`']?)?"
    r"|[\"“`']?(?P<ahead>[\w.-]+)[\"”`']? workflow)",
    re.IGNORECASE,
)
_DECISIONS = frozenset({"approval", "confirmation", "review", "signoff", "sign-off"})


def added(said: str, known: Known, named: str | None) -> Draft | None:
    """A step set in where the sentence says, if it is such a sentence."""
    for shape in (*_ADD, _AHEAD, _WAIT, _ASK, _TELL):
        found = shape.fullmatch(said)
        if found is None:
            continue
        parts = found.groupdict()
        if shape is _ASK:
            parts["kind"] = "approval"
        if shape is _TELL and told(parts["act"]) is None:
            continue
        return _add(parts, known, named)
    return None


def _add(parts: dict[str, Any], known: Known, named: str | None) -> Draft:
    tag, document, place = _place(parts, known, named)
    new, words, note = _new(parts, document)
    before = (parts.get("where") or "").lower() in ("before", "ahead of")
    passing = new["type"] != "notify"
    condition = 'output.decision == "approved"' if new["type"] == "hitl" else None
    if parts.get("first"):
        first = node(document, parts["first"])
        operations, where = (
            ahead(document, place, new, condition, first["id"]),
            f"between `{first['id']}` and `{place['id']}`",
        )
    elif before and not passing and (into := edges_into(document, place["id"])):
        operations, where = _beside_all(document, [edge["from"] for edge in into], new), f"before `{place['id']}`"
    elif before:
        operations, where = ahead(document, place, new, condition), f"before `{place['id']}`"
    elif passing:
        operations, where = behind(document, place, new, condition), f"after `{place['id']}`"
    else:
        operations, where = beside(document, place["id"], new), f"after `{place['id']}`"
    return Draft(tag, operations, f"{words} {where}.", notes=(note,) if note else ())


def _place(parts: dict[str, Any], known: Known, named: str | None) -> tuple[str, Document, dict[str, Any]]:
    if parts.get("second"):
        return holder(known, parts["second"], named)
    if parts.get("end"):
        tag, document = target(known, named)
        followed = {edge["from"] for edge in document["edges"]}
        last = [one for one in document["nodes"] if one["id"] not in followed]
        if len(last) != 1:
            ids = ", ".join(f"`{one['id']}`" for one in last[:12])
            raise NotPlanned(f"The workflow has several ends: {ids}.", "Say after which step.")
        return tag, document, last[0]
    return holder(known, parts["step"], named)


def _new(parts: dict[str, Any], document: Document) -> tuple[dict[str, Any], str, str]:
    """The step itself, what it is in words, and what to know about it."""
    if parts.get("act"):
        return _telling(parts["act"], document)
    kind, more = (parts.get("kind") or "").lower(), parts.get("more")
    if kind in _DECISIONS:
        if more:
            raise NotPlanned(f"“{more}” is not understood here.", "Say only where the approval shall stand.")
        config = {"message": "May this go on?"}
        return {"id": free_id(document, "approval"), "type": "hitl", "config": config}, "You are asked for approval", ""
    if re.search(r"\b(?:wait|delay|pause)\b", kind):
        length = milliseconds(re.search(LENGTH, kind)[0])  # type: ignore[index]
        waiting = {"id": free_id(document, "wait"), "type": "wait", "config": {"duration_ms": length}}
        return waiting, f"It waits {lasting(length)}", ""
    if more:
        return _telling(more, document)
    channel = re.match(r"e-?mail|mail|slack|telegram|whatsapp", kind)
    return _telling(f"send a {channel[0]} message" if channel else "notify me", document)


def _telling(said: str, document: Document) -> tuple[dict[str, Any], str, str]:
    act = told(
        re.sub(r"^(e-?mail|notif|alert|tell|inform|ping|warn|send|post)(?:ies|s)\b", _plain, said, flags=re.IGNORECASE)
    )
    if act is None:
        raise NotPlanned(f"What the step shall do is not understood: “{said[:80]}”.", "Say it like “notify slack”.")
    config = {**act.config, "message": act.text or "The workflow has come to this step."}
    config |= {"subject": "A workflow has something to say"} if config["channel"] == "email" else {}
    words = act.words[:1].upper() + act.words[1:]
    return {"id": free_id(document, act.name), "type": "notify", "config": config}, words, act.note


def _plain(found: re.Match[str]) -> str:
    return found[1] + ("y" if found[0].lower().endswith("ies") else "")


def _beside_all(document: Document, sources: list[str], new: dict[str, Any]) -> Operations:
    operations = beside(document, sources[0], {**new, "config": {**new["config"], "join": "any"}})
    more = [{"op": "add", "path": "/edges/-", "value": {"from": one, "to": new["id"]}} for one in sources[1:]]
    return operations + more


def removed(said: str, known: Known, named: str | None) -> Draft | None:
    """A step taken out, if the sentence says so."""
    found = _REMOVE.fullmatch(said)
    if found is None:
        return None
    _check_not_whole(said, known)
    tag, document, place = holder(known, found["step"], named)
    return Draft(tag, without(document, place), f"The step `{place['id']}` is removed.")


def _check_not_whole(said: str, known: Known) -> None:
    """Returns only if the sentence does not speak of a whole workflow, which no patch of it can take away."""
    whole = _WHOLE.fullmatch(said)
    name = (whole["tag"] or whole["ahead"]) if whole else None
    if whole is None or (name or "").lower() in ("step", "node"):
        return
    tag, _ = target(known, name)
    raise NotPlanned(
        f"A sentence changes a workflow, and does not remove all of `{tag}`.",
        f"Remove it with `laneway workflow remove {tag}`, or DELETE /workflows/{tag}.",
    )
