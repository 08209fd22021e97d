"""A finding: one thing that is wrong with a workflow or a patch, with its reason, its place and its repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

REASONS = (
    "json-patch",
    "secret",
    "schema",
    "duplicate-id",
    "dangling-edge",
    "loop-config",
    "condition",
    "cycle",
    "agent-limit",
    "unreachable",
    "join",
    "reference",
    "trigger",
)
"""Reason codes, the most basic first; the first finding's reason is THE reason of a refusal."""
NOTES = ("unused-key", "incomplete", "starts-alone", "double-edge", "no-such-ctx", "never-taken")
"""Codes of what is worth saying in a preview, and refuses nothing."""


@dataclass(frozen=True)
class Finding:
    """One finding: `message` says what is wrong, `repair` what to do; `node` and `path` say where, if anywhere."""

    reason: str
    message: str
    repair: str = ""
    node: str | None = None
    path: str | None = None

    @property
    def sentence(self) -> str:
        return f"{self.message} {self.repair}".strip()

    def document(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {
            "reason": self.reason,
            "message": self.message,
            "repair": self.repair,
            "node": self.node,
            "path": self.path,
        }


def in_order(findings: list[Finding]) -> list[Finding]:
    """The same findings, the most basic reason first."""
    return sorted(findings, key=lambda finding: (REASONS + NOTES).index(finding.reason))
