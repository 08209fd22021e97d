"""Command lines typed as messages: which programs only read, and which leave something different."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from laneway.classify.effects import Effect

FILE = Path(__file__).with_name("effects_programs.toml")
_JOINTS = re.compile(r"\s*(?:&&|\|\||;)\s*")


def effect(line: str) -> Effect:
    """What a command line does; nothing if the text is not one we know."""
    if _found("about").search(line):
        dry = _found("dry").search(line) and _single(line) is Effect.HARMLESS
        return Effect.HARMLESS if dry else Effect.NOTHING
    parts = [_single(part.strip()) for part in _JOINTS.split(line)]
    if Effect.CHANGES in parts and Effect.NOTHING not in parts[:1]:
        return Effect.CHANGES
    return parts[0]


def _single(line: str) -> Effect:
    """What one command does."""
    plain = _before().sub("", line)
    changes = _whole("changes").match(plain) or _begun("sql_changes").match(plain)
    reads = _whole("reads").match(plain) or _begun("sql_reads").match(plain)
    if not (changes or reads):
        return _by_name(plain)
    if _found("dry").search(plain):
        return Effect.HARMLESS
    return Effect.CHANGES if changes or _found("writes").search(plain) else Effect.HARMLESS


def _by_name(line: str) -> Effect:
    """What a program does that is known by its name, from its subcommands and options."""
    first, *rest = line.split()[:6] or [""]
    if first in _set("mutating") and (not rest or not rest[0].isalpha()):
        return Effect.CHANGES
    if first not in _set("programs") or not rest or rest[0] in _set("no_arguments"):
        return Effect.NOTHING
    for word in rest:
        if word in _set("subcommands_change"):
            return Effect.HARMLESS if _found("dry").search(line) else Effect.CHANGES
        if word in _set("subcommands_read"):
            return Effect.CHANGES if _found("writes").search(line) else Effect.HARMLESS
    return Effect.NOTHING


@cache
def _set(name: str) -> frozenset[str]:
    return frozenset(str(_file()[name]).casefold().split())


@cache
def _before() -> re.Pattern[str]:
    return re.compile(rf"^(?:(?:{'|'.join(_file()['before'])})\s+)+")


@cache
def _whole(name: str) -> re.Pattern[str]:
    """Programs, not followed by the rest of a longer word."""
    return re.compile(rf"(?:{'|'.join(_file()[name])})(?=\s|$|[,.;:|])")


@cache
def _begun(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_file()[name])})(?!\w)")


@cache
def _found(name: str) -> re.Pattern[str]:
    return re.compile("|".join(_file()[name]))


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
