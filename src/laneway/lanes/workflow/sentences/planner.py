"""The sentences that change a workflow: one table of patterns, each with the function that drafts its patch."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from laneway.errors import BadInput
from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.sentences import find, graph_edit, rules
from laneway.lanes.workflow.sentences.find import DraftContext, WorkflowDraft
from laneway.lanes.workflow.sentences.grammar import NAME, PLAIN_SLOTS, Grammar, Slot, Unread, Values, unquote, words
from laneway.language.names import free_name, slug
from laneway.language.numbers import LENGTH, describe_length
from laneway.language.politeness import strip_politeness
from laneway.language.refusal import MODEL_HINT, NotUnderstood, Refusal
from laneway.language.times import moment_of

LONGEST: Final = 400
_URL = r"[`\"]?https?://[^\s,;\"'`]+[`\"]?"
_SUBJECT = "A workflow has something to say"


def _change_timeout(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    tag, _, step = find.step(context, values["step"], named)
    was = f" (now {describe_length(step['timeout_ms'])})" if "timeout_ms" in step else ""
    described = f"The timeout of `{step['id']}` becomes {describe_length(values['length'])}{was}."
    return _change_step(tag, step, {"timeout_ms": values["length"]}, described)


def _change_retry(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    tag, _, step = find.step(context, values["step"], named)
    pause = {"backoff_ms": values["length"]} if values["length"] else {}
    retry = {**step.get("retry", {}), "max_attempts": values["count"], **pause}
    return _change_step(tag, step, {"retry": retry}, f"`{step['id']}` is tried up to {values['count']} times.")


def _rename_step(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    tag, document, step = find.step(context, values["step"], named)
    new = values["name"] if re.fullmatch(r"[A-Za-z0-9_-]+", values["name"]) else slug(values["name"])
    if any(one["id"] == new for one in document["nodes"]):
        raise NotUnderstood(f"There is a step `{new}` already.", "Choose another name.")
    operations = graph_edit.rename_node(document, step["id"], new)
    return WorkflowDraft(tag, operations, f"The step `{step['id']}` is called `{new}`.")


def _redirect(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    tag, document = find.workflow(context, named)
    steps = [one for one in document["nodes"] if one["type"] == "notify"]
    if old := values["old"]:
        channel, called = re.sub(r"\be-?mail\b", "email", old.lower()), find.nodes(document, old)
        steps = [one for one in steps if one in called or channel in map(str, one.get("config", {}).values())]
    if len(steps) != 1:
        reason = f"Several steps tell somebody: {find.ids(steps)}." if steps else "No step of the workflow tells that."
        raise NotUnderstood(reason, "Say “… instead of …” with the name of one.")
    config = steps[0].get("config", {})
    act = rules.build_notification(values.get("by") or "", values.get("who") or "me")
    rest = {key: config[key] for key in config if key not in ("channel", "to", "url", "subject")}
    subject = {"subject": config.get("subject", _SUBJECT)} if act.config["channel"] == "email" else {}
    described = f"`{steps[0]['id']}` changes: {act.words} instead."
    return replace(_change_step(tag, steps[0], {"config": rest | act.config | subject}, described), notes=act.notes)


def _change_setting(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    tag, _, step = find.step(context, values["step"], named)
    word, said, config = str(values["key"]), values["value"], step.get("config", {})
    key = {"recipient": "to"}.get(word, word)
    may_have = {"http": "url", "agent": "prompt", "hitl": "message", "notify": "message"}.get(step["type"])
    if key not in (*config, may_have) and (key not in ("to", "subject") or config.get("channel") != "email"):
        raise NotUnderstood(f"`{step['id']}` ({step['type']}) has no {word}.", "Say another step.")
    shapes = {"to": (rules.ADDRESS, "one e-mail address"), "url": (_URL, "an address with https://")}
    shape, wanted = shapes.get(key, (rules.TEXT, "it in quotation marks"))
    if not re.fullmatch(shape, said):
        raise NotUnderstood(f"“{said[:60]}” is not understood as its {word}.", f"Write {wanted}.")
    was = f" (now “{str(config[key])[:60]}”)" if key in config else ""
    described = f"The {word} of `{step['id']}` becomes “{unquote(said)[:60]}”{was}."
    return _change_step(tag, step, {"config": {**config, key: unquote(said)}}, described)


_COMPARED = re.compile(r"(?P<field>[\w.\[\]'\"]+) (?P<sign><=?|>=?|==) (?P<number>-?\d+(?:\.\d+)?)(?![\w.])")


def _change_limit(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """The one number a condition compares with is another, also in the texts that tell of it."""
    tag, document = find.workflow(context, named)
    new, verb, about = values["new"], values["verb"], values.get("about")
    found = list[tuple[int, str, str]]()
    for index, edge in enumerate(document["edges"]):
        for one in _COMPARED.finditer(str(edge.get("condition", ""))):
            if about is None or one["field"].rsplit(".", 1)[-1].strip("[]'\"") == slug(about):
                found.append((index, one["number"], one["field"]))
    if len({(index, number) for index, number, _ in found}) != 1:
        conditions = "; ".join(dict.fromkeys(document["edges"][index]["condition"][:80] for index, _, _ in found[:4]))
        reason = f"Several limits may be meant: {conditions}." if found else "No condition has such a limit."
        raise NotUnderstood(reason, "Say which one, like “the price limit”, or send a patch.")
    (index, old, _), fields = found[0], {each for _, _, each in found}
    if values["old"] not in (None, now := float(old)):
        raise NotUnderstood(f"The limit is {old} now, not {values['old']}.", "Say the new one only.")
    if new == now or (verb in ("reduce", "lower") and new > now) or (verb in ("increase", "raise") and new < now):
        raise NotUnderstood(f"The limit is {old} now.", f"{new} does not {verb} it.")
    after = copied(document)
    edge = after["edges"][index]
    edge["condition"] = _COMPARED.sub(
        lambda one: f"{one['field']} {one['sign']} {new}" if one["field"] in fields else one[0], edge["condition"]
    )
    told = [one.get("config", {}) for one in after["nodes"] if one["id"] == edge["to"] and one["type"] == "notify"]
    for texts in (*told, after.get("metadata", {})):
        for key in [one for one in ("message", "subject", "description") if isinstance(texts.get(one), str)]:
            texts[key] = re.sub(rf"(?<![\w.$]){re.escape(old)}(?![\w]|\.\d)", str(new), texts[key])
    described = f"The limit of the way from `{edge['from']}` to `{edge['to']}` becomes {new} (now {old})."
    return WorkflowDraft(tag, between(document, after), described)


def _switch(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """What starts a workflow is switched off or on; what a person starts is left, as whoever starts it wants it."""
    tag, document = find.workflow(context, values["workflow"], named)
    on, after = values["verb"] in ("resume", "enable"), copied(document)
    starts = [one for one in after.get("triggers", []) if one["type"] not in ("manual", "chat")]
    for trigger in starts:
        trigger.pop("enabled", None)
        trigger.update({} if on else {"enabled": False})
    if not starts:
        raise NotUnderstood(f"`{tag}` does not start by itself.", "There is nothing to pause or resume.")
    described = f"`{tag}` starts by itself again." if on else f"`{tag}` is paused: it does not start by itself."
    return WorkflowDraft(tag, between(document, after), described)


def _remove_step(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    if "step" not in values:
        tag, _ = find.workflow(context, values["workflow"], named)
        hint = f"Remove it with `laneway workflow remove {tag}`, or DELETE /workflows/{tag}."
        raise NotUnderstood(f"A sentence changes a workflow, and does not remove all of `{tag}`.", hint)
    tag, document, step = find.step(context, values["step"], named)
    return WorkflowDraft(tag, graph_edit.remove_node(document, step), f"The step `{step['id']}` is removed.")


def _add_step(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """A notification stands beside what follows, an approval or a wait in between."""
    tag, document, place = find.step(context, values["step"], named)
    kind, length, before = values.get("kind", "approval"), values.get("length"), values["where"] == "before"
    where = f"{values['where']} `{place['id']}`."
    if "act" in values or kind != "approval":
        act = values.get("act") or rules.build_notification(kind, "me")
        new = act.node(document, "The workflow has come to this step.", _SUBJECT)
        into = [edge["from"] for edge in graph_edit.edges_at(document, "to", place["id"])]
        new["config"] |= {"join": "any"} if before and into else {}
        operations = graph_edit.insert_beside(document, into if before else [place["id"]], new)
        operations = graph_edit.insert_before(document, place, new) if before and not into else operations
        return WorkflowDraft(tag, operations, f"{rules.capitalize(act.words)} {where}", notes=act.notes)
    insert = graph_edit.insert_before if before else graph_edit.insert_after
    taken, ask = {one["id"] for one in document["nodes"]}, {"message": "May this go on?"}
    if length is None:
        new = {"id": free_name(taken, "approval"), "type": "hitl", "config": ask}
        operations = insert(document, place, new, 'output.decision == "approved"')
        return WorkflowDraft(tag, operations, f"You are asked for approval {where}")
    new = {"id": free_name(taken, "wait"), "type": "wait", "config": {"duration_ms": length}}
    return WorkflowDraft(tag, insert(document, place, new), f"It waits {describe_length(length)} {where}")


def _schedule(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """A workflow runs at times; a schedule that is there is only replaced by who says “change”."""
    if values["verb"] == "run" and "workflow" not in values and context.offer is not None:
        return _make_permanent(values, context, named)
    when, (tag, document) = values["rhythm"], find.workflow(context, values.get("workflow"), named)
    after = copied(document)
    timed = [one for one in after.setdefault("triggers", []) if one["type"] == "cron"]
    if len(timed) > 1 or (timed and values["verb"] not in ("change", "set")):
        hint = "Send a patch." if len(timed) > 1 else f"Say “change the schedule of {tag} to {when.words}”."
        raise NotUnderstood(f"`{tag}` runs at times already ({timed[0]['schedule']}).", hint)
    if not timed:
        after["triggers"] += (timed := [{"type": "cron"}])
    timed[0].update(schedule=when.cron, timezone=context.zone)
    paused = " It is paused, and stays so until somebody resumes it." if timed[0].get("enabled") is False else ""
    return WorkflowDraft(tag, between(document, after), f"`{tag}` runs {when.words} ({context.zone}).{paused}")


def _make_permanent(values: Values, context: DraftContext, named: str | None) -> WorkflowDraft:
    """The last pipeline of the conversation becomes a workflow."""
    offer = context.offer
    if offer is None or not isinstance(offer.get("plan"), dict):
        raise NotUnderstood("There is nothing here to make permanent.", "Run it once first, then say so.")
    offered = offer.get("document") or {}
    first, config = (offered.get("triggers") or [{}])[0], (offered.get("nodes") or [{}])[0].get("config", {})
    cron = when.cron if (when := values["rhythm"]) else first.get("schedule")
    told = str(offer.get("sentence") or offer.get("prompt") or "A pipeline").rstrip(".")
    tag = re.sub(r"[^A-Za-z0-9_.-]+", "-", values.get("name") or str(offer.get("tag") or slug(told, "-"))).strip("-.")
    tag = free_name(context.workflows, tag or "pipeline", "-")
    # Words about a day are read anew on every day.
    work = {"prompt": config["prompt"]} if "prompt" in config else {"plan": offer["plan"]}
    work |= {"tables": tables} if (tables := config.get("tables") or offer.get("tables")) else {}
    report = {"id": "report", "type": "notify", "config": {"channel": "owner", "message": "${$nodes.pipeline}"}}
    document = {
        "nodes": [{"id": "pipeline", "type": "pipeline", "config": work}, report],
        "edges": [{"from": "pipeline", "to": "report"}],
        "triggers": [{"type": "cron", "schedule": cron, "timezone": context.zone} if cron else {"type": "manual"}],
        "metadata": {"name": tag, "description": told[:2000]},
    }  # fmt: skip
    runs = f"It runs {when.words if when else cron} ({context.zone})." if cron else "It runs when you say so."
    return WorkflowDraft(tag, [{"op": "replace", "path": "", "value": document}], f"{told[:300]}. {runs}")


def _change_step(tag: str, step: graph_edit.Node, change: dict[str, Any], described: str) -> WorkflowDraft:
    """One step of the document changed, by its name."""
    return WorkflowDraft(tag, between(step, {**step, **change}, f"/nodes/@{step['id']}"), described)


_RHYTHM = r"(?:(?:on )?(?:the )?(?:every|each|\w+ly|\w+days?|weekends|first|last)\b|at \d).*?"
_WHEN = "when|whenever|if|as_soon_as|every_time"
_CHANNEL = rf"(?:(?:e-?mail|{rules.CHATS})(?: (?:notification|message|alert))?|notification|message|alert)"
_PLACE = "<where:after|before> <step>"
_LIMIT = "<verb:change|set|raise|increase|lower|reduce> [the]"
_SLOTS = PLAIN_SLOTS | {
    "step": Slot(words(5), example="fetch", form="(?:the )?(?:step |node )?{} (?:step |node )?"),
    "workflow": Slot(words(2), example="report", form="(?:the )?(?:workflow )?{} (?:workflow )?"),
    "name": Slot(rf"\"[^\"]+\"|{NAME}(?: {NAME}){{0,2}}?", example="download"),
    "value": Slot(words(80), str, '"…"'),
    "about": Slot(words(4), example="price"),
    "key": Slot("url|recipient|subject|message|prompt", str.lower, "url"),
    "who": Slot(rf"{rules.CHATS}|{rules.ADDRESS}", example="slack"),
    "by": Slot(rf"e-?mail|{rules.CHATS}", str.lower, "slack"),
    "kind": Slot(rf"approval|{_CHANNEL}", lambda text: text.lower().split()[0], "notification"),
    "rhythm": Slot(_RHYTHM, rules.parse_rhythm, "every day at 9", is_nested=True),
    "act": Slot(rules.VERBS + words(80), rules.parse_notification, "notify me", is_nested=True),
    "what": Slot(words(80), rules.parse_occurrence, "fetch fails", is_nested=True),
}
SHAPES = Grammar[Callable[[Values, DraftContext, str | None], WorkflowDraft]](
    "a change of a workflow",
    _SLOTS,
    [
        ("make this|that|it permanent [called <name>] [,] [and_run_it <rhythm>]", _make_permanent),
        ("change|set the timeout of <step> to <length>", _change_timeout),
        ("retry|try <step> [again] [up_to] <count> [times] [with <length> between]", _change_retry),
        ("rename <step> to <name>", _rename_step),
        ("send it|this|that to <who> instead [of <old:about>]", _redirect),
        ("send <old:step> to <who> instead", _redirect),
        ("use <by> instead [of <old:about>]", _redirect),
        ("change|set [the] <key> of <step> to <value>", _change_setting),
        (f"{_LIMIT} limit|threshold [of <about>] [from <old:number>] to <new:number>", _change_limit),
        (f"{_LIMIT} <about> limit|threshold [from <old:number>] to <new:number>", _change_limit),
        ("<verb:pause|disable|resume|enable> <workflow>", _switch),
        ("remove|delete [the|my|this] [whole] workflow [<workflow>]", _remove_step),
        ("remove|delete [the|my] <workflow:about> workflow", _remove_step),
        ("remove|delete <step>", _remove_step),
        (f"add|insert [a|an|another] <kind> [step] {_PLACE}", _add_step),
        (f"add|insert [a] <length> wait|delay|pause {_PLACE}", _add_step),
        (f"wait [for] <length> {_PLACE}", _add_step),
        (f"ask me [for_approval] {_PLACE}", _add_step),
        (f"<act> {_PLACE}", _add_step),
        ("<verb:run|start|schedule> it|this|that <rhythm>", _schedule),
        ("<verb:run|start|schedule> <workflow> <rhythm>", _schedule),
        ("<verb:change|set> the schedule [of <workflow>] to <rhythm>", _schedule),
        (f"{_WHEN} <what> , [then] [please] <act>", rules.draft_rule),
        (f"{_WHEN} <what> [then] <act>", rules.draft_rule),
        (f"<act> [,] {_WHEN} <what>", rules.draft_rule),
        ("<act> <what:rhythm>", rules.draft_rule),
        ("<what:rhythm> [,] <act>", rules.draft_rule),
    ],
)

_QUOTED = r"\"[^\"]*\"|`[^`]*`"
# Every sentence here holds from now on: these words say nothing more.
_LASTING = r"always|also|permanently|automatically|from now on|in future"
_EMPTY = re.compile(rf"^(?:{_LASTING})[ ,]+(?=.)|(?<=.)[ ,]+(?:{_LASTING}|too|as well)$", re.IGNORECASE)
_NOT = re.compile(
    r"\b(?:not|never|don'?t|doesn'?t|won'?t|shouldn'?t|unless|except|without|no|nobody|nothing|none)\b", re.IGNORECASE
)
_UNTIL = (
    re.compile(rf"(?i)for (?:the next )?(?P<length>{LENGTH}) , (?P<rest>.+)"),
    re.compile(rf"(?i)(?P<rest>.+?)(?: ,)? for (?:the next )?(?P<length>{LENGTH})"),
    re.compile(r"(?i)(?P<rest>.+?)(?: ,)? until (?P<until>[^\"`]+)"),
)
_NAMED = (
    re.compile(r"(?i)in (?:the )?(?:workflow )?(?P<tag>\S+)(?: workflow)?(?: ,)? (?P<rest>.+)"),
    re.compile(r"(?i)(?P<rest>.+?)(?: ,)? (?:in|of|to|from) (?:the )?workflow (?P<tag>\S+)"),
    re.compile(r"(?i)(?P<rest>.+?)(?: ,)? (?:in|of|from) (?:the )?(?P<tag>\S+) workflow"),
)


def normalize(text: str) -> str:
    """The sentence on one line without politeness, with straight quotation marks and commas set apart."""
    line, before = " ".join(re.sub("[“”]", '"', text.replace("’", "'")).split()), ""
    while line != before:
        line, before = strip_politeness(_EMPTY.sub("", line)).core.strip(" ,"), line
    return re.sub(rf"({_QUOTED})| ?, ", lambda found: found[1] or " , ", line)


def plan_change(text: str, context: DraftContext) -> WorkflowDraft | Refusal:
    """The change that the sentence asks for; what is not understood word by word is refused."""
    if len(text) > LONGEST:
        return Refusal("That is too long to be understood without a model.", MODEL_HINT)
    line = normalize(text)
    if negation := _NOT.search(re.sub(_QUOTED, "", line)):
        return Refusal(f"“{negation[0]}” is not understood: say what shall be, and not what shall not.", MODEL_HINT)
    if strip_politeness(text).is_question:
        return Refusal("That is a question, and a question changes nothing.", MODEL_HINT)
    lasts = re.fullmatch("make (?:this|that|it) permanent", line.lower())
    if lasts and context.offer and context.offer.get("plan") is None:
        # What was offered is a request that may have been meant to last; now it is known that it was.
        return plan_change(str(context.offer.get("prompt", "")), replace(context, offer=None))
    rest, until = line, None
    try:
        if found := next((one.groupdict() for shape in _UNTIL if (one := shape.fullmatch(line))), None):
            until = moment_of(found.get("until") or f"in {found['length']}", context.now, ZoneInfo(context.zone))
            rest = found["rest"]
            if (
                line.startswith(rest)
                and not found.get("until")
                and re.search(rf"(?i) (?:{_WHEN}) ".replace("_", " "), rest)
            ):
                said = line.removeprefix(rest).strip(" ,")
                raise NotUnderstood(
                    f"“{said}” may belong to the condition.", "Begin with it: “for the next 2 hours, …”."
                )
        return replace(_draft(rest, context), valid_until=until)
    except BadInput as error:
        return Refusal(error.message, error.hint)
    except NotUnderstood as error:
        return error.refusal


def _draft(line: str, context: DraftContext) -> WorkflowDraft:
    """The change, in the workflow that the sentence names if it names one."""
    tags, refusals = {tag.lower() for tag in context.workflows}, list[Unread]()
    found = [one for shape in _NAMED if (one := shape.fullmatch(line)) and unquote(one["tag"]).lower() in tags]
    for rest, tag in [*((one["rest"], unquote(one["tag"])) for one in found), (line, None)]:
        try:
            make, values = SHAPES.read(rest)
            draft = make(values, context, tag)
            if not draft.operations:
                raise NotUnderstood(f"`{draft.tag}` is that way already.", "There is nothing to change.")
            return draft
        except Unread as error:
            refusals.append(error)
    raise refusals[0]
