"""One program that would run: its name, its arguments, and what surrounds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.options import Options, options
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import NOTHING, Stream


@dataclass(frozen=True, slots=True)
class Invocation:
    program: str
    args: list[str]
    scope: Scope
    stdin: Stream = NOTHING
    piped: bool = False
    """Whether its output goes on to another program rather than to whoever reads the answer."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables set for this program alone."""

    def options(self, valued: str = "", *, until_operand: bool = False) -> Options:
        """Its command line; `valued` lists the options that take a value, separated by blanks."""
        return options(self.args, frozenset(valued.split()), until_operand=until_operand)

    def __str__(self) -> str:
        return shown(" ".join([self.program, *self.args]))
