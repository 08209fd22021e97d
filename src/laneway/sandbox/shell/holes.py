"""Words as the guard knows them: text, with holes where only the running shell could tell.

A hole carries what is known of it: the name of a variable (`v_HOME`), or where its text would come from (`net`, `file`,
`secret`, `env`, `cmd`). While a word is put together, characters that quotes protect are shielded, so that braces,
blanks and tildes count only where the shell would let them.
"""

from __future__ import annotations

import re
from itertools import pairwise, product

from laneway.sandbox.shell.bounds import MOST_WORDS, TooMuch

_OPEN, _CLOSE, SPLIT = "\ue000", "\ue002", "\ue001"
_SHIELD = 0xE100
_SHIELDED = " \t\n{},*?[]~"
_TO_SHIELD = {ord(sign): chr(_SHIELD + ord(sign)) for sign in _SHIELDED}
_FROM_SHIELD = {_SHIELD + ord(sign): sign for sign in _SHIELDED}
_HOLE = re.compile(f"{_OPEN}([^{_CLOSE}]*){_CLOSE}")
RESERVED = re.compile("[\ue000-\ue1ff]")
"""Characters a command may not bring along: they are ours."""
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_RANGE = re.compile(r"(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])(?:\.\.-?\d+)?")


def hole(label: str) -> str:
    return f"{_OPEN}{re.sub(r'[^A-Za-z0-9_]', '_', label)}{_CLOSE}"


def holes(word: str) -> list[str]:
    """The labels of a word's holes, in order."""
    return _HOLE.findall(word)


def has_hole(word: str) -> bool:
    return _OPEN in word


def starts_with_hole(word: str) -> bool:
    return word.startswith(_OPEN)


def may_be_option(word: str) -> bool:
    """Whether a word may turn out to begin with a dash: by what fills it, or by the names of files it matches."""
    return word[:1] in (_OPEN, "*", "?", "[")


def without_holes(word: str, filler: str = "") -> str:
    return _HOLE.sub(filler, word)


def shown(word: str) -> str:
    """The word as a person may read it: a variable by its name, any other hole as dots."""
    text = _HOLE.sub(lambda found: f"${found[1][2:]}" if found[1].startswith("v_") else "…", word)
    text = "".join(sign if sign.isprintable() else "�" for sign in text)
    return text if len(text) <= 80 else text[:77] + "…"


def shield(text: str) -> str:
    return text.translate(_TO_SHIELD)


def unshield(text: str) -> str:
    return text.translate(_FROM_SHIELD)


def ansi_c(text: str) -> str:
    """What `$'…'` says."""
    return _ESCAPE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE200 else "�"
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 0x1F)
    return _SIMPLE.get(code, code)


def braces(text: str, depth: int = 0) -> list[str]:
    """The words that brace expansion makes of one."""
    opened = text.find("{")
    if opened >= 0 and (depth > 20 or text.count("{") > 200):
        raise TooMuch
    while opened >= 0:
        closed, commas = _matching(text, opened)
        if closed is None:
            return [text]
        inner = text[opened + 1 : closed]
        choices = _choices(inner, [comma - opened - 1 for comma in commas])
        if choices:
            ends = braces(text[closed + 1 :], depth + 1)
            middles = [word for choice in choices for word in braces(choice, depth + 1)]
            if len(middles) * len(ends) > MOST_WORDS:
                raise TooMuch
            return [text[:opened] + middle + end for middle, end in product(middles, ends)]
        opened = text.find("{", opened + 1)
    return [text]


def _matching(text: str, opened: int) -> tuple[int | None, list[int]]:
    level = 0
    commas: list[int] = []
    for place in range(opened, len(text)):
        if text[place] == "{":
            level += 1
        elif text[place] == "}":
            level -= 1
            if level == 0:
                return place, commas
        elif text[place] == "," and level == 1:
            commas.append(place)
    return None, commas


def _choices(inner: str, commas: list[int]) -> list[str]:
    if commas:
        edges = [-1, *commas, len(inner)]
        return [inner[left + 1 : right] for left, right in pairwise(edges)]
    found = _RANGE.fullmatch(inner)
    if found is None:
        return []
    first, last = found[1], found[2]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = sorted((int(first), int(last)))
        # Numbers of a range mean the same to every rule.
        return [str(number) for number in {low, min(low + 1, high), high}]
    low, high = sorted((ord(first[0]), ord(last[0])))
    return [chr(code) for code in range(low, high + 1)]


def fields(text: str, home: str) -> list[str]:
    """The words the shell makes of one shielded text: braces expanded, split at bare blanks, tildes resolved."""
    if text == "":
        return []
    words = [part for choice in braces(text) for piece in choice.split(SPLIT) for part in _split(piece)]
    if len(words) > MOST_WORDS:
        raise TooMuch
    return [unshield(_tilde(word, home)) for word in words]


_EMPTY = chr(_SHIELD + 1)
"""Stands for a pair of quotes with nothing between: a word although it is empty."""
EMPTY = _EMPTY
_FROM_SHIELD[_SHIELD + 1] = ""


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"[ \t\n]+", text) if part]


def _tilde(word: str, home: str) -> str:
    if not word.startswith("~"):
        return word
    head, slash, rest = word[1:].partition("/")
    if head == "":
        return home + slash + rest
    if head == "+":
        return hole("v_PWD") + slash + rest
    return f"/home/{head}{slash}{rest}"
