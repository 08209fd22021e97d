"""How a question is read: split into words, accents and small typing errors removed, known words marked."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from laneway.llm.offline.words import MEANINGS, NOT_TYPOS, PLAIN, PROGRAMS

_WORD = re.compile(r"[a-z0-9][a-z0-9_.+-]*[a-z0-9+]|[a-z0-9]")
_SHORT_FORMS = (
    (re.compile(r"\b(what|who|how|where|it|that|there|here|which)s\b"), r"\1 is"),
    (re.compile(r"\b(?:wats|wots|wuts)\b"), "what is"),
    (re.compile(r"\bssh'?d in\b"), "logged in"),
    (re.compile(r"\b(\w{3,}in)'(?!\w)"), r"\1g"),
    (re.compile(r"\b(what|who|how|where|it|that|there|here|server|box|machine)'s\b"), r"\1 is"),
    (re.compile(r"\b(\w+)'re\b"), r"\1 are"),
    (re.compile(r"\b(\w+)n't\b"), r"\1 not"),
    (re.compile(r"\bcuanta s\b"), "cuantas"),
    (re.compile(r"\b(?:quelqu'un|quelqu un)\b"), "quelqu"),
    (re.compile(r"\bup[ -]time\b"), "uptime"),
    (re.compile(r"\bhard[ -](drive|disk)(s?)\b"), r"disk\2"),
    (re.compile(r"\btime[ -]?zones?\b"), "timezone"),
    (re.compile(r"\bhost ?name\b"), "hostname"),
    (re.compile(r"\blog ?ged\b"), "logged"),
    (re.compile(r"\b(\d+)\s*%"), r"\1 percent"),
    (re.compile(r"[- ]wise\b"), " "),
    (re.compile(r"\b(\w+)'ve\b"), r"\1 have"),
    (re.compile(r"^\s*(?:cat|less|more)(?=\s+/)"), " "),
    (re.compile(r"['`\"]"), " "),
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
    "protokoll": "log",
    "systemlog": "log",
    "serverlog": "log",
    "logdatei": "log",
}


def _meanings() -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for concept, words in MEANINGS.items():
        for word in words.split():
            found[word].add(concept)
    return {word: frozenset(concepts) for word, concepts in found.items()}


_CONCEPTS = _meanings()
_KNOWN = frozenset(_CONCEPTS) | PLAIN | PROGRAMS
# Only words that carry a meaning are guessed; a plain word guessed in place of a strange one would hide it.
_SHORT_BUT_SPELLABLE = """disk disks drive space swap load boot cores logs time date user users login free left used usage
    full busy stress alive error platte disco lauft espace heure nginx redis mysql docker""".split()
# The tables begin with the English words, so that these win where two are equally near.
_SPELLABLE = tuple(
    dict.fromkeys(
        word
        for words in zip_longest(*(words.split() for words in MEANINGS.values()), sorted(PROGRAMS), fillvalue="")
        for word in words
        if len(word) >= 6 or word in _SHORT_BUT_SPELLABLE
    )
)
_LITTLE_WORDS = frozenset(
    """the what how much many and you that which when does have this with from there lines show average long right still
    been cuanto cuanta donde combien quelle wieviel welche""".split()
)
_CONTEXT_WORDS = ("disk", "load", "swap", "logs", "time", "user", "free", "used")


def _stem(word: str) -> str:
    """`gobbles`, `gobbled` and `gobbling` are one word."""
    return re.sub(r"(?<=\w{4})(?:ing|ed|es|s)$", "", word)


_KNOWN_STEMS = frozenset(_stem(word) for word in PLAIN if len(word) >= 5)
_HOG_STEMS = frozenset(_stem(word) for word in MEANINGS["hog"].split())


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


def read(raw: str) -> Reading:
    """The question as known words, and the words nobody here knows."""
    tokens = _tokens(raw)
    words = _with_context(tuple(piece for token in tokens for piece in _pieces(token)))
    concepts = frozenset(concept for word in words for concept in _CONCEPTS.get(word, _german(word)))
    unknown = tuple(word for word in words if not is_known(word))
    return Reading(raw, " ".join(tokens), words, concepts, unknown)


def _with_context(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words with one of three letters completed, where all the others are known: `cpu lod`."""
    strange = [word for word in words if not is_known(word)]
    if len(strange) != 1 or len(strange[0]) != 3 or strange[0] in NOT_TYPOS or len(words) == 1:
        return words
    meant = next((word for word in _CONTEXT_WORDS if _distance(strange[0], word) == 1), strange[0])
    return tuple(meant if word == strange[0] else word for word in words)


def is_known(word: str) -> bool:
    """True if the word is in the tables, is a number, or is a German word made of known ones."""
    if word in _KNOWN or f"{word}g" in _KNOWN or _stem(word) in _KNOWN_STEMS:
        return True
    return word.replace(".", "").isdigit() or bool(_german(word))


def plain(raw: str) -> str:
    """The text in lower case, without accents, short forms opened."""
    text = unicodedata.normalize("NFKD", raw.lower().replace("ß", "ss").replace("’", "'"))
    text = "".join(char for char in text if not unicodedata.combining(char))
    for pattern, replacement in _SHORT_FORMS:
        text = pattern.sub(replacement, text)
    return text


def _tokens(raw: str) -> list[str]:
    # What begins with a dash is an option of a command.
    said = re.sub(r"(?<!\S)--?[a-z]+(?!\S)", " ", plain(raw))
    return [match.group().strip(".-_+") for match in _WORD.finditer(said)]


def _pieces(token: str) -> list[str]:
    """A joined word is opened where all its pieces are known: `cpu-auslastung`, but not `web-2`."""
    if is_known(token):
        return [token]
    pieces = [piece for piece in re.split(r"[-_.]", token) if piece]
    if len(pieces) > 1 and all(is_known(piece) and not piece.isdigit() for piece in pieces):
        return pieces
    return [respell(token)]


_INTERFACE = re.compile(r"(?:eth|ens|eno|enp|wlan|wlp|docker|br|tun|wg)\d[\da-z]*")


def _german(word: str) -> frozenset[str]:
    if _INTERFACE.fullmatch(word):
        return frozenset({"ip"})
    if _stem(word) in _HOG_STEMS:
        return frozenset({"hog"})
    return frozenset(concept for stem, concept in _GERMAN_STEMS.items() if word.startswith(stem))


@lru_cache(maxsize=4096)
def respell(word: str) -> str:
    """The known word this one was meant to be, if it is a small typing error away; else the word itself."""
    if word in NOT_TYPOS or is_known(word) or not word.isalpha():
        return word
    if swapped := next((guess for guess in _neighbours_swapped(word) if guess in _LITTLE_WORDS), None):
        return swapped
    allowed = _allowed_errors(word)
    if word not in _KNOWN and len(word) >= 4:
        little = next(
            (guess for guess in sorted(_LITTLE_WORDS) if len(guess) >= 4 and _distance(word, guess) == 1), None
        )
        if little and little[0] == word[0]:
            return little
    near = (
        (distance, place, known)
        for place, known in enumerate(_SPELLABLE)
        if abs(len(known) - len(word)) <= allowed and known[0] in word[:2]
        if (distance := _distance(word, known)) <= allowed
    )
    return min(near, default=(0, 0, word))[2]


def _neighbours_swapped(word: str) -> list[str]:
    if len(word) < 3:
        return []
    return [word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)]


def _allowed_errors(word: str) -> int:
    if len(word) <= 3:
        # Three letters are too few to guess from, unless no real word could look like that.
        return 1 if len(word) == 3 and not set(word) & set("aeiouy") else 0
    return 1 if len(word) <= 7 else 2


def _distance(a: str, b: str) -> int:
    """How many letters were dropped, added, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, right in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
