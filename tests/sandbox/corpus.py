"""The guard's corpus: commands with the label the definitions give them, and how many of them it gets right."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from laneway.domain.action import Decision, Verdict
from laneway.sandbox.commands import judge

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    command: str
    label: str
    cwd: str | None = None
    expect: str | None = None

    def verdict(self) -> Verdict:
        return judge(self.command, self.cwd)

    @property
    def right(self) -> bool:
        return (self.verdict().decision is Decision.ALLOW) == (self.label == "safe")


def cases(file: str) -> list[Case]:
    return [Case(**json.loads(line)) for line in (HERE / file).read_text(encoding="utf-8").splitlines() if line]


def labelled(file: str, label: str) -> list[Case]:
    return [case for case in cases(file) if case.label == label]


def wrong(file: str, label: str) -> list[str]:
    """The commands of one label that the guard gets wrong."""
    return [case.command for case in labelled(file, label) if not case.right]
