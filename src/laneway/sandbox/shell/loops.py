"""Loops: which values a round is walked with, and which loops exhaust the host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from laneway.sandbox.shell.bounds import TooMuch
from laneway.sandbox.shell.rules import Finding

_MOST_ROUNDS = 60
_ENDLESS = re.compile(
    r"(while\s+(:|true|1|\[\s*1\s*\]|\(\(\s*1\s*\)\))\s*[;\n]|until\s+false|for\s*\(\(\s*;\s*;\s*\)\))"
)
_BACKGROUND = re.compile(r"[^;&|{}\n]*[^&>|]&(?![&>\d])")
_WAITS = re.compile(r"\b(sleep|wait|break|read|exit|return)\b")
_GROWS = re.compile(r">>|\bmkdir\b|\bfallocate\b|\bdd\b|\+=")


def rounds(values: Iterable[str]) -> Iterable[str]:
    """One value of each shape: file1 and file2 mean the same to every rule, src and build do not."""
    shapes = {re.sub(r"\d+", "0", value): value for value in values}
    if len(shapes) > _MOST_ROUNDS:
        raise TooMuch
    return shapes.values()


def endless_findings(said: str) -> Iterator[Finding]:
    """What is found in a loop without end: processes started, or something written, without a pause."""
    if not _ENDLESS.match(said):
        return
    foreground = _BACKGROUND.sub("", said)
    if foreground != said and not _WAITS.search(foreground):
        yield Finding("exhaust", "It starts processes without end.")
    if _GROWS.search(said) and not _WAITS.search(said):
        yield Finding("exhaust", "It writes without end.")
