"""What a script does that the guard cares about, the same for every language."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.sandbox.shell.rules import Finding


@dataclass(frozen=True, slots=True)
class Shell:
    """It runs shell text."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """It runs a program."""

    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    path: str


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    empties: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    path: str


@dataclass(frozen=True, slots=True)
class Argument:
    """A text that some function nobody knows is given; if it is a secret's path, it may be read."""

    text: str


Effect = Shell | Run | Remove | Write | Read | Argument | Finding
