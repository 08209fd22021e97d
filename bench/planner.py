"""Requests about tables without a model, on questions that others wrote: how many are right, wrong and refused.

    python -m bench.planner ../shared/data/tables

The folder holds `NAME_questions.jsonl` ({"table", "prompt", "gold": values row by row, "ordered"}) and
`NAME_tables.json` ({table: rows}). An answer is right if its rows have the values of the reference, in any order of the
columns; another answer is wrong, also where it shows a column more.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

from bench.report import percentile, show
from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.tables import run

DATA = "LANEWAY_TEST_DATA"
MOST_COLUMNS = 6


def measure(folder: Path, *, verbose: bool = False) -> None:
    """The shares of each set of questions, and what a request takes, are printed."""
    for file in sorted(folder.glob("*_questions.jsonl")):
        name = file.name.removesuffix("_questions.jsonl")
        tables = json.loads((folder / f"{name}_tables.json").read_text(encoding="utf-8"))
        questions = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
        verdicts, times = [], []
        for question in questions:
            began = time.perf_counter()
            verdict, told = judge(question, tables[question["table"]])
            times.append((time.perf_counter() - began) * 1000)
            verdicts.append(verdict)
            if verbose or verdict == "wrong":
                print(f"{verdict}: {question['prompt']}  →  {told}")
        show(f"{name}: {len(questions)} questions, right", verdicts.count("right"), "", 130, at_least=True)
        show(f"{name}: wrong", verdicts.count("wrong"), "", 4)
        show(f"{name}: refused", verdicts.count("refused"), "")
        show(f"{name}: a request, planned and run, p50", percentile(times, 0.5), "ms")
        show(f"{name}: a request, planned and run, p95", percentile(times, 0.95), "ms")


def judge(question: dict[str, Any], rows: list[dict[str, Any]]) -> tuple[str, str]:
    """right, wrong or refused, and what was done or why not."""
    tables = {question["table"].rpartition(".")[2]: rows}
    plan = planned(question["prompt"], tables)
    if isinstance(plan, Refusal):
        return "refused", plan.sentence
    found = [[_plain(cell) for cell in row.values()] for row in run(plan, tables).rows]
    wanted = [[_plain(cell) for cell in row] for row in question["gold"]]
    right = _same(found, wanted, question["ordered"])
    return "right" if right else "wrong", json.dumps(plan.document()["steps"])


def _same(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]], ordered: bool) -> bool:
    width = len(wanted[0]) if wanted else 0
    if len(found) != len(wanted) or any(len(row) != width for row in found):
        return False
    for places in permutations(range(width)) if width <= MOST_COLUMNS else [tuple(range(width))]:
        turned = [[row[place] for place in places] for row in found]
        if turned == list(wanted) if ordered else sorted(turned) == sorted(map(list, wanted)):
            return True
    return False


def _plain(cell: Any) -> str:
    """A cell as text, numbers by their value: the references were written by another database."""
    text = "" if cell is None else str(cell).strip()
    try:
        return f"{float(text):.6g}"
    except ValueError:
        return text


if __name__ == "__main__":
    given = next((one for one in sys.argv[1:] if not one.startswith("-")), os.environ.get(DATA, "") + "/tables")
    if not Path(given).is_dir():
        sys.exit(f"There is no folder {given}. Name one: python -m bench.planner FOLDER")
    measure(Path(given), verbose="-v" in sys.argv)
