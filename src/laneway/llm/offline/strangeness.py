"""Whether a question holds words that could make it a question about something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from laneway.llm.offline.reading import Reading, meaning

# Concepts that say little about what is asked for.
_WEAK = frozenset({"long", "top", "health", "who", "user", "date", "clock"})
_ANYTHING = {"anything", "something", "nothing", "etwas", "irgendwas", "algo", "nada", "rien"}
_GERMAN = re.compile(r"\b(?:ist|wie|der|das|und|ein|eine|auf|dem|den|noch|wer|welche\w*|zeig\w*|mir|im|gibt)\b")
_PARTICIPLE = re.compile(r"\w{3,}(?:ed|ad[oa]s?|id[oa]s?)|(?:ge|be|ver|uber|aus)\w{3,}(?:t|en)")
_BEFORE_A_NAME = re.compile(
    r"""\b(?:on|of|for|at|from|in|about|to|with|by|does|do|did|this|that|auf|von|vom|bei|fur|mit|uber|im|sur|du|pour|chez|del|en|de
    |sobre|con|para|dans|avec|a|an|my|our|the|der|die|das|dem|den|mein\w*|el|la|los|las|mi|le|les|un|une|una|ein|eine)\s+
    (?:(?:the|my|dem|der|el|la|le|new|old|big|latest|other|own|whole|first|last|same)\s+)?$""",
    re.X,
)


def is_strange(reading: Reading, topics: Sequence[str], expected: set[str]) -> bool:
    """True if words are left over that could change what the question is about."""
    sure = (
        reading.has("server")
        or bool(reading.concepts and expected.intersection(reading.words))
        or len(reading.concepts - _WEAK) >= 2
    )
    left = [word for word in reading.unknown if word not in expected]
    # The time is asked for in every town of the world, and "Italy" looks like an adverb.
    if tuple(topics) == ("time",) and not reading.has("server"):
        return bool(left)
    left = [word for word in left if not _only_describes(reading, word, sure)]
    if not left:
        return False
    spare = 2 if sure else 0
    return len(left) > spare or any(_is_a_name(reading, word) or _is_a_thing(reading, word) for word in left)


def _only_describes(reading: Reading, word: str, sure: bool) -> bool:
    """True for adverbs, participles, and the adjective in "anything strange in the logs"."""
    before = reading.words[max(0, reading.words.index(word) - 1)]
    if word.endswith("ly") or before in _ANYTHING:
        return True
    return sure and (word.endswith(("ing", "ish")) or _PARTICIPLE.fullmatch(word) is not None)


def _is_a_name(reading: Reading, word: str) -> bool:
    """True for a capital letter inside the sentence; in German every noun has one, so there it tells nothing."""
    if _GERMAN.search(reading.text):
        return False
    written = re.finditer(rf"\S\s+({re.escape(word)})\b", reading.raw, re.I)
    return any(match.group(1)[0].isupper() for match in written)


def _is_a_thing(reading: Reading, word: str) -> bool:
    """True if the word stands where a thing's or an owner's name stands: `on atlas`, `nasa's server`."""
    at = reading.words.index(word)
    before, after = " ".join(reading.words[:at]) + " ", reading.words[at + 1 : at + 2]
    if _BEFORE_A_NAME.search(before) or after == ("s",):
        return True
    return any("server" in meaning(following) for following in after)
