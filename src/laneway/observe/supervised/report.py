"""What a run leaves behind: why it ended, what was going on, what it spent and changed, and who survived."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from laneway.domain.redaction import redacted
from laneway.domain.session import OpenCall, SessionEvent, Tokens
from laneway.domain.storable import storable
from laneway.observe.supervised.order import Cause
from laneway.observe.supervised.tree import Process
from laneway.observe.supervised.worktree import Changes

_LONGEST, _MOST_CALLS = 4_000, 50


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run, after its end."""

    run_id: str
    command: Sequence[str]
    cwd: str
    began: datetime
    seconds: float
    cause: Cause
    reason: str
    exit_code: int
    reactor: str = ""
    evidence: SessionEvent | None = None
    open_calls: Sequence[tuple[str, OpenCall]] = ()
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)
    unpriced: Sequence[str] = ()
    """Models whose price nobody knows: the cost is without theirs."""
    logs: Sequence[str] = ()
    changes: Changes | None = None
    killed: Sequence[Process] = ()
    """Who was alive when the end began."""
    survivors: Sequence[Process] = ()

    def as_json(self) -> dict[str, Any]:
        """The report for programs; secrets are left out."""
        told: dict[str, Any] = {
            "run": self.run_id,
            "command": redacted(list(self.command)),
            "cwd": self.cwd,
            "began": self.began.isoformat(),
            "seconds": round(self.seconds, 3),
            "cause": self.cause.value,
            "reason": redacted(storable(self.reason)),
            "reactor": self.reactor,
            "exit_code": self.exit_code,
            "evidence": None if self.evidence is None else _event(self.evidence),
            "open_calls": [_call(name, call) for name, call in self.open_calls[:_MOST_CALLS]],
            "tokens": {**asdict(self.tokens), "total": self.tokens.total},
            "cost_usd": str(self.cost),
            "models_without_price": sorted(self.unpriced),
            "logs": list(self.logs),
            "changes": None if self.changes is None else asdict(self.changes),
            "killed": [_process(one) for one in self.killed],
            "survivors": [_process(one) for one in self.survivors],
        }
        return told

    def as_text(self) -> str:
        """The report for people; secrets are left out."""
        lines = [
            f"Run {self.run_id}: {self.reason}",
            f"  command    {' '.join(self.command)}",
            f"  folder     {self.cwd}",
            f"  began      {self.began.astimezone():%Y-%m-%d %H:%M:%S}, lasted {self.seconds:.1f} s",
            f"  ended by   {' / '.join(filter(None, (self.cause.value, self.reactor)))}, exit code {self.exit_code}",
            f"  spent      {self._spent()}",
            f"  log        {', '.join(self.logs) or 'none was found, so nothing but the time was watched'}",
        ]
        if self.evidence is not None:
            lines.append(f"  evidence   {_shown(_event(self.evidence))}")
        lines += [f"  open call  {_shown(_call(name, call))}" for name, call in self.open_calls[:_MOST_CALLS]]
        lines += self._changed()
        lines.append(f"  killed     {named(self.killed) or 'nobody was left to end'}")
        lines.append(f"  survivors  {named(self.survivors) or 'none'}")
        return str(storable(str(redacted("\n".join(lines))))) + "\n"

    def _spent(self) -> str:
        tokens = self.tokens
        unknown = f", without {', '.join(sorted(self.unpriced))}, whose price is unknown" if self.unpriced else ""
        return (
            f"{tokens.total} tokens ({tokens.input} in, {tokens.output} out, {tokens.cache_read} from the cache, "
            f"{tokens.cache_write} into it), ${self.cost:.4f}{unknown}"
        )

    def _changed(self) -> list[str]:
        if self.changes is None:
            return ["  changes    unknown: the folder is not in a git work tree"]
        told = [f"  changes    since {self.changes.base[:12]}, with what was not committed then:"]
        told += [f"    {line.strip()}" for line in self.changes.stat]
        told += [f"    new: {name}" for name in self.changes.untracked]
        if len(told) == 1:
            return ["  changes    none"]
        return told + (["    … and more"] if self.changes.cut else [])


def write(report: RunReport, path: Path) -> None:
    """The report is in the file, readable by its owner only: JSON if it is called so, else text."""
    text = json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n" if path.suffix == ".json" else None
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w", encoding="utf-8", errors="replace") as opened:
        opened.write(text or report.as_text())


def _event(event: SessionEvent) -> dict[str, Any]:
    told = {
        "at": event.at.isoformat(),
        "session": event.session_id,
        "provider": event.provider,
        "kind": event.kind.value,
        "tool": event.tool,
        "call_id": event.call_id,
        "arguments": _bounded(event.arguments),
        "text": event.text[:_LONGEST],
        "tokens": event.tokens.total,
        "offset": event.offset,
        "side": event.side,
    }
    return {name: redacted(value) for name, value in told.items() if value not in ("", {}, 0, False)}


def _call(name: str, call: OpenCall) -> dict[str, Any]:
    told = {"call_id": name, "tool": call.tool, "arguments": redacted(_bounded(call.arguments))}
    return {**told, "at": call.at.isoformat()}


def _bounded(arguments: Any) -> Any:
    """The arguments, or the beginning of them as text if they are long."""
    text = json.dumps(arguments, ensure_ascii=False, default=str)
    return dict(arguments) if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _shown(told: dict[str, Any]) -> str:
    line = json.dumps(told, ensure_ascii=False, default=str)
    return line if len(line) <= 600 else line[:599] + "…"


def _process(process: Process) -> dict[str, Any]:
    return {"pid": process.pid, "name": storable(process.name), "state": process.state}


def named(people: Sequence[Process]) -> str:
    """Their numbers and names, the first few of them."""
    named = [f"{one.pid} {one.name}" for one in people[:20]]
    return ", ".join(named) + (f" and {len(people) - 20} more" if len(people) > 20 else "")
