"""What `laneway sessions read` says about one file."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from laneway.domain.session import Tokens
from laneway.domain.storable import storable
from laneway.observe.lines import LONGEST_LINE, Lines
from laneway.observe.reader import Reader
from laneway.observe.totals import Totals


@dataclass(slots=True)
class Report:
    """One file's truth. What does not apply to its kind is None and left out of the JSON."""

    file: str
    provider: str = "unknown"
    session_id: str = ""
    lines: Lines | None = None
    document_ok: bool | None = None
    totals: Totals = field(default_factory=Totals)
    models: list[str] = field(default_factory=list)
    first_time: str | None = None
    last_time: str | None = None
    cwd: str = ""
    version: str = ""
    own: dict[str, Any] | None = None
    sessions: list[str] | None = None
    unknown_records: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    error: str | None = None

    def told_by(self, reader: Reader) -> None:
        """The report says what the reader has counted."""
        self.provider, self.session_id = reader.provider, reader.session_id or reader.name
        self.totals, self.models = reader.totals(), list(reader.models)
        self.first_time = reader.times.first[1] if reader.times.first else None
        self.last_time = reader.times.last[1] if reader.times.last else None
        self.cwd, self.version = reader.cwd, reader.version
        for (version, kind), count in sorted(reader.unknown.items()):
            self.unknown_records.setdefault(version or "?", {})[kind] = count
        if reader.unknown and reader.provider != "unknown":
            kinds = ", ".join(sorted({kind for _, kind in reader.unknown})[:5])
            self.warnings.append(
                f"{sum(reader.unknown.values())} records are of kinds this version does not know: {kinds}"
            )

    def as_json(self) -> dict[str, Any]:
        """The report as the one JSON object of its file."""
        totals = self.totals
        told: dict[str, Any] = {"file": self.file, "provider": self.provider, "session_id": self.session_id}
        told |= _of_lines(self.lines) if self.lines is not None else {}
        told |= {} if self.document_ok is None else {"document_ok": self.document_ok}
        told |= {
            "user_turns": totals.user_turns,
            "user_commands": totals.user_commands,
            "user_injected": totals.user_injected,
            "sidechain_prompts": totals.sidechain_prompts,
            "assistant_messages": totals.assistant_messages,
            "tool_calls": {"total": totals.tool_calls.total(), "by_name": dict(sorted(totals.tool_calls.items()))},
            "tool_errors": totals.tool_errors,
            "tool_unanswered": totals.tool_unanswered,
            "tokens": asdict(totals.tokens),
            "tokens_naive": asdict(totals.tokens_naive),
            "tokens_complete": totals.tokens_complete,
            "uncertain": totals.uncertain,
            "models": self.models,
            "first_time": self.first_time,
            "last_time": self.last_time,
            "cwd": self.cwd,
            "version": self.version,
        }
        told |= {} if totals.tokens_visible is None else {"tokens_visible": asdict(totals.tokens_visible)}
        told |= {} if self.own is None else {"own": self.own}
        told |= {} if self.sessions is None else {"sessions": self.sessions}
        told |= {"unknown_records": self.unknown_records, "warnings": self._all_warnings()}
        told |= {} if self.error is None else {"error": self.error}
        return dict(storable(told))

    def _all_warnings(self) -> list[str]:
        lines, warnings = self.lines, list(self.warnings)
        if lines is not None and lines.malformed:
            warnings.insert(0, f"{lines.malformed} lines are no JSON and were left out")
        if lines is not None and lines.too_long:
            warnings.append(f"{lines.too_long} lines are longer than {LONGEST_LINE >> 20} MB")
        if lines is not None and lines.too_deep:
            warnings.append(f"{lines.too_deep} lines are nested too deep")
        return warnings


def own_part(tokens: Tokens, user_turns: int | None) -> dict[str, Any]:
    """What a fork did itself, as the report says it."""
    return {"tokens": asdict(tokens), "user_turns": user_turns}


def _of_lines(lines: Lines) -> dict[str, Any]:
    return {
        "lines": lines.lines,
        "blank_lines": lines.blank,
        "malformed_lines": lines.malformed,
        "records": lines.records,
        "partial_tail": lines.partial_tail,
    }
