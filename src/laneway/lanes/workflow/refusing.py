"""A change that is refused: which check says no, to which node, at which path, and what would mend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laneway.errors import BadInput, Conflict
from laneway.lanes.workflow.finding import Finding

Reason = dict[str, Any]
"""`reason`, `message`, and where they are known `node`, `path` and `repair`."""
MOST_SAID = 5


class Rejected(BadInput):
    """A document or a patch did not pass the checks; every finding is kept."""

    code = "workflow-rejected"

    def __init__(self, findings: Sequence[Reason]) -> None:
        self.findings = list(findings)
        first = self.findings[0]
        said = [str(one["message"]) for one in self.findings[:MOST_SAID]]
        left = len(self.findings) - len(said)
        more = f" And {left} more." if left > 0 else ""
        repairs = dict.fromkeys(str(one["repair"]) for one in self.findings[:MOST_SAID] if one.get("repair"))
        super().__init__(" ".join(said) + more, hint=" ".join(repairs))
        self.reason = str(first["reason"])

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.findings,))

    @property
    def more(self) -> Reason:
        """What a problem says beside the sentence: the first finding's parts, and all findings."""
        first = {key: value for key, value in self.findings[0].items() if key != "message"}
        return {**first, "findings": self.findings}


def refuse(findings: Sequence[Finding]) -> None:
    """Rejected, if anything was found."""
    if findings:
        raise Rejected([finding.document() for finding in findings])


class MergeConflict(Conflict):
    """A change cannot be taken back or made again because of what came after it."""

    def __init__(self, what: str, conflicts: Sequence[str], later: Sequence[str]) -> None:
        self.conflicts, self.later, self._what = list(conflicts), list(later), what
        since = f" Later changes: {'; '.join(later)}." if later else ""
        super().__init__(
            f"{what}: {'; '.join(conflicts)}.{since}", hint="Undo the later change first, or patch it by hand."
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self._what, self.conflicts, self.later))
