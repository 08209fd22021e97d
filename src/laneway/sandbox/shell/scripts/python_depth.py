"""Reads Python text into a tree only if it cannot be too deep: CPython 3.11 never recovers from a tree that was.

After a RecursionError while a tree is built, every later `ast.parse` of the process may fail with a SystemError. So
what could nest too deeply is refused by counting, before anything is built.
"""

from __future__ import annotations

import ast
import re

MOST_IN_A_STATEMENT, MOST_BRANCHES = 400, 150
_NESTING = re.compile(r"[.+\-*/%|&^~<>@(\[{]|\b(?:not|lambda|if|and|or|await|yield|in|is)\b")
_BRANCH = re.compile(r"\belif\b")


class TooDeep(ValueError):
    """The code may nest more deeply than can be read."""


def tree_of(text: str) -> ast.Module:
    """The tree of the code; TooDeep, SyntaxError or ValueError if there is none to be had."""
    if len(_BRANCH.findall(text)) > MOST_BRANCHES or any(_heavy(part) for part in _statements(text)):
        raise TooDeep
    return ast.parse(text)


def _heavy(statement: str) -> bool:
    return len(_NESTING.findall(statement)) > MOST_IN_A_STATEMENT


def _statements(text: str) -> list[str]:
    """The text cut where a statement may end: at line ends outside of brackets, whatever strings hold."""
    found, begin, open_ones = [], 0, 0
    for mark in re.finditer(r"[(\[{]|[)\]}]|\n", text):
        char = mark[0]
        if char in "([{":
            open_ones += 1
        elif char != "\n":
            open_ones = max(0, open_ones - 1)
        elif not open_ones and text[mark.start() - 1 : mark.start()] != "\\":
            found.append(text[begin : mark.end()])
            begin = mark.end()
    return [*found, text[begin:]]
