"""What each word of a request is: an editing verb, a workflow part, a row of data, a time of day.

Verbs and nouns stand in `lane_words.toml`, the words that give mood, time and links in `lane_tags.toml`. A tagged text
is a line of group names, so that the patterns over it can say "an editing verb, at most four words, a workflow part"
in any language that has words in the groups.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from laneway.classify.lane_signs import CONTEXT

WORDS = Path(__file__).with_name("lane_words.toml")
LINKS = Path(__file__).with_name("lane_tags.toml")
LONGEST = 6
READ = 800
"""So many characters are read: a request says what it wants in its first sentences, and time must stay bounded."""
_NOUNS = {"part", "detail", "thing", "entity", "data", "value", "unit", "run"}
_BEFORE_VERB = {
    *(".", ",", ";", ":", "!", "?", "→", "and", "polite", "may", "must", "dont", "always", "can", "to", "later"),
    *("often", "now", "defer", "once", "i", "it", "cease", "in", "do", "too", "again", "units"),
}
"""After these a word that is a verb and a noun is a verb, as it is at the beginning."""
_SUBJECTS = {"it", "rel", "some", "name", "entity", "i", "who"}
_DETERMINERS = {"the", "here", "some", "all", "i", "it", "fresh", "that"}
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']{2,60}'(?!\w)|「[^」]*」")
_CRON = re.compile(r"(?<![\w*])(?:[\d*][\d*/,-]*\s+){4}[\d*][\d*/,-]*(?![\w*])")
_TOKEN = re.compile(r"[^\W_]+(?:['_@/.-][\w@.-]*\w)*|'s\b|->|=>|[<>]=?|[?!.,;:=→&]|\n")
_MARKS = {"->": "→", "=>": "→", "<": "over", ">": "over", "<=": "over", ">=": "over", "\n": "."}
_WIDE = str.maketrans(
    {"’": "'", "，": ",", "。": ".", "、": ",", "？": "?", "！": "!", "：": ":", "؟": "?", "،": ",", "–": ","}
)
_ELIDED = re.compile(r"\b(?:l|d|j|n|qu|c|dell|all|nell|sull|dall|un|quest)'(?=\w{3})", re.IGNORECASE)
_TURKISH_IF = re.compile(r"\w{3}(?:[ıiuü]rs[ae]|[ae]rs[ae]|[ıiuü]nc[ae]|[dt][ıiuü]ğ[ıiuü]nd[ae])$")
_GERMAN = re.compile(r"\b(?:der|die|das|den|dem|und|ein|eine|ich|mir|bitte|für|nicht|wenn|jeden?|auf|schick|bei)\b")


def tags(text: str) -> str:
    """The groups of the words of a text in their order, each followed by a blank; `x` for a word in none."""
    plain = _CRON.sub(" 0 ", _QUOTED.sub(" quoted ", text[:READ].translate(_WIDE)))
    tokens = _tokens(_unspaced().sub(r" \g<0> ", plain))
    line = " ".join(_tagged(tokens, _nouns_are_capital(plain))) + " "
    for pattern, meant in CONTEXT:
        line = pattern.sub(meant, line)
    return line


def _tokens(plain: str) -> list[str]:
    return _TOKEN.findall(_ELIDED.sub(r"\g<0> ", plain))


def _nouns_are_capital(plain: str) -> bool:
    """Whether capitals say nothing about names: in German, and where everything is a capital."""
    return bool(_GERMAN.search(plain)) or sum(map(str.isupper, plain)) * 3 > len(plain)


def _tagged(tokens: list[str], capital: bool) -> Iterator[str]:
    lower = [token.casefold() for token in tokens]
    place, before = 0, "."
    while place < len(tokens):
        size, groups = _known(lower, place)
        following = lower[place + size] if place + size < len(tokens) else ""
        if len(groups) > 1:
            before = groups[_is_noun(before, following)]
        else:
            before = groups[0] if groups else _unknown(tokens[place], lower[place], before, capital)
        yield before
        place += size


def _known(lower: list[str], place: int) -> tuple[int, tuple[str, ...]]:
    phrases, starts = _phrases()
    longest = min(starts.get(lower[place], 1), len(lower) - place)
    for size in range(longest, 0, -1):
        groups = phrases.get(" ".join(lower[place : place + size]))
        if groups:
            return size, groups
    return 1, ()


def _is_noun(before: str, following: str) -> bool:
    if before in _BEFORE_VERB:
        return False
    groups = _phrases()[0].get(following, ("",))
    return before in _DETERMINERS or before == "of" or groups[0] not in _DETERMINERS


def _unknown(token: str, lower: str, before: str, capital: bool) -> str:
    if token[0].isdigit():
        return "num" if re.fullmatch(r"\d+(?:st|nd|rd|th|k|%|[\d.,/-])*", lower) else "time"
    if not token[0].isalpha():
        return _MARKS.get(token, token)
    if lower.startswith("auto-"):
        return "later"
    if "@" in token or before == "title":
        return "name"
    group = _guess(lower, before)
    if group in ("x", "xed", "xing") and token[0].isupper() and before != "." and not capital:
        return "name"
    return "name" if group == "x" and token[0].isupper() and before == "entity" else group


def _guess(token: str, before: str) -> str:
    """The group of a word that is listed in another form only."""
    for ending, suffix in (("ing", "ing"), ("ed", "ed"), ("es", "s"), ("s", "s"), ("d", "ed"), ("'s", "'s")):
        stem = token.removesuffix(ending)
        if stem != token and len(stem) > 1 and (groups := _stem(stem)):
            return _inflected(groups, suffix, before)
    if _TURKISH_IF.search(token):
        return "if"
    if group := _near(token):
        return group
    return "xed" if len(token) > 4 and token.endswith("ed") else "x"


@lru_cache(4096)
def _near(token: str) -> str | None:
    """The group of a word that is one slip of the pen away, or that has another ending; a verb is then not an order."""
    if len(token) < 5 or not token.isalpha():
        return None
    slips, heads = _neighbours()
    for cut in range(1, len(token)):
        if found := slips.get(token[:cut] + token[cut + 1 :]):
            return found
    for size in range(len(token) - 1, max(5, len(token) - 4), -1):
        if found := heads.get(token[:size]):
            return found if found in _NOUNS else f"{found}s" if found in _verbs() else None
    return None


def _stem(stem: str) -> tuple[str, ...]:
    phrases = _phrases()[0]
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    forms = (stem, f"{stem}e", doubled, f"{stem[:-1]}y" if stem[-1] == "i" else stem)
    return next((known for form in forms if (known := phrases.get(form))), ())


def _inflected(groups: tuple[str, ...], suffix: str, before: str) -> str:
    # "someone answers" has a verb, "two answers" has a noun.
    group = groups[0] if suffix in ("ing", "ed") or before in _SUBJECTS else groups[-1]
    if group not in _NOUNS:
        return f"{group}{suffix}" if group in _verbs() else "x"
    if group == "unit" and suffix != "ed":
        return "named" if suffix == "'s" else "units"
    return group if suffix.endswith("s") else "x"


@cache
def _verbs() -> frozenset[str]:
    return frozenset(tomllib.loads(WORDS.read_text(encoding="utf-8"))) - _NOUNS


@cache
def _phrases() -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """The groups of each word or phrase, and how long the longest phrase is that begins with a word."""
    known: dict[str, tuple[str, ...]] = {}
    starts: dict[str, int] = {}
    for file in (LINKS, WORDS):
        for group, entries in tomllib.loads(file.read_text(encoding="utf-8")).items():
            for entry in entries:
                known[entry] = (*known.get(entry, ()), group)[:2]
                words = _tokens(entry)
                starts[words[0]] = max(starts.get(words[0], 1), len(words))
                known.setdefault(" ".join(words), known[entry])
    return known, starts


@cache
def _neighbours() -> tuple[dict[str, str], dict[str, str]]:
    """Words with one letter left out, and words without their endings, with their groups."""
    slips: dict[str, str] = {}
    heads: dict[str, str] = {}
    for word, groups in _phrases()[0].items():
        if len(word) < 6 or not word.isalpha() or word > "\u2000":
            continue
        for size in range(len(word), max(5, len(word) - 3), -1):
            heads.setdefault(word[:size], groups[-1])
        if word.isascii() and len(word) > 6:
            for cut in range(1, len(word)):
                slips.setdefault(word[:cut] + word[cut + 1 :], groups[0])
            slips.setdefault(word, groups[0])
    return slips, heads


@cache
def _unspaced() -> re.Pattern[str]:
    # Chinese and Japanese put no spaces between words; the longest entry has to be tried first.
    entries = [entry for entry in _phrases()[0] if re.search(r"[\u3040-\u9fff]", entry)]
    return re.compile("|".join(sorted(entries, key=len, reverse=True)))
