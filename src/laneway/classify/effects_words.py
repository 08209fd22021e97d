"""Verbs by what they do, in every form an order may give them, read from `effects_verbs.toml`."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("effects_verbs.toml")
CHANGING = ("process", "data", "config", "access", "network", "deploy", "schedule", "outward", "device")
"""Verbs that leave something different, by what they leave different."""
READING = ("look", "compute", "text", "explain")
"""Verbs that only look, compute, or write text into the chat."""
FORMS = ("plain", "third", "ing", "past")
NOTHING: frozenset[str] = frozenset()
_VOWELS = "aeiou"
_TOLD = ("é", "ó", "í", "ò", "ì", "èrent", "ée", "és", "ées")
"""No order ends like this; pasts and participles do."""
_CLITICS = re.compile(
    r"(?:-(?:le|la|les|moi|lui|leur|nous|toi|lo|me|mi)|(?<=[aeionrz])(?:me|mi|le|lo|la|los|las|les|nos|melo|mela))$"
)


def classes(word: str, form: str = "plain") -> frozenset[str]:
    """What the word does if it is a verb in this form; nothing if it is none we know."""
    if word.endswith(_TOLD):
        return NOTHING
    table, bare = vocabulary()[form], folded(word)
    found = table.get(bare, NOTHING)
    if found or form != "plain" or len(bare) < 5:
        return found
    shorter = _CLITICS.sub("", bare)
    return _abroad().get(shorter, NOTHING) if shorter != bare else found


def foreign(word: str) -> frozenset[str]:
    """What the word does as an order in a language other than English; nothing if English has the same word."""
    bare = "" if word.endswith(_TOLD) else folded(word)
    return _abroad().get(bare, NOTHING) if len(bare) > 3 and bare not in _english() else NOTHING


def folded(word: str) -> str:
    """The word in lower case and without accents."""
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))


@cache
def vocabulary() -> dict[str, dict[str, frozenset[str]]]:
    """For each form, the words and what they do."""
    tables: dict[str, dict[str, set[str]]] = {form: {} for form in FORMS}
    pasts = _irregular()
    for name, words in _file()["english"].items():
        for verb in words.split():
            for form, made in _inflected(verb, pasts):
                tables[form].setdefault(made, set()).add(name)
    for word, names in _abroad().items():
        tables["plain"].setdefault(word, set()).update(names)
    return {form: {word: frozenset(names) for word, names in table.items()} for form, table in tables.items()}


@cache
def _english() -> frozenset[str]:
    verbs = {verb for words in _file()["english"].values() for verb in words.split()}
    return frozenset(verbs | set(_file()["abroad_too"]["english"].split()))


@cache
def joined(name: str) -> re.Pattern[str]:
    """Words of scripts without spaces, found anywhere."""
    return re.compile("|".join(_file()["joined"][name].split()))


@cache
def _abroad() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    endings = _file()["endings"]
    for made in _compounds():
        table.setdefault(made, set()).add("config")
    for language, groups in _file()["abroad"].items():
        for name, words in groups.items():
            for word in words.split():
                for made in _orders(word, endings.get(language, {})):
                    table.setdefault(folded(made.casefold()), set()).add(name)
    return {word: frozenset(names) for word, names in table.items() if len(word) > 1}


def _compounds() -> Iterator[str]:
    """Verbs of German and Dutch with a particle before them: "rausnehmen", "uitzetten"."""
    for language in _file()["compounds"].values():
        for particle in language["particles"].split():
            yield from (folded(f"{particle}{verb}".casefold()) for verb in language["verbs"].split())


def _orders(word: str, endings: dict[str, list[str]]) -> Iterator[str]:
    """The infinitive and the orders made of it."""
    yield word
    ending = next((known for known in sorted(endings, key=len, reverse=True) if word.endswith(known)), None)
    for other in endings.get(ending, []) if ending is not None else []:
        yield word.removesuffix(ending or "") + other


def _inflected(verb: str, pasts: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    yield "plain", verb
    yield "third", verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")
    stems = _stems(verb)
    yield from (("ing", f"{stem}ing") for stem in stems)
    yield from (("past", made) for made in pasts.get(verb, [f"{stem}ed" for stem in stems]))
    if verb.endswith("y"):
        yield from (("past", f"{verb[:-1]}ied"), ("third", f"{verb[:-1]}ies"))


def _stems(verb: str) -> list[str]:
    """What endings are put to; a last consonant may or may not be doubled."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return [verb[:-1]]
    short = len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in _VOWELS
    return [verb, verb + verb[-1]] if short else [verb]


def _irregular() -> dict[str, list[str]]:
    pairs: Iterable[str] = _file()["irregular"]["forms"].split()
    return {verb: made.split(",") for verb, _, made in (pair.partition(":") for pair in pairs)}


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
