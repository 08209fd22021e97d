"""How a question is read: split into words, accents and small typing errors removed, known words marked."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

from laneway.llm.offline.spelling import complete, respell
from laneway.llm.offline.words import ENGLISH, MEANINGS, NOT_ENGLISH, PLAIN, PROGRAMS

_WORD = re.compile(r"[a-z0-9][a-z0-9_.+-]*[a-z0-9+]|[a-z0-9]")
_OPTION = re.compile(r"(?<!\S)--?[a-z]+(?!\S)")
_SHORT_FORMS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\b(what|who|how|where|it|that|there|here|which)s\b", r"\1 is"),
        (r"\b(?:wats|wots|wuts)\b", "what is"),
        (r"\b(what|who|how|where|it|that|there|here|server|box|machine)'s\b", r"\1 is"),
        (r"\b(\w+)'re\b", r"\1 are"),
        (r"\b(\w+)'ve\b", r"\1 have"),
        (r"\b(\w+)n't\b", r"\1 not"),
        (r"\b(\w{3,}in)'(?!\w)", r"\1g"),
        (r"\bssh'?d in\b", "logged in"),
        (r"\blog ged\b", "logged"),
        (r"\bquelqu['\s]un\b", "quelqu"),
        (r"\bup[ -]time\b", "uptime"),
        (r"\bhard[ -](drive|disk)(s?)\b", r"disk\2"),
        (r"\btime[ -]?zones?\b", "timezone"),
        (r"\bhost name\b", "hostname"),
        (r"\b(\d+)\s*%", r"\1 percent"),
        (r"[- ]wise\b", " "),
        (r"^\s*(?:cat|less|more)(?=\s+/)", " "),
        (r"['`\"]", " "),
    )
)
# German joins words into one, so the beginning of a long word tells what it is about.
_GERMAN_STEMS = {
    "festplatt": "disk",
    "speicherplatz": "disk",
    "plattenplatz": "disk",
    "arbeitsspeicher": "memory",
    "betriebssystem": "os",
    "netzwerk": "network",
    "prozessor": "cpu",
    "auslagerung": "swap",
    "systemlog": "log",
    "serverlog": "log",
    "logdatei": "log",
}
_INTERFACE = re.compile(r"(?:eth|ens|eno|enp|wlan|wlp|docker|br|tun|wg)\d[\da-z]*")


def _meanings() -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for concept, words in MEANINGS.items():
        for word in words:
            found[word].add(concept)
    return {word: frozenset(concepts) for word, concepts in found.items()}


def _stem(word: str) -> str:
    """`gobbles`, `gobbled` and `gobbling` are one word."""
    return re.sub(r"(?<=\w{4})(?:ing|ed|es|s)$", "", word)


_CONCEPTS = _meanings()
_KNOWN = frozenset(_CONCEPTS) | PLAIN | PROGRAMS
_KNOWN_STEMS = frozenset(_stem(word) for word in PLAIN if len(word) >= 5)
_HOG_STEMS = frozenset(_stem(word) for word in MEANINGS["hog"])


@dataclass(frozen=True)
class Reading:
    """One question, as far as its words are known; `written` is before typing errors were removed."""

    raw: str
    written: str
    words: tuple[str, ...]
    concepts: frozenset[str]
    unknown: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words joined again, lower case, without accents, errors or marks."""
        return " ".join(self.words)

    def has(self, *concepts: str) -> bool:
        """True if at least one word means one of these."""
        return not self.concepts.isdisjoint(concepts)


@lru_cache(maxsize=1024)
def read(raw: str) -> Reading:
    """The question as known words, and the words nobody here knows."""
    tokens = [match.group().strip(".-_+") for match in _WORD.finditer(_OPTION.sub(" ", plain(raw)))]
    words = complete(tuple(piece for token in tokens for piece in _pieces(token)), is_known)
    # "Charge" is load in French and money in English.
    skipped = NOT_ENGLISH if ENGLISH.intersection(words) else frozenset[str]()
    concepts = frozenset(concept for word in words if word not in skipped for concept in meaning(word))
    return Reading(raw, " ".join(tokens), words, concepts, tuple(word for word in words if not is_known(word)))


def meaning(word: str) -> frozenset[str]:
    """The concepts this word stands for."""
    if word in _CONCEPTS:
        return _CONCEPTS[word]
    if _INTERFACE.fullmatch(word):
        return frozenset({"ip"})
    if _stem(word) in _HOG_STEMS:
        return frozenset({"hog"})
    return frozenset(concept for stem, concept in _GERMAN_STEMS.items() if word.startswith(stem))


def is_known(word: str) -> bool:
    """True if the word or its stem is in the tables, or if it is a number."""
    if word in _KNOWN or f"{word}g" in _KNOWN or _stem(word) in _KNOWN_STEMS:
        return True
    return word.replace(".", "").isdigit() or bool(meaning(word))


def plain(raw: str) -> str:
    """The text in lower case, without accents, short forms opened."""
    text = unicodedata.normalize("NFKD", raw.lower().replace("ß", "ss").replace("’", "'"))
    text = "".join(char for char in text if not unicodedata.combining(char))
    for pattern, replacement in _SHORT_FORMS:
        text = pattern.sub(replacement, text)
    return text


def _pieces(token: str) -> list[str]:
    """A joined word is opened where all its pieces are known: `cpu-auslastung`, but not `web-2`."""
    if is_known(token):
        return [token]
    pieces = [piece for piece in re.split(r"[-_.]", token) if piece]
    if len(pieces) > 1 and all(is_known(piece) and not piece.isdigit() for piece in pieces):
        return pieces
    return [respell(token)]
