"""Reading a CEL text token by token: what `$` stands for, and which fields an expression names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<text>[rRbB]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<comment>//[^\n]*)
  | (?P<space>\s+)
  | (?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[uU]?)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<quoted>`[^`]*`)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# A raw text ends at its first quote whatever stands before it; the pattern above would read on past a backslash.
_RAW = re.compile(
    r"[rR][bB]?(?:\"\"\".*?\"\"\"|'''.*?'''|\"[^\"\n]*\"|'[^'\n]*')|[bB][rR](?:\"[^\"\n]*\"|'[^'\n]*')", re.DOTALL
)


class Token(NamedTuple):
    kind: str
    text: str


def tokens(text: str) -> Iterator[Token]:
    """The pieces of an expression; joined together they are the text again."""
    at = 0
    while at < len(text):
        raw = _RAW.match(text, at)
        match = raw or _TOKEN.match(text, at)
        if match is None:  # pragma: no cover - the last alternative matches any sign
            return
        yield Token("text" if raw else str(match.lastgroup), match.group())
        at = match.end()


def plain(text: str) -> str:
    """The expression in plain CEL: `$` before a dot or a bracket, or alone, is `output`; texts stay untouched."""
    found = list(tokens(text))
    after = [token.kind for token in found[1:]] + ["end"]
    return "".join(
        "output" if token == ("sign", "$") and follower not in ("name", "number", "quoted") else token.text
        for token, follower in zip(found, after, strict=True)
    )


_TRUTHS = frozenset("?|&<>=!")
"""Signs that make a truth of what stands beside them, or choose."""
_SUMS = frozenset("+-*/%")


def reckoned(text: str) -> bool:
    """Whether the whole is a sum, a difference, a product or a ratio: whatever of, that is never true or false."""
    pieces = _unwrapped([token for token in tokens(text) if token.kind not in ("space", "comment")])
    depth, found = 0, False
    for at, token in enumerate(pieces):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and (token == ("name", "in") or (token.kind == "sign" and token.text in _TRUTHS)):
            return False
        found |= depth == 0 and at > 0 and token.kind == "sign" and token.text in _SUMS
    return found


def _unwrapped(pieces: list[Token]) -> list[Token]:
    """The pieces without brackets around all of them."""
    while len(pieces) > 2 and pieces[0].text == "(" and _end(pieces) == len(pieces) - 1:
        pieces = pieces[1:-1]
    return pieces


def _end(pieces: list[Token]) -> int:
    """Where the bracket that the pieces begin with is closed."""
    depth = 0
    for at, token in enumerate(pieces):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0:
            return at
    return len(pieces)


Path = tuple[str, ...]


def named(text: str, roots: tuple[str, ...]) -> dict[str, list[Path] | None]:
    """For each root the paths an expression reads below it; None when it reads the root as a whole."""
    found: dict[str, list[Path] | None] = {}
    pieces = [token for token in tokens(text) if token.kind not in ("space", "comment")]
    for at, token in enumerate(pieces):
        if token.kind != "name" or token.text not in roots or (at and pieces[at - 1].text == "."):
            continue
        path, paths = _path(pieces, at + 1), found.get(token.text, [])
        found[token.text] = None if not path or paths is None else [*paths, path]
    return found


def _path(pieces: list[Token], at: int) -> Path:
    """The fields that follow a name, as far as they are written out; a call of a function ends them."""
    path: list[str] = []
    while at + 1 < len(pieces):
        mark, name = pieces[at], pieces[at + 1]
        called = at + 2 < len(pieces) and pieces[at + 2].text == "("
        if mark.text == "." and name.kind in ("name", "quoted") and not called:
            path.append(name.text.strip("`"))
            at += 2
        elif mark.text == "[" and _closes(pieces, at) and _simple(name):
            path.append(name.text[1:-1])
            at += 3
        else:
            break
    return tuple(path)


def _closes(pieces: list[Token], at: int) -> bool:
    return at + 2 < len(pieces) and pieces[at + 2].text == "]"


def _simple(token: Token) -> bool:
    return (
        token.kind == "text"
        and token.text[0] in "'\""
        and "\\" not in token.text
        and token.text[:3] not in ('"""', "'''")
    )
