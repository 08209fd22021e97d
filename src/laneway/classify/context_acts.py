"""What a message does after what was said before it, the most certain first."""

from __future__ import annotations

import re
from collections.abc import Callable

from laneway.classify.context_answers import (
    NAMES,
    acceptance,
    answer,
    choice,
    corrected,
    echo,
    is_phrase,
    nothing,
    offered,
    only_noise,
    pending,
    refusal,
    remark,
)
from laneway.classify.context_requests import (
    asks_in_part,
    changes,
    is_about_it,
    is_question,
    looks_like_order,
    names_option,
    own_order,
    tells,
    writes,
)
from laneway.classify.context_said import Heard, Meaning, asking
from laneway.classify.context_words import JOINED, PARTS, at_head, has, source, wholly
from laneway.classify.grammar import starts_with_verb

LONGEST_SHAPE = 6
_PLACE = re.compile(r"\b(?:to|into|onto|from|on) (?:the|my|our|his|her|their|that|this|it|them)\b")


def _question(heard: Heard) -> Meaning | None:
    """A question of its own, even in the middle of something."""
    accepts = (heard.said.asks or heard.said.offer) and wholly(heard.plain, "yes")
    asks = bool(at_head(heard.plain, "asks")) or asks_in_part(heard.plain)
    asks = asks or bool(heard.asks and has(heard.plain, "wh_words") and not has(heard.plain, "begs"))
    relative = heard.said.choice and not heard.asks and re.match(r"what (?:i|we|you|he|she|they)\b", heard.plain)
    if accepts or relative or own_order(heard) or not asks or at_head(heard.plain, "remark", "no"):
        return None
    return asking(heard.plain + ("?" if heard.asks else ""))


def _repetition(heard: Heard) -> Meaning | None:
    head = at_head(re.sub(r"^(?:and|then|und|y|et|e) ", "", heard.plain), "again")
    if head is None or (starts_with_verb(heard.plain) and not wholly(heard.plain, "again")):
        return None
    if heard.asked is not None and writes(heard.asked) and not heard.said.done:
        return _rewritten(heard)
    return heard.earlier if heard.asked and is_about_it(heard.asked) else heard.asked


def _reversal(heard: Heard) -> Meaning | None:
    """What was done is to be taken back, which changes as much as doing it did."""
    told = any(at_head(part, "undo") for part in PARTS.split(heard.plain))
    return Meaning(heard.plain, order=True, confirm=True) if told and not heard.asks else None


def _rewritten(heard: Heard) -> Meaning:
    """Only the text in the chat is to change."""
    return Meaning(f"rewrite the text: {heard.plain}", order=True, confirm=False)


def _rework(heard: Heard) -> Meaning | None:
    """A text in the chat is to read otherwise: shorter, in a table, in French."""
    plain = heard.plain
    while (head := at_head(plain, "rework_lead")) is not None:
        plain = plain[len(head) :].strip()
    degree, last = at_head(plain, "degree"), re.search(rf"(?<![\w'-])(?:{source('textual')})$", plain)
    shaped = (degree and has(plain, "textual")) or (last and (at_head(plain, "shape") or last.start() == 0))
    if heard.asks or not shaped or has(plain, "lasting") or len(plain.split()) > LONGEST_SHAPE:
        return None
    text = heard.asked is None or writes(heard.asked) or not changes(heard.asked)
    return _rewritten(heard) if text and (degree or not heard.said.asks) else None


def _reworded_part(heard: Heard) -> Meaning | None:
    """ "Add the price per day" to a table that was just written leaves the world as it is."""
    if heard.asked is None or not writes(heard.asked) or heard.said.asks or heard.said.done or heard.asks:
        return None
    part = bool(at_head(heard.plain, "reworks") and has(heard.plain, "passage"))
    pieces = [JOINED.sub("", piece) for piece in PARTS.split(heard.plain)]
    more = any(at_head(piece, "adds") for piece in pieces) and not _PLACE.search(heard.plain)
    return _rewritten(heard) if (part or more) and not has(heard.plain, "outside") else None


def _refined(heard: Heard) -> Meaning | None:
    """ "Narrow it down to May" looks at the same once more, where nothing was changed."""
    asked = heard.asked
    if asked is None or heard.asks or changes(asked) or heard.said.asks or tells(asked):
        return None
    return (
        Meaning(f"show that again, {heard.plain}", order=True, confirm=False)
        if at_head(heard.plain, "refines")
        else None
    )


def _in_earnest(heard: Heard) -> Meaning | None:
    """What was only rehearsed is to be done."""
    rehearsed = has(heard.said.plain, "rehearsal") and not heard.said.asks
    told = has(heard.plain, "earnest") and not heard.asks and not has(heard.plain, "rehearsal")
    return Meaning(heard.plain, order=True, confirm=True) if rehearsed and told else None


def _later_order(heard: Heard) -> Meaning | None:
    return Meaning(heard.plain, order=True) if own_order(heard) and not heard.asks else None


def _own_verb(heard: Heard) -> Meaning | None:
    """An order that names its deed stands alone, whatever was said before."""
    bare = JOINED.sub("", heard.plain)
    while not starts_with_verb(bare) and (head := at_head(bare, "more")) is not None and head != bare:
        bare = bare[len(head) :].strip()
    if (heard.asks and not has(heard.plain, "begs")) or at_head(heard.plain, "remark", "subjects"):
        decreed = has(heard.plain, "decree") and not at_head(heard.plain, "remark") and not heard.asks
        return Meaning(heard.plain) if decreed and not heard.said.asks else None
    if starts_with_verb(bare) or looks_like_order(bare):
        grabs = re.match(r"[\w-]+ (?:it|them|those|these)\b", bare) is not None and not heard.asks
        return None if heard.words == 1 and names_option(heard) else Meaning(heard.plain, order=grabs)
    decree = has(bare, "decree") and not has(bare, "remark") and not heard.said.asks
    # Without a subject the words cannot tell what it would do: it must not happen unasked.
    return Meaning(heard.plain, order=True, confirm=True if at_head(bare, "decree") else None) if decree else None


def _addition(heard: Heard) -> Meaning | None:
    """Another thing to which the same applies."""
    head = at_head(heard.plain, "more")
    last = re.search(rf"(?:^|[\s,]|(?<=[^\x00-\x7f]))(?:{source('more_last')})(?:$|(?=[,.] ))", heard.plain)
    if (head is None and last is None) or has(heard.plain, "remark"):
        return None
    rest = heard.plain[len(head or "") :].strip()
    if heard.asks and (heard.asked is None or heard.said.asks or _states(heard)):
        return asking(heard.text)
    if has(rest, "earnest") and heard.earlier and has(heard.earlier.text.casefold(), "rehearsal"):
        return Meaning(heard.earlier.text, order=True, confirm=True)
    if heard.asked is not None and is_about_it(heard.asked) and not heard.asks:
        return heard.earlier or heard.asked
    return heard.asked


def _states(heard: Heard) -> bool:
    """Whether what ends with a question mark has a verb that asks or tells, and no order."""
    return bool(has(heard.plain, "finite")) and not has(heard.plain, "begs") and not starts_with_verb(heard.plain)


def _retracted(heard: Heard) -> Meaning | None:
    """ "I don't have it either. Forget it" ends the matter with its last words."""
    parts = [part for part in PARTS.split(heard.plain) if part]
    ends = len(parts) > 1 and len(parts[-1].split()) > 1 and wholly(parts[-1], "no")
    return nothing(heard) if ends and not heard.asks and not own_order(heard) else None


def _either(heard: Heard) -> Meaning | None:
    """ "For everyone or just writes" wants to know which, where the assistant asked nothing."""
    waits = heard.said.asks or heard.said.offer or heard.asked is not None
    asks = re.search(r" (?:or|oder|ou|czy|или) ", heard.plain) and not starts_with_verb(heard.plain)
    return asking(heard.text) if asks and not waits and not looks_like_order(heard.plain) else None


def _bend(heard: Heard) -> Meaning | None:
    """The request before, for less, for more, elsewhere, or to another degree."""
    if heard.asks and not heard.asked:
        return None
    bends = at_head(heard.plain, "bend", "degree", "earnest", "display") or wholly(heard.plain, "number")
    if not bends or has(heard.plain, "remark"):
        return None
    return _bent(heard)


def _bent(heard: Heard) -> Meaning | None:
    asked, plain = heard.asked, heard.plain
    if heard.asks and (heard.said.asks or _states(heard)):
        return asking(heard.text)
    if has(plain, "lasting") and (asked is None or is_question(asked)) and not heard.asks:
        return Meaning(f"change that to {plain}", order=True, confirm=True)
    idle = asked is None or is_question(asked) or tells(asked)
    if heard.said.offer and (heard.said.asks or idle) and not (heard.said.choice or heard.said.clarifies or heard.asks):
        return offered(heard.said.offer)
    if heard.said.asks and (awaited := pending(heard)) is not None:
        return awaited
    if asked is not None and writes(asked) and not (heard.said.done or heard.asks or heard.said.asks):
        return _rewritten(heard)
    if has(plain, "display") and not heard.asks and (asked is None or not changes(asked)):
        return Meaning(f"show that {plain}", order=True)
    if asked is None:
        return Meaning(f"show that {plain}", order=True) if at_head(plain, "shape", "degree") else None
    if has(plain, "rehearsal") and not re.match(r"(?:after|once|without|nach|ohne|después|sin|après|sans)\b", plain):
        return Meaning(f"{asked.text} {plain}", order=True)
    if has(plain, "earnest") and heard.earlier and has(heard.earlier.text.casefold(), "rehearsal"):
        return Meaning(heard.earlier.text, order=True, confirm=True)
    return asked


def _fix(heard: Heard) -> Meaning | None:
    """ "I meant Friday" corrects the request before."""
    turned = has(heard.plain, "correction_last") or any(one.startswith("not ") for one in PARTS.split(heard.plain)[1:])
    if turned and not heard.asks and not starts_with_verb(heard.plain):
        return corrected(heard)
    if heard.asks or re.match(r"(?:that|this|it|das|es|eso|ça|così)\b", heard.plain):
        return None
    made = re.match(r"make (?:it|that)\b", heard.plain)
    if made and heard.asked is not None and is_question(heard.asked):
        return None
    return corrected(heard) if at_head(heard.plain, "correction") or wholly(heard.plain, "better") else None


def _repeated(heard: Heard) -> Meaning | None:
    """ "17, ok" only says again what was answered."""
    said = wholly(heard.plain, "number") and f" {heard.plain} " in f" {heard.said.plain.replace('.', ' ')} "
    return nothing(heard) if said and not (heard.asks or heard.said.asks or heard.said.options) else None


def _continued(heard: Heard) -> Meaning | None:
    """A thing named after a deed: the same for it, or the deed in this way."""
    asked, then = heard.asked, re.search(r"\b(?:then|dann|alors|entonces|allora|dan)\b", heard.lead)
    if asked is None or is_question(asked) or heard.asks or heard.said.asks or has(heard.plain, "remark"):
        return None
    named = then or NAMES.match(heard.plain) or re.search(r"\d", heard.plain)
    return asked if named and is_phrase(heard.plain) else None


ANSWERS: tuple[Callable[[Heard], Meaning | None], ...] = (refusal, acceptance)
ACTS: tuple[Callable[[Heard], Meaning | None], ...] = (
    only_noise, echo, _retracted, _question, refusal, acceptance, _in_earnest, _reworded_part, _refined, _reversal,
    _later_order, choice, _repetition, _rework, _own_verb, _repeated, _either, _addition, _bend, _fix, answer, remark,
    _continued,
)  # fmt: skip
