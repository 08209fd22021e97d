"""A message in its place as numbers: what it does after what was said is learned from them (`context_learned`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from laneway.classify import grammar
from laneway.classify.context_answers import NAMES, is_phrase, mentions, offered
from laneway.classify.context_requests import asks_in_part, looks_like_order, names_option, own_order
from laneway.classify.context_said import Heard, Meaning
from laneway.classify.context_words import at_head, groups, has, wholly
from laneway.classify.rows import Matrix

Shares = Callable[[str], dict[str, float]]
"""How likely each label of a text is that stands alone, and that it needs a yes."""
OUTCOMES = ("question", "other", "command", "change")
"""What a message can come to; a `change` is a command that needs a yes."""
FLAG = "needs_confirmation"
_WHOLLY = ("yes", "no", "number", "every", "again", "empty_offer")
_LENGTHS = (1, 2, 4, 7, 12, 25)
_RANGE, _SURE, _REST = (0.02, 0.98), 0.94, 0.02


def readings(heard: Heard, shares: Shares) -> Matrix:
    """What the message would come to if it were taken in each of eight ways, one row each.

    As it stands, as the request before, as the order before, as what was offered; and whatever the words, as a
    question, as nothing, as a command that only looks, as a change.
    """
    own = outcome(Meaning(heard.text), shares)
    asked = outcome(heard.asked, shares) if heard.asked else own
    earlier = outcome(heard.earlier, shares) if heard.earlier else own
    said = heard.said
    offer = offered(said.offer) if said.offer else Meaning(said.last, order=True) if said.asks and said.last else None
    whatever = np.full((4, 4), _REST) + np.eye(4) * (_SURE - _REST)
    return np.array([own, asked, earlier, outcome(offer, shares) if offer else asked, *whatever], np.float32)


def outcome(meaning: Meaning, shares: Shares) -> Matrix:
    """How likely a meaning comes to each of the outcomes."""
    if meaning.label is not None:
        return np.asarray(np.eye(4)[OUTCOMES.index(meaning.label)], np.float32)
    told = shares(meaning.text)
    change = (
        min(max(told[FLAG], _RANGE[0]), _RANGE[1]) if meaning.confirm is None else 0.97 if meaning.confirm else 0.03
    )
    command = 1.0 if meaning.order else told["command"]
    rest = (0.0, 0.0) if meaning.order else (told["question"], told["other"])
    found = np.array([*rest, command * (1 - change), command * change], np.float32) * 0.97 + 0.0075
    return np.asarray(found / found.sum(), np.float32)


def signs(heard: Heard, shares: Shares) -> Matrix:
    """How the message is built and what it answers to, as numbers between -1 and 1."""
    said, plain, words = heard.said, heard.plain, heard.words
    place = [bool(said.offer), said.asks, said.choice, said.clarifies, bool(said.options), said.done, said.answered]
    place += [said.standing, not said.plain]
    verb = grammar.starts_with_verb(plain)
    key = [bool(at_head(plain, "yes")), bool(at_head(plain, "no")), heard.asks, not plain, words <= 4, verb]
    key += [bool(at_head(plain, "asks")), bool(has(plain, "remark"))]
    built = [*(bool(at_head(plain, name)) for name in groups()), *(bool(has(plain, name)) for name in groups())]
    built += [wholly(plain, name) for name in _WHOLLY]
    built += [bool(heard.lead), bool(has(heard.lead, "ack")), bool(has(heard.lead, "thanks")), not plain]
    built += [*(words <= length for length in _LENGTHS), heard.asks, verb, looks_like_order(plain), is_phrase(plain)]
    built += [bool(NAMES.match(plain)), own_order(heard), names_option(heard)]
    built += [bool(plain) and mentions(heard), bool(plain) and asks_in_part(plain)]
    meet = np.outer(np.array(key, np.float32), np.array(place, np.float32)).ravel()
    return np.array([*place, *built, *meet, *_likely(heard, shares), *grammar.features(heard.text)], np.float32)


def _likely(heard: Heard, shares: Shares) -> list[float]:
    """What the message is by itself, what was asked before, and what was offered."""
    own = shares(heard.text)
    logs = [float(np.log(max(own[name], 0.01))) / 4.6 for name in ("question", "command", "other", FLAG)]
    asked = outcome(heard.asked, shares).tolist() if heard.asked else [0.0] * 4
    offer = outcome(Meaning(heard.said.offer, order=True), shares).tolist() if heard.said.offer else [0.0] * 4
    return [*logs, *asked, float(heard.asked is None), *offer]
