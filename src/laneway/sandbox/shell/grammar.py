"""Shell text as a syntax tree, within bounds: hostile text is refused rather than waited for."""

from __future__ import annotations

import time
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

LONGEST = 64_000
"""Characters of a command; what is longer is asked about unread."""
_SECONDS = 0.15
_CHUNK = 4096
_MOST = {"|": 1500, "<<": 400, "=(": 800, "${": 2000, "[[": 500, "$(": 1500, "`": 800}
"""What makes the parser slow when there is much of it."""


class TooMuch(Exception):
    """The text cannot be judged within bounds; `rule` says which bound."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> tuple[Node, bytes]:
    """The tree of a shell text, and the bytes its places count in."""
    if len(text) > LONGEST:
        raise TooMuch("too-long")
    if any(text.count(sign) > most for sign, most in _MOST.items()):
        raise TooMuch("too-complex")
    source = text.encode("utf-8", "replace")
    until = time.monotonic() + _SECONDS
    late = False

    def read(offset: int, point: object) -> bytes:
        nonlocal late
        if time.monotonic() > until:
            late = True
            return b""
        return source[offset : offset + _CHUNK]

    tree = _parser().parse(read)
    if late:
        raise TooMuch("too-complex")
    return tree.root_node, source
