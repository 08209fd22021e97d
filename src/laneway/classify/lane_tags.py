"""What each word of a request is: an editing verb, a workflow part, a row of data, a time of day.

The words stand in `lane_words.toml`. A tagged text is a line of group names, so that the patterns over it can say
"an editing verb, at most four words, a workflow part" in any language that has words in the groups.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("lane_words.toml")
LONGEST = 6
READ = 800
"""So many characters are read: a request says what it wants in its first sentences, and time must stay bounded."""
_VERBS = {
    *("edit", "store", "halt", "undo", "clone", "effect", "read", "shape"),
    *("start", "end", "decide", "dry", "tries", "watch", "cease"),
}
_NOUNS = {"part", "thing", "entity", "data", "unit", "run"}
_IN_PLACE = [
    (re.compile(pattern), meant)
    for pattern, meant in (
        (r"(^|and |, |polite |may )have (?=the |here |all |some |x |data )", r"\1edit "),
        (r"(^|and |, |polite |may )do (?=the |here |all |some |it |num )", r"\1start "),
        (r"\b(?:have|do)(?= )", "be"),
        (r"(^|and |, |polite |may )get(?= )", r"\1read"),
        (r"\bget(?= )", "must"),
        (r"\bfresh (?=data )", "some "),
        (r"^((?:polite |may )*)unit (?=some |fresh |all |the |data |thing |entity )", r"\1effect "),
        (r"\bmay (edit|effect|start|halt|read|store)ing(?= )", r"may \1"),
        (r"\bnum am(?= )", "time"),
        (r"\bover (?=[,.;!?] |$)", "here "),
        (r"\balways (.*)again(?= )", r"always \1later"),
        (r"\bturn ((?:\S+ ){1,5}?)(?:on|off) (?=$|[,.?!] |and |defer |later |until |once |now |in |on )", r"halt \1"),
        (r"\bturn(?= )", "edit"),
        (r"\b(?:dont (?:x )?(?:edit|store|halt)(?:ing)?|instead (?:edit|store)ing)(?= )", "unsaved"),
        # A verb after an article is a noun: "the alert", "a backup", "the stock check".
        (r"\b(the|here|some|fresh|all|often)( x| unit| often| thing)? (?:effect|watch)(?= )", r"\1\2 thing"),
        (r"\b(the|here|some|fresh|all|often)( x| unit| often| thing)? (?:start|dry|tries|end|decide) ", r"\1\2 run "),
        (r"\b(the|here|some|fresh|all) (?:read|shape)(?= )", r"\1 data"),
        (r"\b(the|here|some|fresh|all)( x| unit| often)? (?:store|edit|undo)(?= )", r"\1\2 part"),
        # A time word between article and noun is a name: "the nightly sync", "our Monday mail".
        (r"\b(the|here) (x )?(?:often|unit)(?= (?:x|thing|part|run|data|entity) )", r"\1 \2named"),
        (r"\bpast num units?(?= )", "window"),
        (r"\bnext (?=num )", "until "),
        (r"\bif (?=[,.;!?] |$)", "once "),
        (r"\bhere (?=unit )", "x "),
    )
]
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»")
_CRON = re.compile(r"(?<![\w*])(?:[\d*][\d*/,-]*\s+){4}[\d*][\d*/,-]*(?![\w*])")
_TOKEN = re.compile(r"[^\W_]+(?:['_@/-][\w@.]*\w)*|[?!.,;:=→]")


def tags(text: str) -> list[str]:
    """The groups of the words of a text in their order; `x` for a word in none, marks as they are."""
    plain = _CRON.sub(" cron ", _QUOTED.sub(" quoted ", text[:READ].casefold().replace("’", "'")))
    line = " ".join(_tagged(_TOKEN.findall(_unspaced().sub(r" \g<0> ", plain)))) + " "
    for pattern, meant in _IN_PLACE:
        line = pattern.sub(meant, line)
    return line.split()


def _tagged(tokens: list[str]) -> Iterator[str]:
    place = 0
    while place < len(tokens):
        for size in range(min(LONGEST, len(tokens) - place), 0, -1):
            group = _phrases().get(" ".join(tokens[place : place + size]))
            if group:
                break
        yield group or _guess(tokens[place])
        place += size


def _guess(token: str) -> str:
    """The group of a word that is listed in another form only."""
    if not token[0].isalpha():
        return (
            ("num" if re.fullmatch(r"\d+(?:st|nd|rd|th|[\d.,/-])*", token) else "time") if token[0].isdigit() else token
        )
    if token.startswith("auto-"):
        return "later"
    for ending, suffix in (("ing", "ing"), ("ed", "ed"), ("es", "s"), ("s", "s"), ("d", "ed")):
        stem = token.removesuffix(ending)
        if stem != token and (group := _stem(stem)):
            return _inflected(group, suffix)
    return "x"


def _stem(stem: str) -> str | None:
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return next((known for form in (stem, f"{stem}e", doubled) if (known := _phrases().get(form))), None)


def _inflected(group: str, suffix: str) -> str:
    if group in _NOUNS:
        return "units" if group == "unit" and suffix == "s" else group
    return f"{group}{suffix}" if group in _VERBS else "x"


@cache
def _phrases() -> dict[str, str]:
    groups = tomllib.loads(FILE.read_text(encoding="utf-8"))
    known: dict[str, str] = {}
    for group, entries in groups.items():
        for entry in entries:
            known.setdefault(entry, group)
    return known


@cache
def _unspaced() -> re.Pattern[str]:
    # Chinese and Japanese put no spaces between words; the longest entry has to be tried first.
    entries = [entry for entry in _phrases() if re.search(r"[\u3040-\u9fff]", entry)]
    return re.compile("|".join(sorted(entries, key=len, reverse=True)))
