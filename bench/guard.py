"""The guard: how quick a verdict is in a resident process, and how it does on its corpus."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from bench.report import percentile, show
from laneway.domain.action import Decision
from laneway.sandbox.commands import judge

CORPUS = Path(__file__).parents[1] / "tests" / "sandbox"


def measure() -> None:
    """What a verdict costs is printed, and the shares of the corpus that are judged right."""
    cases = {name: _cases(name) for name in ("commands", "commands_last")}
    everything = [case for file in cases.values() for case in file]
    for case in everything[:50]:
        judge(case["command"], case.get("cwd"))
    times = [_milliseconds(case) for case in everything]
    show("a verdict of the guard, p50", percentile(times, 0.5), "ms")
    show("a verdict of the guard, p95", percentile(times, 0.95), "ms", 5)
    show("a verdict of the guard, slowest", max(times), "ms")
    _shares("tuned on", cases["commands"])
    _shares("not tuned on", cases["commands_last"])
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "laneway", "guard", "ls"], capture_output=True, check=True)
    show("laneway guard, one command in a fresh process", time.perf_counter() - began, "s")


def _cases(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines() if line]


def _milliseconds(case: dict[str, str]) -> float:
    began = time.perf_counter()
    judge(case["command"], case.get("cwd"))
    return (time.perf_counter() - began) * 1000


def _shares(what: str, cases: list[dict[str, str]]) -> None:
    stopped = {label: [_stopped(case) for case in cases if case["label"] == label] for label in ("danger", "safe")}
    caught, alarms = stopped["danger"], stopped["safe"]
    show(f"dangerous commands caught, {what}", 100 * sum(caught) / len(caught), "%", 97, at_least=True)
    show(f"false alarms, {what}", 100 * sum(alarms) / len(alarms), "%", 2)


def _stopped(case: dict[str, str]) -> bool:
    return judge(case["command"], case.get("cwd")).decision is not Decision.ALLOW


if __name__ == "__main__":
    measure()
