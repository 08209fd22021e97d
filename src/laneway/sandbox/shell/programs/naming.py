"""Which rule judges which program: the names are data, in `programs.toml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import table

Rule = Callable[[Invocation], Iterable[Finding]]
_FAMILIES = table("programs/programs")


def named(family: str, *rules: Rule) -> dict[str, Rule]:
    """Each program of a family with its rule; the table names rules by their functions."""
    by_name = {rule.__name__.rstrip("_"): rule for rule in rules}
    return {program: by_name[key] for key, programs in _FAMILIES[family].items() for program in programs.split()}
