"""What a message answers to the assistant: yes, no, which of them, or what was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from laneway.classify.context_requests import (
    asks_in_part,
    is_question,
    is_rehearsal,
    looks_like_order,
    own_order,
    tells,
)
from laneway.classify.context_said import Heard, Meaning, asking
from laneway.classify.context_words import BUT, JOINED, LONGEST_SHORT, PARTS, at_head, has, source, wholly
from laneway.classify.grammar import starts_with_verb
from laneway.classify.lexicon import lexicon
from laneway.classify.rules import small_talk

LONGEST_CHOICE = 6
NAMES = re.compile(
    r"(?:the|those|these|that one|this one|on|in|d(?:en|ie|as|er)|el|la|los|las|le|les|il|lo|o|os|as|de|het)\b"
)
_JUST = re.compile(r"(?:but )?(?:just|only|nur|solo|seulement)\b")


def nothing(heard: Heard) -> Meaning:
    """The message asks for nothing."""
    return Meaning(heard.text, label="other", confirm=False)


def only_noise(heard: Heard) -> Meaning | None:
    """ "Great, thanks" asks for nothing, but "ok" to "shall I?" is a yes."""
    if heard.plain:
        return None
    said, agrees = heard.said, has(heard.lead, "ack") is not None
    thanks = any(at_head(word, "thanks") for word in heard.lead.split())
    accepts = agrees and (bool(said.offer) if said.asks and thanks else said.asks or (bool(said.offer) and not thanks))
    if said.standing and (thanks or not wholly(heard.lead, "plain_ok")):
        accepts = False
    return _accepted(heard) if accepts and not said.choice and not heard.asks else nothing(heard)


def echo(heard: Heard) -> Meaning | None:
    """ "Drop it" to "shall I drop it or keep it?" is no refusal: the assistant's own words name the deed."""
    verb = heard.said.asks and lexicon()["changes"].match(heard.plain) and not heard.asks
    offered = (*heard.said.options, heard.said.offer or "")
    named = any(one.startswith(heard.plain) for one in offered) and wholly(heard.plain, "no")
    return Meaning(heard.plain, order=True) if verb and named else None


def refusal(heard: Heard) -> Meaning | None:
    head = at_head(heard.plain, "no")
    if head is None or (not heard.said.asks and at_head(heard.plain, "undo")):
        return None
    rest = heard.plain[len(head) :].strip(" ,.!;:–-")
    if not rest:
        waits = heard.said.asks or heard.said.offer is not None
        return nothing(heard) if waits or not starts_with_verb(heard.plain) else None
    if not re.match(r"\s*[,.!;:–-]", heard.plain[len(head) :]) and wholly(head, "doubtful_no"):
        own = at_head(heard.plain, "correction")
        return corrected(heard) if own and heard.words < LONGEST_SHORT else None
    again = refusal(replace(heard, plain=rest))
    return again or _after_no(replace(heard, plain=rest))


def _after_no(heard: Heard) -> Meaning | None:
    """What comes after a "no": an order, a question, the right thing, or a reason."""
    bare = re.sub(r"^(?:but|just|only|rather|please|aber|nur|pero|mais|ma) ", "", heard.plain)
    asks = at_head(bare, "asks")
    if heard.asks or (asks and not (wholly(asks, "auxiliary") and not has(bare, "inverted"))):
        return asking(bare) if asks else Meaning(bare)
    if starts_with_verb(bare) or own_order(heard):
        return Meaning(bare, order=True)
    told = at_head(bare, "subjects") and not at_head(bare, "correction")
    if has(heard.plain, "remark") or at_head(heard.plain, "yes") or asks or told:
        return nothing(heard)
    names = at_head(heard.plain, "correction") or NAMES.match(bare) or re.search(r"\d", bare)
    if names or not (heard.said.asks or heard.said.offer) or (mentions(heard) and not has(bare, "finite")):
        return corrected(heard)
    return nothing(heard)


def mentions(heard: Heard) -> bool:
    """Whether the message begins with something the assistant named."""
    words = re.findall(r"[\w-]{3,}", PARTS.split(heard.plain)[0])[:4]
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", heard.said.plain) for word in words if _tells_apart(word))


def _tells_apart(word: str) -> bool:
    return not wholly(word, "no_verb") and not wholly(word, "finite")


def corrected(heard: Heard) -> Meaning | None:
    """The right thing instead of the one taken: the same deed, so the same judgement."""
    offer = heard.said.offer
    return (pending(heard) if heard.said.asks else None) or heard.asked or (offered(offer) if offer else None)


def pending(heard: Heard) -> Meaning | None:
    """What an answer sets going: the deed the assistant asked about, else the request it asked back about."""
    said, asked = heard.said, heard.asked
    if said.offer and not said.clarifies:
        which = asked if said.choice else None
        told = which is not None and (is_question(which) or tells(which) or not _orders(which))
        deed = lexicon()["changes"].match(said.offer) or (
            which and not is_question(which) and starts_with_verb(said.offer)
        )
        if which is None or (told and deed):
            return offered(said.offer)
    return asked if said.asks else None


def _orders(asked: Meaning) -> bool:
    plain = asked.text.casefold()
    return asked.order or any(starts_with_verb(part) or looks_like_order(part) for part in PARTS.split(plain))


def offered(offer: str) -> Meaning:
    """The offer as an order; what is only rehearsed changes nothing."""
    real = True if has(offer, "earnest") and starts_with_verb(offer) else None
    return Meaning(offer, order=True, confirm=False if is_rehearsal(offer) else real)


def acceptance(heard: Heard) -> Meaning | None:
    head = _longest_yes(heard.plain)
    if head is None and heard.said.asks and heard.lead and BUT.match(heard.plain):
        head = ""
    if head is None:
        return None
    rest = heard.plain[len(head) :].strip(" ,.!;:–-，。")
    if not rest:
        return _accepted(heard)
    if heard.said.asks or heard.said.offer:
        return _and_more(replace(heard, plain=rest))
    told = at_head(rest, "subjects", "remark") and not (heard.asks or own_order(heard))
    return nothing(heard) if told else None


def _and_more(heard: Heard) -> Meaning | None:
    """What comes after a "yes": another order, a question, which of them, or nothing that matters."""
    rest = heard.plain
    if BUT.match(rest) and (heard.asks or asks_in_part(rest)):
        return asking(rest)
    bare = JOINED.sub("", rest)
    if _JUST.match(rest) and starts_with_verb(bare):
        return Meaning(rest, order=True)
    chosen = choice(heard) or _accepted(heard)
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
    awaited = pending(heard)
    if awaited is not None and awaited is not heard.asked:
        return awaited
    if said.asks and said.answered and not said.clarifies and (heard.asked is None or is_question(heard.asked)):
        # The request has its answer already; what the assistant wants to know beyond it sets nothing going.
        return nothing(heard) if at_head(said.last, "asks") else Meaning(said.last, order=True)
    if said.asks and heard.asked is not None:
        if said.clarifies or said.choice or wholly(said.last, "empty_offer"):
            return heard.asked
        return Meaning(said.last if is_question(heard.asked) else f"{heard.asked.text}, {said.last}", order=True)
    if said.asks and not said.choice and not at_head(said.last, "asks"):
        return Meaning(said.last, order=True)
    if re.search(r"\b(?:do|go|get|proceed|mach|haz|vas|fai|faz|doe)\b", heard.plain) and not said.asks:
        # A deed is ordered and nothing says which: it must not happen unasked.
        return Meaning(heard.text, order=True, confirm=True)
    return nothing(heard)


def _with(meaning: Meaning, rest: str) -> Meaning:
    return Meaning(f"{meaning.text}, {rest}", order=True) if meaning.label is None else Meaning(rest, order=True)


def choice(heard: Heard) -> Meaning | None:
    """One of the things offered, by its place, its name, or all of them; a reason may follow."""
    said = heard.said
    if not (said.asks or said.offer or said.options) or (heard.asks and not said.asks):
        return None
    plain = re.sub(r"^(?:and|yes|then) ", "", PARTS.split(f"{heard.plain} ")[0].strip())
    plain = re.sub(rf"^(?:(?:{source('chosen_by')})\s+)+|^#", "", plain)
    picked = _picked(plain, said.options) or _named(plain, said.options)
    if picked is None or len(plain.split()) > LONGEST_CHOICE:
        return None
    if picked and (deed := _deed(picked)):
        chosen = offered(deed)
        return _with(chosen, heard.plain) if own_order(heard) else chosen
    return pending(heard) or (offered(said.offer) if said.offer else None)


def _named(plain: str, options: Sequence[str]) -> str | None:
    """The deed among the options that alone has a word of the message, or those whose numbers it gives."""
    places = [int(one) for one in re.findall(r"\d", plain)] if re.fullmatch(r"[\d\s,&+]+|\d and \d", plain) else []
    if places and all(0 < place <= len(options) for place in places):
        return ", ".join(options[place - 1] for place in places)
    words = {word for word in re.findall(r"[\w-]{3,}", plain) if _tells_apart(word)}
    hits = [option for option in options if words & set(re.findall(r"[\w-]+", option))]
    named = len(hits) == 1 and len(plain.split()) < LONGEST_CHOICE and not starts_with_verb(plain)
    return hits[0] if named and _deed(hits[0]) else None


def _deed(option: str) -> str | None:
    """The option as an order, "rebuilding the index" included."""
    if starts_with_verb(option):
        return option
    bare = re.match(r"(\w+)ing\b(.*)", option)
    forms = (bare[1], f"{bare[1]}e", bare[1][:-1]) if bare else ()
    plain = option if looks_like_order(option) and bare is None else None
    return next((f"{form}{bare[2]}" for form in forms if bare and form and starts_with_verb(form)), plain)


def _picked(plain: str, options: Sequence[str]) -> str | None:
    """The option picked, nothing in words if it cannot be told which, None if none was picked."""
    plain = re.sub(r"\s+(?:one|ones|option|first|then|now|uno|una)$", "", plain)
    for place, name in ((0, "first"), (1, "second"), (2, "third"), (-1, "last")):
        if wholly(plain, name):
            return options[place] if -1 <= place < len(options) else ""
    if wholly(plain, "every") or (at_head(plain, "every") and len(plain.split()) < 4):
        return ", ".join(options)
    return None


def answer(heard: Heard) -> Meaning | None:
    """What is told to an assistant that asked makes the request precise."""
    said = heard.said
    if not said.asks or heard.asks or small_talk(heard.text):
        return None
    if said.choice or said.clarifies or (said.options and not said.offer):
        return pending(heard)
    named = said.offer is None or mentions(heard) or NAMES.match(heard.plain) or is_phrase(heard.plain)
    return pending(heard) if named and not has(PARTS.split(heard.plain)[0], "remark") else None


def is_phrase(plain: str) -> bool:
    """Whether the words only name something: no clause says what is or was."""
    return len(plain.split()) < LONGEST_CHOICE and not has(plain, "finite")


def remark(heard: Heard) -> Meaning | None:
    told: object = has(heard.plain, "remark") if heard.said.asks else at_head(heard.plain, "remark")
    return nothing(heard) if told and not heard.asks else None
