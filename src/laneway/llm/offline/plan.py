"""What a message orders, as a whole or step by step: all of it is understood, or none of it is done."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from pydantic_ai.messages import ToolReturnPart

from laneway.domain.schedule import NOTHING
from laneway.language.names import correct
from laneway.language.refusal import MODEL_HINT, NotUnderstood, Refusal
from laneway.llm.offline.kinds import PROGRAMS, SERVICES, TOPICS
from laneway.llm.offline.limits import LIMITS
from laneway.llm.offline.orders import ORDERS, Ask, Offer, Order, Row
from laneway.llm.offline.outcomes import Ending, Outcome, describe, outcome_of
from laneway.llm.offline.reports import REMARK, read_report
from laneway.llm.offline.server_questions import QUESTIONS
from laneway.llm.offline.shapes import BLOT, Text, mark, read_request
from laneway.llm.offline.turn import Answer, Turn, say

MOST_STEPS: Final = 10
LONGEST, LONGEST_SENTENCE, SHOWN = 8000, 600, 80
ROWS: Final[tuple[Row, ...]] = (*LIMITS, *QUESTIONS, *ORDERS)
WORDS: Final = frozenset[str]().union(PROGRAMS, *(row.shape.words for row in ROWS), *(name.split() for name in TOPICS))
HELP_HINT: Final = f"Say “help” for what I can do. {MODEL_HINT}"

_THEN: Final = r"(?:and\s+)?(?:then|after\s+that|afterwards|finally)"
_BORDERS: Final = (
    re.compile(rf"\s*;\s*(?:{_THEN}\s+)?|\s*[,.]?\s+{_THEN}[\s,]+|\s*\n+\s*"),
    re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+(?:also\s+)?|\s*[.!]\s+"),
)
_LEAD: Final = re.compile(r"(?:please )?do (?:the following|this)\s*:\s*|(?:\d{1,2}\s*[.)]|[-*•]|first,?)\s+")

_WHETHER: Final = re.compile(
    r"\b(?:if|whether|unless|until|when|whenever|once|warn|alert|notify)\b|^(?:is|are|am|was|were|has|have|do|does|any)\b"
)
_ORDER_BEHIND: Final = re.compile(
    r"(?:[,;.!?(&\n]|\b(?:and|then|also)\b)\s*(?:(?:and|also|then|please)\s+)*"
    r"(?:restart|reboot|delete|(?:remind|tell|show|send|warn) me"
    rf"|(?:stop|start) (?:the )?(?:{'|'.join(sorted(SERVICES))})"
    r"|(?:forget|cancel|ignore|delete) (?:it|that|this)|never ?mind)\b"
)
WHERE_TEXT_ENDS: Final = "I cannot tell where the text ends and the next order begins. Put the text in quotation marks."

Plan = Sequence[Order] | Ask | Refusal


def answer_orders(turn: Turn) -> Answer:
    """The next call, a question back, what became of it all, or a refusal; a report gets a look at what it is about."""
    offer = Offer(turn.tools)
    planned = plan(turn.own_words, offer)
    if isinstance(planned, Refusal):
        report = read_report(turn.own_words, offer, is_remark=turn.is_remark)
        if report is not None:
            return _carry_out(turn, report)
        if turn.is_remark and "server_info" in turn.tools:
            return say(REMARK)
        # What was done is told even if a tool has been taken away since.
        return say(_describe_calls(turn.returns) if turn.returns else planned.sentence)
    return say(planned.text) if isinstance(planned, Ask) else _carry_out(turn, planned)


def plan(message: str, offer: Offer) -> Plan:
    """The orders in this message, in their order."""
    text = _set_text_apart(mark(message[: LONGEST + 1]))
    if len(message) > LONGEST or len(text.marked.replace(BLOT, "")) > LONGEST_SENTENCE:
        return Refusal("That is too long for me to understand.", HELP_HINT)
    found = _read_steps(text, offer, _BORDERS)
    if isinstance(found, Text):
        return _refuse(found, is_part=found.raw != text.raw)
    if isinstance(found, list) and len(found) > MOST_STEPS:
        return Ask(f"Those are {len(found)} steps, and I do at most {MOST_STEPS} at once. Ask for fewer.")
    return found


def _read_steps(text: Text, offer: Offer, borders: Sequence[re.Pattern[str]]) -> Plan | Text:
    """The orders of the text as a whole, or else of its parts, if all are understood; else what is not."""
    lead = _LEAD.match(text.marked)
    text = text.cut(lead.end() if lead else 0)
    whole = _read(text, offer)
    if not borders or isinstance(whole, Ask):
        return whole
    parts = text.split(borders[0])
    if len(parts) < 2:
        return _read_steps(text, offer, borders[1:])
    steps = [_read_steps(part, offer, borders[1:]) for part in parts]
    strange = [step for step in steps if not isinstance(step, list)]
    if isinstance(whole, list):
        return Ask(WHERE_TEXT_ENDS) if not strange and any(order.is_free for order in whole) else whole
    if strange:
        return whole if len(strange) == len(steps) else strange[0]
    known = [(part, step) for part, step in zip(parts, steps, strict=True) if isinstance(step, list)]
    if any(order.is_free for _, step in known[:-1] for order in step):
        return Ask(WHERE_TEXT_ENDS)
    orders = [order for _, step in known for order in step]
    looks = [all(order.tool == "server_info" for order in step) for _, step in known]
    if not all(looks) and any(
        look and _WHETHER.search(part.marked) for look, (part, _) in zip(looks, known, strict=True)
    ):
        return Refusal("I look, but I do nothing that depends on what I see.", "Ask for the one, then for the other.")
    return orders


def _set_text_apart(text: Text) -> Text:
    """In a message too long for a sentence, all that follows its first colon is text and no order."""
    colon = text.marked.find(":") + 1
    if len(text.marked.replace(BLOT, "")) <= LONGEST_SENTENCE or not colon:
        return text
    start = colon + len(text.marked[colon:]) - len(text.marked[colon:].lstrip())
    return Text(text.raw, text.marked[:start] + BLOT * (len(text.marked) - start))


def _read(text: Text, offer: Offer) -> Plan | Text:
    """What the first shape orders that accounts for every word; the text itself if none does."""
    request = read_request(text)
    for row in ROWS:
        match = None if row.changes and request.is_question else row.shape.match(request)
        try:
            built = None if match is None else row.read(match, offer)
        except NotUnderstood as missing:
            return missing.refusal
        if built is not None and not isinstance(built, Ask) and any(order.is_free for order in built):
            return Ask(WHERE_TEXT_ENDS) if _ORDER_BEHIND.search(text.marked) else list(built)
        if built is not None:
            return built if isinstance(built, Ask) else list(built)
    return text


def _refuse(text: Text, *, is_part: bool) -> Refusal:
    """The refusal that names the words at which no shape goes on."""
    request = read_request(text)
    core = request.core
    reached = max(row.shape.reach(request) for row in ROWS)
    rest = core.cut(reached) if reached < len(core.marked) else request.verbatim
    part, first = " ".join(rest.raw.split()).lstrip(", "), re.match(r"[a-z]+", rest.marked)
    near = correct(first[0], WORDS) if first and first[0] not in WORDS else None
    shown = part if len(part) <= SHOWN else f"{part[:SHOWN].rstrip()} …"
    hint = f"Did you mean `{near}`? {HELP_HINT}" if near else HELP_HINT
    reason = f"I do not understand “{shown}”." if shown else "I find no request of yours in this message."
    return Refusal(f"I did nothing. {reason}" if is_part else reason, hint)


def _carry_out(turn: Turn, orders: Sequence[Order]) -> Answer:
    """The next call, or, when all are done or one did not succeed, what became of them."""
    outcomes = _outcomes(turn.returns)
    if len(outcomes) < len(orders) and all(outcome.ending is Ending.DONE for outcome in outcomes):
        following = orders[len(outcomes)]
        return turn.call(following.tool, **following.arguments)
    if len(orders) == 1:
        is_silent = turn.may_be_silent and orders[0].is_silent(outcomes[0])
        return say(NOTHING if is_silent else _tell(orders[0], outcomes[0]))
    lines = [_tell(order, outcome) for order, outcome in zip(orders, outcomes, strict=False)]
    lines += [f"Not done: {order.about}." for order in orders[len(outcomes) :]]
    return say("\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1)))


def _describe_calls(returns: Sequence[ToolReturnPart]) -> str:
    """How each call ended, in the tools' own names."""
    tools = [part.tool_name for part in {part.tool_call_id: part for part in returns}.values()]
    ended = zip(tools, _outcomes(returns), strict=True)
    return "\n".join(describe(f"finish {tool}", outcome, f"{tool}: done.") for tool, outcome in ended)


def _outcomes(returns: Sequence[ToolReturnPart]) -> list[Outcome]:
    """What became of every call, by its last return."""
    return [outcome_of(part) for part in {part.tool_call_id: part for part in returns}.values()]


def _tell(order: Order, outcome: Outcome) -> str:
    if order.tells_all:
        return order.tell(outcome)
    note = outcome.fields.get("note")
    done = order.tell(outcome) if outcome.ending is Ending.DONE else ""
    return describe(order.about, outcome, done) + (f"\n({note})" if isinstance(note, str) and note else "")
