"""What a message does after what was said before it, the most certain first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from laneway.classify.context_requests import (
    changes,
    is_about_it,
    is_question,
    looks_like_order,
    names_option,
    own_order,
    writes,
)
from laneway.classify.context_said import Heard, Meaning, asking
from laneway.classify.context_words import BUT, JOINED, LONGEST_SHORT, PARTS, at_head, has, source, wholly
from laneway.classify.grammar import starts_with_verb
from laneway.classify.lexicon import lexicon
from laneway.classify.rules import small_talk

LONGEST_SHAPE = 6
_PLACE = re.compile(r"\b(?:to|into|onto|from|on) (?:the|my|our|his|her|their|that|this|it|them)\b")
_NAMES = re.compile(
    r"(?:the|those|these|that one|this one|on|in|d(?:en|ie|as|er)|el|la|los|las|le|les|il|lo|o|os|as|de|het)\b"
)


def _nothing(heard: Heard) -> Meaning:
    """The message asks for nothing."""
    return Meaning(heard.text, label="other", confirm=False)


def _only_noise(heard: Heard) -> Meaning | None:
    """ "Great, thanks" asks for nothing, but "ok" to "shall I?" is a yes."""
    if heard.plain:
        return None
    said, agrees = heard.said, has(heard.lead, "ack") is not None
    thanks = any(at_head(word, "thanks") for word in heard.lead.split())
    accepts = agrees and (bool(said.offer) if said.asks and thanks else said.asks or (bool(said.offer) and not thanks))
    return _accepted(heard) if accepts and not said.choice and not heard.asks else _nothing(heard)


def _refusal(heard: Heard) -> Meaning | None:
    head = at_head(heard.plain, "no")
    if head is None or (not heard.said.asks and at_head(heard.plain, "undo")):
        return None
    rest = heard.plain[len(head) :].strip(" ,.!;:–-")
    if not rest:
        waits = heard.said.asks or heard.said.offer is not None
        return _nothing(heard) if waits or not starts_with_verb(heard.plain) else None
    if not re.match(r"\s*[,.!;:–-]", heard.plain[len(head) :]) and wholly(head, "doubtful_no"):
        own = at_head(heard.plain, "correction")
        return _corrected(heard) if own and heard.words < LONGEST_SHORT else None
    again = _refusal(replace(heard, plain=rest))
    return again or _after_no(replace(heard, plain=rest))


def _after_no(heard: Heard) -> Meaning | None:
    """What comes after a "no": an order, a question, the right thing, or a reason."""
    bare = re.sub(r"^(?:but|just|only|rather|please|aber|nur|pero|mais|ma) ", "", heard.plain)
    if at_head(bare, "asks") or heard.asks:
        return asking(bare) if at_head(bare, "asks") else Meaning(bare)
    if starts_with_verb(bare) or own_order(heard):
        return Meaning(bare, order=True)
    if has(heard.plain, "remark") or at_head(heard.plain, "yes"):
        return _nothing(heard)
    names = at_head(heard.plain, "correction") or _NAMES.match(bare) or re.search(r"\d", bare)
    if names or not (heard.said.asks or heard.said.offer):
        return _corrected(heard)
    return _nothing(heard)


def _corrected(heard: Heard) -> Meaning | None:
    """The right thing instead of the one taken: the same deed, so the same judgement."""
    return (_pending(heard) if heard.said.asks else None) or heard.asked


def _pending(heard: Heard) -> Meaning | None:
    """What an answer sets going: the deed the assistant asked about, else the request it asked back about."""
    said, asked = heard.said, heard.asked
    if said.offer and not said.clarifies:
        which = asked if said.choice else None
        if which is None or (is_question(which) and lexicon()["changes"].match(said.offer)):
            return Meaning(said.offer, order=True)
    return asked if said.asks else None


def _question(heard: Heard) -> Meaning | None:
    """A question of its own, even in the middle of something."""
    accepts = heard.said.asks and wholly(heard.plain, "yes")
    if accepts or own_order(heard) or not at_head(heard.plain, "asks"):
        return None
    return asking(heard.plain + ("?" if heard.asks else ""))


def _acceptance(heard: Heard) -> Meaning | None:
    head = _longest_yes(heard.plain)
    if head is None and heard.said.asks and heard.lead and BUT.match(heard.plain):
        head = ""
    if head is None:
        return None
    rest = heard.plain[len(head) :].strip(" ,.!;:–-，。")
    if not rest:
        return _accepted(heard)
    return _and_more(replace(heard, plain=rest)) if heard.said.asks or heard.said.offer else None


def _and_more(heard: Heard) -> Meaning | None:
    """What comes after a "yes": another order, a question, which of them, or nothing that matters."""
    rest = heard.plain
    if BUT.match(rest) and (heard.asks or has(rest, "asks")):
        return asking(rest)
    bare = JOINED.sub("", rest)
    if re.match(r"(?:but )?(?:just|only|nur|solo|seulement)\b", rest) and starts_with_verb(bare):
        return Meaning(rest, order=True)
    chosen = _choice(heard) or _accepted(heard)
    # Whatever else the words order is judged with the offer: the worse of both counts.
    more = starts_with_verb(bare) or looks_like_order(rest) or lexicon()["changes"].search(rest)
    return _with(chosen, rest) if more else chosen


def _longest_yes(plain: str) -> str | None:
    """All the words of assent that a message begins with."""
    end = 0
    while (found := at_head(plain[end:].lstrip(" ,.!;:–-"), "yes", "ack", "filler", "thanks")) is not None:
        end = plain.index(found, end) + len(found)
    return plain[:end] if end and at_head(plain, "yes") else None


def _accepted(heard: Heard) -> Meaning:
    """A yes: to the offer, to the request that was asked back about, or to nothing."""
    said = heard.said
    pending = _pending(heard)
    if pending is not None and pending is not heard.asked:
        return pending
    if said.asks and heard.asked is not None:
        if said.clarifies or said.choice or wholly(said.last, "empty_offer"):
            return heard.asked
        return Meaning(said.last if is_question(heard.asked) else f"{heard.asked.text}, {said.last}", order=True)
    if said.asks and not said.choice and not at_head(said.last, "asks"):
        return Meaning(said.last, order=True)
    if re.search(r"\b(?:do|go|get|proceed|mach|haz|vas|fai|faz|doe)\b", heard.plain) and not said.asks:
        # A deed is ordered and nothing says which: it must not happen unasked.
        return Meaning(heard.text, order=True, confirm=True)
    return _nothing(heard)


def _with(meaning: Meaning, rest: str) -> Meaning:
    return Meaning(f"{meaning.text}, {rest}", order=True) if meaning.label is None else Meaning(rest, order=True)


def _choice(heard: Heard) -> Meaning | None:
    """One of the things offered, by its place, its name, or all of them."""
    if not (heard.said.asks or heard.said.offer or heard.said.options) or (heard.asks and not heard.said.asks):
        return None
    plain = re.sub(r"^(?:and|yes|then) ", "", heard.plain)
    plain = re.sub(rf"^(?:(?:{source('chosen_by')})\s+)+|^#", "", plain)
    picked = _picked(plain, heard.said.options)
    if picked is None or heard.words > 6:
        return None
    if picked and starts_with_verb(picked):
        return Meaning(picked, order=True)
    return _pending(heard)


def _picked(plain: str, options: Sequence[str]) -> str | None:
    """The option picked, nothing in words if it cannot be told which, None if none was picked."""
    plain = re.sub(r"\s+(?:one|ones|option|first|then|now|uno|una)$", "", plain)
    for place, name in ((0, "first"), (1, "second"), (2, "third"), (-1, "last")):
        if wholly(plain, name):
            return options[place] if -1 <= place < len(options) else ""
    if wholly(plain, "every") or (at_head(plain, "every") and len(plain.split()) < 4):
        return ", ".join(options)
    return None


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
    more = bool(at_head(heard.plain, "adds") and not _PLACE.search(heard.plain))
    return _rewritten(heard) if (part or more) and not has(heard.plain, "outside") else None


def _later_order(heard: Heard) -> Meaning | None:
    return Meaning(heard.plain, order=True) if own_order(heard) and not heard.asks else None


def _own_verb(heard: Heard) -> Meaning | None:
    """An order that names its deed stands alone, whatever was said before."""
    bare = JOINED.sub("", heard.plain)
    while not starts_with_verb(bare) and (head := at_head(bare, "more")) is not None and head != bare:
        bare = bare[len(head) :].strip()
    if (heard.asks and not has(heard.plain, "begs")) or at_head(heard.plain, "remark"):
        return None
    if starts_with_verb(bare) or looks_like_order(bare):
        return None if heard.words == 1 and names_option(heard) else Meaning(heard.plain)
    decree = has(bare, "decree") and not has(bare, "remark") and not heard.said.asks
    return Meaning(heard.plain, order=True) if decree else None


def _addition(heard: Heard) -> Meaning | None:
    """Another thing to which the same applies."""
    head = at_head(heard.plain, "more")
    last = re.search(rf"(?:^|[\s,]|(?<=[^\x00-\x7f]))(?:{source('more_last')})$", heard.plain)
    if (head is None and last is None) or has(heard.plain, "remark"):
        return None
    rest = heard.plain[len(head or "") :].strip()
    if heard.asks and (heard.asked is None or heard.said.asks):
        return asking(heard.text)
    if has(rest, "earnest") and heard.earlier and has(heard.earlier.text.casefold(), "rehearsal"):
        return Meaning(heard.earlier.text, order=True, confirm=True)
    if heard.asked is not None and is_about_it(heard.asked) and not heard.asks:
        return heard.earlier or heard.asked
    return heard.asked


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
    if heard.asks and heard.said.asks:
        return asking(heard.text)
    if has(plain, "lasting") and (asked is None or is_question(asked)) and not heard.asks:
        return Meaning(f"change that to {plain}", order=True, confirm=True)
    if heard.said.offer and heard.said.asks and not (heard.said.choice or heard.said.clarifies):
        return Meaning(heard.said.offer, order=True)
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
    if heard.asks or re.match(r"(?:that|this|it|das|es|eso|ça|così)\b", heard.plain):
        return None
    made = re.match(r"make (?:it|that)\b", heard.plain)
    if made and heard.asked is not None and is_question(heard.asked):
        return None
    return _corrected(heard) if at_head(heard.plain, "correction") or wholly(heard.plain, "better") else None


def _answer(heard: Heard) -> Meaning | None:
    """What is told to an assistant that asked makes the request precise."""
    said = heard.said
    if not said.asks or heard.asks or small_talk(heard.text):
        return None
    if said.choice or said.clarifies or (said.options and not said.offer):
        return _pending(heard)
    named = said.offer is None or names_option(heard) or _NAMES.match(heard.plain)
    return _pending(heard) if named and not has(heard.plain, "remark") else None


def _remark(heard: Heard) -> Meaning | None:
    told = has(heard.plain, "remark") if heard.said.asks else at_head(heard.plain, "remark")
    return _nothing(heard) if told and not heard.asks else None


ANSWERS: tuple[Callable[[Heard], Meaning | None], ...] = (_refusal, _acceptance)
ACTS: tuple[Callable[[Heard], Meaning | None], ...] = (
    _only_noise, _question, _refusal, _acceptance, _reworded_part, _reversal, _later_order, _choice, _repetition,
    _rework, _own_verb, _addition, _bend, _fix, _answer, _remark,
)  # fmt: skip
