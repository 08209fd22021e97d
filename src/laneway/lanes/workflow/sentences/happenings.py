"""What something happens at: a number that passes a limit, an event by its name, a time, or a step of a workflow."""

from __future__ import annotations

import re
from dataclasses import dataclass

from laneway.errors import BadInput
from laneway.lanes.workflow.sentences.words import NUMBER, number, slug
from laneway.language.rhythm import cron_of

_THING = r"(?:the |a |an |any |my |our |its |some )?(?P<field>[a-z][\w-]*(?: [a-z][\w-]*){0,3}?)"
_LIMIT = re.compile(
    rf"{_THING}(?: (?:of|for) (?P<of>[\w ]{{1,40}}?))? "
    r"(?P<verb>drops?|falls?|goes|gets|sinks?|rises?|climbs?|jumps?|grows?|is|are|becomes?|reaches|hits|exceeds|passes)"
    r" ?(?P<how>below|under|beneath|above|over|beyond|past|less than|lower than|smaller than|cheaper than|more than|"
    r"higher than|greater than|larger than|at least|at most|to|up to|equal to)? ?"
    rf"(?P<number>{NUMBER})",
    re.IGNORECASE,
)
_BELOW = frozenset({"below", "under", "beneath", "less than", "lower than", "smaller than", "cheaper than"})
_ABOVE = frozenset({"above", "over", "beyond", "past", "more than", "higher than", "greater than", "larger than"})
_EVENT = re.compile(
    r"(?:(?:there is|there's|i (?:get|receive)|we (?:get|receive)) )?(?:an? |the |any |another |some(?:one|body) )?"
    r"(?P<new>new )?(?P<rest>[a-z][\w -]{1,80})",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"(?:an?|any|some)? ?(?:errors?|exceptions?|failures?|faults?|problems?)(?: (?:occurs?|happens?|appears?|comes up|"
    r"is (?:raised|thrown|found)))?|something (?:goes wrong|fails|breaks)|anything (?:goes wrong|fails|breaks)|"
    r"there (?:is|are) (?:an? |any )?(?:errors?|problems?|failures?)|it (?:fails|breaks|goes wrong)|"
    r"(?:the |this |my )?(?:workflow|run) fails",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"(?:the )?(?P<step>[\w -]{1,60}?)(?: step| node)? (?P<how>fails|breaks|errs|has an error|goes "
    r"wrong|is done|is finished|is "
    r"complete|finishes|completes|succeeds|has run|ends)",
    re.IGNORECASE,
)
_PAST = {
    "sign": "signed", "occur": "occurred", "arrive": "arrived", "drop": "dropped", "rise": "rose", "fall": "fell",
    "come": "came", "go": "went", "get": "got", "fail": "failed", "change": "changed", "finish": "finished",
    "complete": "completed", "appear": "appeared", "expire": "expired", "create": "created", "update": "updated",
    "start": "started", "stop": "stopped", "end": "ended", "cancel": "cancelled", "leave": "left", "join": "joined",
    "buy": "bought", "pay": "paid", "log": "logged", "place": "placed", "submit": "submitted", "register": "registered",
    "increase": "increased", "decrease": "decreased", "write": "wrote", "reply": "replied", "crash": "crashed",
    "happen": "happened", "break": "broke", "subscribe": "subscribed", "unsubscribe": "unsubscribed", "open": "opened",
    "close": "closed", "merge": "merged", "push": "pushed", "upload": "uploaded", "order": "ordered",
}  # fmt: skip
_UNNAMEABLE = re.compile(
    r"\d|\b(?:instead|than|below|above|under|beneath|at (?:least|most)|less|more|and|or|but|if|when|while|until|"
    r"unless)\b",
    re.IGNORECASE,
)
"""What the name of an event cannot say: limits, comparisons, and two things at once."""
_PARTICLES = frozenset({"up", "in", "out", "down", "off", "on", "back", "over", "through"})


@dataclass(frozen=True)
class Happening:
    """One of: a limit of a field, an event, a time, any error, or the end of a step."""

    words: str
    field: str | None = None
    condition: str | None = None
    """Whether the field is beyond the limit, where it is one."""
    passing: bool = False
    """Whether the limit is passed ("drops below"), and not only lain beyond ("is below")."""
    event: str | None = None
    cron: str | None = None
    error: bool = False
    step: str | None = None
    step_fails: bool = False
    workflow: str | None = None
    """The workflow whose runs the event is about, where it is one of theirs."""

    def condition_behind(self, step: str, inside: str = "") -> str:
        """The condition of the way out of this step, whose output has the field below `inside`.

        A limit is passed when the field lies beyond it now and did not the last time the step gave one.
        """
        assert self.condition is not None
        now = self.condition.replace("output.", f"output{inside}.")
        if not self.passing:
            return now
        there = "".join(f"has(ctx.previous.{way}) && " for way in _ways(f"{step}{inside}"))
        return f"{now} && !({there}{self.condition.replace('output.', f'ctx.previous.{step}{inside}.')})"


def _ways(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[: number + 1]) for number in range(len(parts))]


def happening(said: str) -> Happening | None:
    """What these words wait for, if they say exactly that."""
    words = said.strip(" ,")
    if _ERROR.fullmatch(words):
        return Happening("an error occurs", error=True, event="error.occurred")
    found = _limit(words) or _time(words)
    if found is not None:
        return found
    ended = _STEP.fullmatch(words)
    event = _event(words)
    if ended is not None:
        fails = ended["how"].lower() in ("fails", "breaks", "errs", "has an error", "goes wrong")
        return Happening(words, event=event, step=ended["step"], step_fails=fails)
    return None if event is None else Happening(words, event=event)


def _limit(words: str) -> Happening | None:
    found = _LIMIT.fullmatch(words)
    if found is None:
        return None
    how, verb, limit = (found["how"] or "").lower(), found["verb"].lower(), number(found["number"])
    sign = _sign(verb, how)
    if sign is None:
        return None
    name = slug(found["field"])
    level = f"has(output.{name}) && output.{name} {sign} {limit}"
    return Happening(words, name, level, verb not in ("is", "are"), event=f"{name}.changed")


def _sign(verb: str, how: str) -> str | None:
    if how in _BELOW:
        return "<"
    if how in _ABOVE or (not how and verb in ("exceeds", "passes")):
        return ">"
    if how == "at least" or (not how and verb in ("reaches", "hits")) or (how in ("to", "up to") and verb[0] in "rcjg"):
        return ">="
    if how == "at most" or (how == "to" and verb[:4] in ("drop", "fall", "sink")):
        return "<="
    return "==" if (not how or how == "equal to") and verb in ("is", "are", "becomes", "become") else None


def _time(words: str) -> Happening | None:
    if not re.match(r"every|each|daily|hourly|weekly|monthly|weekdays|weekends|on |at \d", words, re.IGNORECASE):
        return None
    try:
        cron = cron_of(re.sub(r"^(?:each|on) ", "every ", words, flags=re.IGNORECASE))
    except BadInput:
        return None
    return Happening(words, cron=cron)


def _event(words: str) -> str | None:
    """`a user signs up` → user.signed_up; `an order is placed` → order.placed; `a new lead` → lead.created."""
    found = _EVENT.fullmatch(words)
    if found is None or _UNNAMEABLE.search(words):
        return None
    said = found["rest"].lower().split()
    auxiliary = next(
        (n for n, word in enumerate(said) if n and word in ("is", "are", "was", "has", "gets", "been")), None
    )
    if auxiliary is not None:
        rest = [word for word in said[auxiliary:] if word not in ("is", "are", "was", "has", "gets", "been", "not")]
        return f"{slug(' '.join(said[:auxiliary]))}.{slug(' '.join(rest))}" if rest else None
    verb = next((n for n, word in enumerate(said) if n and _base(word) in _PAST), None)
    if verb is None:
        return (
            f"{slug(' '.join(said))}.created"
            if found["new"] or words.lower().startswith(("there", "i ", "we "))
            else None
        )
    particle = [word for word in said[verb + 1 :] if word in _PARTICLES]
    if len(said) - verb - 1 > len(particle):
        # `a user signs up for the newsletter`: more than a name can say.
        return None
    return f"{slug(' '.join(said[:verb]))}.{'_'.join([_PAST[_base(said[verb])], *particle])}"


def _base(word: str) -> str:
    for ending, instead in (("ies", "y"), ("es", "e"), ("es", ""), ("s", "")):
        if word.endswith(ending) and word[: -len(ending)] + instead in _PAST:
            return word[: -len(ending)] + instead
    return word
