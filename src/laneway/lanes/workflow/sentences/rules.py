"""Rules: who is told how (“e-mail me”), what it waits for (“the price drops below 100”), and the patch of both."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from laneway.domain.workflow import Document, Operations
from laneway.errors import BadInput
from laneway.lanes.workflow.sentences import find
from laneway.lanes.workflow.sentences.find import DraftContext, WorkflowDraft
from laneway.lanes.workflow.sentences.grammar import NAME, PLAIN_SLOTS, Grammar, Slot, Unread, Values, unquote
from laneway.lanes.workflow.sentences.graph_edit import edges_at, insert_beside
from laneway.language.names import free_name, slug
from laneway.language.refusal import NotUnderstood
from laneway.language.rhythm import cron_of

VERBS = r"(?=(?:e-?mail|mail|send|notify|alert|tell|inform|warn)\b)"
"""Every way to tell somebody begins with one of these."""
ADDRESS = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
CHATS = "slack|telegram|whatsapp"
TEXT = r"\"[^\"]+\"|`[^`]+`|'[^']+'"


@dataclass(frozen=True)
class Notification:
    """A notify step: its config without the message, what it does in words, its name, and its text if one was said."""

    config: dict[str, Any]
    words: str
    name: str
    notes: tuple[str, ...] = ()
    text: str = ""

    def node(self, document: Document, message: str, subject: str) -> dict[str, Any]:
        """The step, under an id that the document has not yet."""
        config = {**self.config, "message": self.text or message}
        config |= {"subject": subject[:200]} if config["channel"] == "email" else {}
        return {
            "id": free_name({one["id"] for one in document["nodes"]}, self.name),
            "type": "notify",
            "config": config,
        }


@dataclass(frozen=True)
class Occurrence:
    """What a rule waits for: an event, a time, a limit (`< 100`) of a field, or the end or failure of a step or run."""

    words: str = ""
    event: str | None = None
    cron: str | None = None
    field: str | None = None
    limit: str | None = None
    is_passing: bool = False
    """Whether the limit is passed ("drops below"), and not only lain beyond ("is below")."""
    step: str | None = None
    fails: bool = False
    workflow: str | None = None

    def condition_after(self, step: str, inside: str = "") -> str:
        """The condition of the way out of this step, whose output has the field below `inside`.

        A limit is passed when the field lies beyond it now and did not the last time the step gave one.
        """
        now, was = f"output{inside}.{self.field}", f"{step}{inside}.{self.field}".split(".")
        ways = [f"ctx.previous.{'.'.join(was[: count + 1])}" for count in range(len(was))]
        there = "".join(f"has({way}) && " for way in ways)
        passing = f" && !({there}{ways[-1]} {self.limit})" if self.is_passing else ""
        return f"has({now}) && {now} {self.limit}{passing}"

    def message(self, source: str = "$input.event") -> str:
        """What a notification of it says."""
        return f"{capitalize(self.words)}{f': it is ${{{source}.{self.field}}} now' if self.field else ''}."


def build_notification(by: str, who: str, text: str | None = None) -> Notification:
    """Who is told by what; a channel and an address that do not go together are refused."""
    by = {"mail": "email", "e-mail": "email", "message": "", "notification": "", "alert": ""}.get(by, by)
    chat, is_address = who.lower() if who.lower() in CHATS.split("|") else "", re.fullmatch(ADDRESS, who)
    if (is_address and by not in ("", "email")) or (chat and by not in ("", chat)):
        raise NotUnderstood(f"`{who}` cannot be reached by {by}.", "Say one way only.")
    text, by, who = unquote(text or ""), chat or by, "" if chat or who.lower() in ("me", "us") else who
    if is_address:
        return Notification({"channel": "email", "to": who}, f"an e-mail goes to {who}", "send_email", text=text)
    if by == "slack":
        note = "Slack is reached by the webhook in the secret SLACK_WEBHOOK_URL."
        note += f" It decides who reads it there, and not `{who}`." if who else ""
        config, words = {"channel": "slack", "url": "$secrets.SLACK_WEBHOOK_URL"}, "Slack is told"
        return Notification(config, f"{words} ({who})" if who else words, "notify_slack", (note,), text)
    config, way = {"channel": by or "owner"}, {"email": " by e-mail", "": ""}.get(by, f" by {by}")
    if who:
        note = f"No address of `{who}` is known here, so it goes to you{way}. Say an e-mail address to change that."
        return Notification(config, f"{who} is told (through you)", f"alert_{slug(who, most=3)}", (note,), text)
    words, name = ("an e-mail goes to you", "send_email") if by == "email" else (f"you are told{way}", "notify")
    return Notification(config, words, name, text=text)


_CHANNEL = "<by> [message|notification|alert]"
_SAYING = "[saying|saying: <text>]"
_NOTIFICATIONS = Grammar[str](
    "a way to tell somebody",
    {
        "by": Slot(f"(?:e-?mail|mail|{CHATS}|message|notification|alert)", str.lower, "message"),
        "who": Slot(rf"{ADDRESS}|(?:the |our |my )?{NAME}(?: team)?", example="me"),
        "text": Slot(TEXT, example='"…"'),
    },
    [
        (f"e-mail|email|mail <who> {_SAYING}", "email"),
        (f"send [a|an|the] {_CHANNEL} [to <who>] {_SAYING}", ""),
        (f"send <who> [a|an] {_CHANNEL} {_SAYING}", ""),
        (f"notify|alert|tell|inform|warn <who> [by|via|on <by>] {_SAYING}", ""),
    ],
)


def parse_notification(text: str) -> Notification:
    """Who is told by what, where these words say exactly that."""
    by, values = _NOTIFICATIONS.read(text)
    return build_notification(by or values.get("by") or "", values.get("who") or "", values.get("text"))


_IRREGULAR = {
    "rises": "rose", "falls": "fell", "drops": "dropped", "leaves": "left", "buys": "bought", "pays": "paid",
    "logs": "logged", "cancels": "cancelled", "replies": "replied", "comes": "came", "goes": "went",
}  # fmt: skip
_REGULAR = (
    "arrives|appears|occurs|happens|starts|ends|finishes|fails|crashes|completes|changes|increases|decreases|opens|"
    "closes|expires|signs|joins|orders|registers|subscribes|uploads|updates"
)
"""The verbs that events are named by: a user signs up in `user.signed_up`."""


def _limit(sign: str, is_passing: bool, values: Values) -> Occurrence:
    field = slug(values["thing"])
    return Occurrence(event=f"{field}.changed", field=field, limit=f"{sign} {values['number']}", is_passing=is_passing)


def _event(values: Values) -> Occurrence:
    thing, ends, particle = values["thing"], values.get("ends"), values.get("particle")
    verb = values.get("participle") or (ends or values["verb"]).removeprefix("is ")
    past = _IRREGULAR.get(verb) or (verb if "participle" in values else re.sub("e?s$", "ed", verb))
    name = f"{slug(thing)}.{past}_{particle}" if particle else f"{slug(thing)}.{past}"
    return Occurrence(event=name, step=thing if ends else None, fails=ends == "fails")


_NO_THINGS = "first|second|third|last|next|(?:any|some|every)(?:one|body)"
"""Words before a verb that name no kind of thing an event could be called by."""
_ANY = "[a|an|the|any|another|my|our] [new]"
_LIMITS = {
    "drops|falls|goes|sinks below|under": ("<", True), "drops_to|falls_to": ("<=", True),
    "rises|climbs|goes above|over": (">", True), "exceeds|passes": (">", True), "reaches|hits|rises_to": (">=", True),
    "is below|under|less_than|lower_than": ("<", False), "is above|over|more_than|higher_than": (">", False),
    "is at_least": (">=", False), "is at_most": ("<=", False), "is": ("==", False),
}  # fmt: skip
_OCCURRENCES = Grammar[Callable[[Values], Occurrence]](
    "something that happens",
    {
        "number": PLAIN_SLOTS["number"],
        "thing": Slot(rf"(?!(?:the )?(?:{_NO_THINGS})\b){NAME}(?: {NAME}){{0,3}}?", example="price"),
        "verb": Slot(f"{_REGULAR}|{'|'.join(_IRREGULAR)}", str.lower, "arrives"),
        "particle": Slot("up|in|out|down|off|on|back|over|through", str.lower, "up"),
        "participle": Slot(r"[a-z]{2,}", str.lower, "placed"),
    },
    [
        *((f"{_ANY} <thing> {words} <number>", partial(_limit, *limit)) for words, limit in _LIMITS.items()),
        ("[a|an|any] error|failure|problem [occurs|happens]", lambda _: Occurrence(event="error.occurred")),
        (
            "something|anything|it|the_run|the_workflow fails|breaks|goes_wrong",
            lambda _: Occurrence(event="error.occurred"),
        ),
        ("[the] workflow <thing> fails", lambda values: Occurrence(workflow=values["thing"])),
        ("[the] <thing> workflow fails", lambda values: Occurrence(workflow=values["thing"])),
        ("[the] [step] <thing> [step] <ends:fails|is_done|is_finished|finishes|completes>", _event),
        (f"{_ANY} <thing> is|was|has_been <participle> [<particle>]", _event),
        (f"{_ANY} <thing> <verb> [<particle>]", _event),
    ],
)


def parse_occurrence(text: str) -> Occurrence:
    """What these words wait for, where they say exactly that."""
    make, values = _OCCURRENCES.read(text)
    return replace(make(values), words=text)


def parse_rhythm(text: str) -> Occurrence:
    """The times that these words name."""
    said = text.replace(" ,", ",")
    try:
        return Occurrence(said, cron=cron_of(said))
    except BadInput as error:
        raise Unread(0, error.message, error.hint) from None


def draft_rule(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """The rule as a part of the workflow that knows of what it waits for, or as a workflow of its own."""
    act, what = values["act"], values["what"]
    failing = (what.step or "").lower() if what.fails else ""
    if what.workflow is not None or failing in map(str.lower, context.workflows):
        tag, _ = find.workflow(context, what.workflow or failing)
        what = replace(what, event="workflow.run.failed", workflow=tag)
        return _draft_workflow(act, what, replace(context, tag=None))
    if named is None and context.tag not in context.workflows:
        having = [tag for tag, one in context.workflows.items() if failing in [n["id"].lower() for n in one["nodes"]]]
        if len(having) != 1:
            return _draft_workflow(act, what, context)
        named = having[0]
    tag, document = find.workflow(context, named)
    grafted = None if what.cron else _graft(act, what, document)
    if grafted is not None:
        return WorkflowDraft(tag, grafted[0], f"{capitalize(act.words)} {grafted[1]}.", notes=act.notes)
    if named is None and what.cron:
        # A time is nothing that a step could know of: the rule stands by itself.
        return _draft_workflow(act, what, replace(context, tag=None))
    raise NotUnderstood(
        f"Nothing in `{tag}` tells when {what.words}: it has {find.ids(document['nodes'])}.",
        "After which step shall it happen? Say it like “… after fetch”.",
    )


def _graft(act: Notification, what: Occurrence, document: Document) -> tuple[Operations, str] | None:
    """The rule as a part of a workflow that is there; None if no step of it knows of what is waited for."""
    new = act.node(document, what.message(), capitalize(what.words))
    if what.event == "error.occurred":
        # Every step that may fail and says nothing of it yet leads to the new one when it does.
        busy = {edge[end] for edge in document["edges"] if edge.get("on") == "error" for end in ("from", "to")}
        steps = [one["id"] for one in document["nodes"] if one["id"] not in busy]
        if not steps:
            raise NotUnderstood("Every step has a way to go when it fails already.", "Say which step you mean.")
        new["config"]["join"] = "any"
        return insert_beside(document, steps, new, on="error"), "when a step fails"
    about = what.step or what.field or str(what.event).replace(".", " ")
    found = find.nodes(document, about.replace("_", " ")) or find.nodes(document, about)
    if len(found) > 1:
        raise NotUnderstood(f"`{about}` may be several steps: {find.ids(found)}.", "Say the whole name of one.")
    if not found and what.step is None and what.limit is None:
        return _graft_event(new, what, document)
    if not found:
        return None
    source = str(found[0]["id"])
    if what.step is not None:
        on = {"on": "error"} if what.fails else {}
        return insert_beside(document, [source], new, **on), f"when `{source}` {'fails' if what.fails else 'is done'}"
    where, passing = f"when {what.words} (after `{source}`)", {}
    if what.limit is not None:
        # What a server answered lies in the body of a request's result.
        inside = ".body" if found[0]["type"] == "http" else ""
        new["config"]["message"] = act.text or what.message(f"$nodes.{source}{inside}")
        passing = {"condition": what.condition_after(source, inside)}
    return insert_beside(document, [source], new, **passing), where


_SIGNS = dict.fromkeys(("dropped", "fell", "decreased"), "<") | dict.fromkeys(("rose", "increased"), ">")
_GIVE_NOTHING = ("conditional", "hitl", "loop", "notify", "parallel", "wait")


def _graft_event(new: dict[str, Any], what: Occurrence, document: Document) -> tuple[Operations, str] | None:
    """The rule in a workflow that the event starts, after a step called like it, or one that gives what changes."""
    thing, _, verb = str(what.event).partition(".")
    names = {find.joined(str(what.event)), find.joined(what.words)}
    starts = [one for one in document.get("triggers", []) if one["type"] != "manual"]
    if starts and all(find.joined(str(one.get("event"))) in names for one in starts):
        return insert_beside(document, [], new), f"when {what.words} (`{starts[0]['event']}` starts it)"
    steps = [one for one in document["nodes"] if one["type"] != "notify"]
    called = [one for one in steps if any(name in find.joined(one["id"]) for name in names)]
    gives = [one for one in find.nodes(document, thing) if verb in _SIGNS and one["type"] not in _GIVE_NOTHING]
    found = called or gives
    if len(found) > 1:
        raise NotUnderstood(f"`{what.words}` may be told by several steps: {find.ids(found)}.", "Say after which.")
    if not found:
        return None
    source, edge = str(found[0]["id"]), dict[str, Any]()
    ways = {str(one["condition"]) for one in edges_at(document, "from", source) if "condition" in one}
    if called and len(ways) == 1:
        edge = {"condition": ways.pop()}
    elif gives and not called:
        inside = ".body" if found[0]["type"] == "http" else ""
        now, was = f"output{inside}.{thing}", f"ctx.previous.{source}{inside}.{thing}".split(".")
        there = [f"has({'.'.join(was[:count])})" for count in range(3, len(was) + 1)]
        edge = {"condition": " && ".join([f"has({now})", *there, f"{now} {_SIGNS[verb]} {'.'.join(was)}"])}
    return insert_beside(document, [source], new, **edge), f"when {what.words} (after `{source}`)"


def _draft_workflow(act: Notification, what: Occurrence, context: DraftContext) -> WorkflowDraft:
    """A workflow of its own for the rule."""
    thing = str(what.event).partition(".")[0]
    own = [
        slug(name) for tag, one in context.workflows.items() for name in (tag, *(node["id"] for node in one["nodes"]))
    ]
    if what.limit is None and what.workflow is None and thing in own:
        raise NotUnderstood(f"`{thing}` is a workflow or step of yours.", f"Say “when {thing} fails”.")
    new = act.node({"nodes": []}, what.message(), capitalize(what.words))
    nodes, edges, notes = [new], [], list(act.notes)
    if what.limit is not None:
        check = {"id": f"check_{what.field}", "type": "conditional", "config": {"input": "$input.event"}}
        edges = [{"from": check["id"], "to": new["id"], "condition": what.condition_after(f"check_{what.field}")}]
        nodes.insert(0, check)
        notes.append(f'Whoever sends the event `{what.event}` sends it along, like {{"{what.field}": 1}}.')
    trigger = {"type": "cron", "schedule": what.cron, "timezone": context.zone}
    if what.cron is None:
        only = {"condition": f"$.workflow == {json.dumps(what.workflow)}"} if what.workflow else {}
        trigger = {"type": "event", "event": what.event, **only}
        notes.append(f"It starts when the event `{what.event}` comes in.")
    wanted = slug(f"{new['id'].replace('_', ' ')} {what.words}", "-", 8)
    tag = context.tag or free_name(context.workflows, wanted, "-")
    described = f"{capitalize(act.words)} {'' if what.cron else 'when '}{what.words}."
    about = {"name": tag, "description": described}
    document = {"nodes": nodes, "edges": edges, "triggers": [trigger], "metadata": about}
    return WorkflowDraft(tag, [{"op": "replace", "path": "", "value": document}], described, notes=tuple(notes))


def capitalize(text: str) -> str:
    """The text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
