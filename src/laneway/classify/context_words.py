"""The words by which a message shows what it refers to, from `context_words.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from laneway.classify.rules import normalise

FILE = Path(__file__).with_name("context_words.toml")
LONGEST_SHORT = 12
"""A message of more words than this speaks for itself, unless it begins with a plain yes or no."""
ENDS = "?？؟"
PARTS = re.compile(r"\s*[,.!;:–—]+\s+|\s+-\s+|[，。！]")
JOINED = re.compile(r"^(?:(?:and|then|but|also|please|just|now|or|und|dann|aber|y|luego|et|puis|mais|e|poi|ma) )+")
_APOSTROPHE = re.compile(r"\b(do|did|does|is|are|was|were|has|have|had|would|could|should|wo|ca)nt\b")
_LET_ME = re.compile(r"\blemme\b")
_CRY = re.compile(r"[^\W\d]{1,7}[,.!…]+ ")
BUT = re.compile(r"(?:but|aber|pero|mais|ma|maar|ale|но)\b")


@cache
def _file() -> dict[str, list[str]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def groups() -> tuple[str, ...]:
    """The names of all groups."""
    return tuple(_file())


@cache
def source(name: str) -> str:
    """One group of words as a pattern; scripts without spaces have no word borders to look for."""
    entries = [str(entry) for entry in _file()[name]]
    return "|".join(f"(?:{entry})" + (r"(?![\w'])" if entry.lower() != entry.upper() else "") for entry in entries)


@cache
def _group(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(source(name)), re.compile(rf"(?<![\w'-])(?:{source(name)})")


def at_head(plain: str, *names: str) -> str | None:
    """The words of these groups that a text begins with."""
    found = [hit[0] for name in names if (hit := _group(name)[0].match(plain)) and hit[0]]
    return max(found, key=len, default=None)


def wholly(plain: str, name: str) -> bool:
    return re.fullmatch(_group(name)[0], plain) is not None


def has(plain: str, name: str) -> re.Match[str] | None:
    return _group(name)[1].search(plain)


def stripped(text: str) -> tuple[str, str, bool]:
    """The noise a message begins with, the rest without noise at its end, and whether it is marked as a question."""
    whole = _LET_ME.sub("let me", _APOSTROPHE.sub(r"\1n't", normalise(text)))
    asks = whole.rstrip(" )").endswith(tuple(ENDS))
    whole = whole.rstrip(f"{ENDS} .!,…").lstrip("¿¡ ")
    lead = ""
    while (found := at_head(whole, "filler", "ack", "thanks")) is not None:
        if len(at_head(whole, "yes", "no", "asks", "remark") or "") > len(found):
            break
        lead, whole = f"{lead} {found}".strip(), whole[len(found) :].lstrip(" ,.!:;–-…，。")
    if (cry := _CRY.match(whole)) and at_head(whole[cry.end() :], "yes", "no"):
        whole = whole[cry.end() :]
    while (bare := _without_tail(whole)) != whole:
        whole = bare
    return lead, whole, asks


def _without_tail(plain: str) -> str:
    """The words without politeness at their end; words that are nothing else stay."""
    return re.sub(rf"[\s,.!…，]+(?:{source('tail')})[\s,.!]*$", "", plain) or plain
