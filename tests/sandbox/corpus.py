"""The guard's corpus: commands with the label the definitions give them, and which of them it gets wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from laneway.domain.action import Decision
from laneway.sandbox.commands import judge

TUNED, LAST, INDIRECT = "commands.jsonl", "commands_last.jsonl", "commands_indirect.jsonl"


class Case(NamedTuple):
    command: str
    label: str
    cwd: str | None = None


def lines(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(__file__).parent / file).read_text(encoding="utf-8").splitlines()]


@cache
def labelled(file: str, label: str) -> list[Case]:
    return [Case(**line) for line in lines(file) if line["label"] == label]


@cache
def wrong(file: str, label: str) -> list[str]:
    """The commands of one label that the guard gets wrong."""
    return [
        case.command
        for case in labelled(file, label)
        if (judge(case.command, case.cwd).decision is Decision.ALLOW) is not (label == "safe")
    ]
