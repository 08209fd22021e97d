"""Everything that is checked before a workflow is stored: one file per reason, the most basic first.

`check(document)` says what is wrong with a document, `patched(document, operations)` what is wrong with a patch and
what the document is after it. Checks of the graph run only on documents whose nodes and edges can be told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.workflow import schema
from laneway.lanes.workflow.checks.agent_limit import agent_limit
from laneway.lanes.workflow.checks.conditions import conditions
from laneway.lanes.workflow.checks.cycles import cycles
from laneway.lanes.workflow.checks.dangling_edges import dangling_edges
from laneway.lanes.workflow.checks.duplicate_ids import duplicate_ids
from laneway.lanes.workflow.checks.joins import joins
from laneway.lanes.workflow.checks.loops import loops
from laneway.lanes.workflow.checks.references import references
from laneway.lanes.workflow.checks.triggers import triggers
from laneway.lanes.workflow.checks.unreachable import unreachable
from laneway.lanes.workflow.document import Document, bounded
from laneway.lanes.workflow.finding import Finding, in_order
from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import applied
from laneway.lanes.workflow.unknown_keys import misspelt

Check = Callable[[Document], Iterable[Finding]]
PLAIN: tuple[Check, ...] = (duplicate_ids, dangling_edges)
"""Checks of nodes and edges one by one."""
DEEP: tuple[Check, ...] = (loops, conditions, cycles, references, triggers)
"""Checks that follow the edges."""
DEEPEST: tuple[Check, ...] = (unreachable, joins)
"""Checks of ways through a graph that is otherwise in order."""


@dataclass(frozen=True)
class Verdict:
    """What the checks say: no findings and the document, or findings and none."""

    document: Document | None
    findings: tuple[Finding, ...] = ()

    @property
    def accepted(self) -> bool:
        return not self.findings

    @property
    def reason(self) -> str | None:
        return self.findings[0].reason if self.findings else None

    @property
    def message(self) -> str:
        return " ".join(finding.sentence for finding in self.findings[:5])


def check(document: Any) -> list[Finding]:
    """What is wrong with a document, the most basic first; none when it may be stored and run."""
    try:
        bounded(document)
    except BadInput as wrong:
        return [Finding("schema", wrong.message, wrong.hint)]
    found = schema.problems(document) or misspelt(document)
    for checks in (PLAIN, DEEP, DEEPEST):
        if not found:
            found = [finding for one in checks for finding in one(document)]
    return in_order(found)


def patched(document: Any, operations: Sequence[Mapping[str, Any]]) -> Verdict:
    """The verdict on a patch, node-id paths allowed; an accepted one comes with the document after it."""
    try:
        plain = compiled(document, operations)
        after = applied(document, plain)
    except BadInput as wrong:
        return Verdict(None, (Finding("json-patch", wrong.message, wrong.hint, None, getattr(wrong, "path", None)),))
    found = in_order([*check(after), *agent_limit(document, after, plain)])
    return Verdict(None if found else after, tuple(found))
