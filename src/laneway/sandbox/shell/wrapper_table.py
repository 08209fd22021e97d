"""Programs that run another program: how each is told which. The table itself is `wrappers.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from laneway.sandbox.shell.tables import table


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the command inside a command line."""

    valued: str = ""
    """Options that take a value."""
    skip: int = 0
    """Operands before the command: a duration, a host, a container."""
    shell: str = ""
    """Options whose value is shell text."""
    joins: bool = False
    """Whether the operands, joined by blanks, are shell text."""
    each: bool = False
    """Whether each operand is shell text by itself."""
    root: bool = False
    remote: str | None = None
    """`host` if the command runs on another one, `container` if inside one."""
    variables: bool = False
    """Whether NAME=value operands may come first."""
    rule: str | None = None
    """What running it at all means."""


def _wrappers() -> dict[tuple[str, ...], Wrapper]:
    found: dict[str, Any] = dict(table("wrappers"))
    plain = {tuple(name.split()): Wrapper() for name in found.pop("plain")}
    return plain | {
        tuple(name.split()): Wrapper(**given) for names, given in found.items() for name in names.split(", ")
    }


_ALL = _wrappers()
WRAPPERS = {names[0]: wrapper for names, wrapper in _ALL.items() if len(names) == 1}
SUBCOMMANDS = {names: wrapper for names, wrapper in _ALL.items() if len(names) > 1}
