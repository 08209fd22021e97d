"""Asks the planner, runs its plan, and compares with rows worked out by hand in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.tables import run
from tests.lanes.planner.samples import TABLES, Row

Rows = Sequence[Row]


@dataclass(frozen=True)
class Case:
    """A request over a table, and what must come out: dicts in their order, or tuples in any order."""

    level: str
    table: str
    prompt: str
    expected: Callable[[Rows], list[Any]]
    more: tuple[str, ...] = ()
    ordered: bool = True


def answer(prompt: str, tables: Mapping[str, Rows]) -> list[Row] | Refusal:
    """The rows, or the refusal."""
    plan = planned(prompt, tables)
    return plan if isinstance(plan, Refusal) else list(run(plan, tables).rows)


def tables_of(case: Case, *, named: bool = False) -> dict[str, Rows]:
    """The tables a case is asked over: alone it has no name, as the request brings none."""
    if case.more or named:
        return {case.table: TABLES[case.table], **{name: TABLES[name] for name in case.more}}
    return {"data": TABLES[case.table]}


def same(found: list[Row], expected: list[Any], *, ordered: bool = True) -> bool:
    """Whether these are the rows that were expected; tuples are compared by their cells alone."""
    if expected and isinstance(expected[0], tuple):
        cells = [tuple(_cell(value) for value in row.values()) for row in found]
        wanted = [tuple(_cell(value) for value in one) for one in expected]
        return cells == wanted if ordered else sorted(cells, key=repr) == sorted(wanted, key=repr)
    return found == expected


def _cell(value: Any) -> Any:
    return round(value, 9) if isinstance(value, float) else value


def verdict(case: Case, tables: Mapping[str, Rows]) -> str:
    """right, refused (and why), or wrong (and what came out)."""
    found = answer(case.prompt, tables)
    if isinstance(found, Refusal):
        return f"refused: {found.reason}"
    expected = case.expected(TABLES[case.table])
    return "right" if same(found, expected, ordered=case.ordered) else f"WRONG: {found} instead of {expected}"


def judged(case: Case, rows: Rows, tables: Mapping[str, Rows]) -> str:
    """right, refused, or what is wrong; an expected answer without rows stands for a refusal."""
    found, expected = answer(case.prompt, tables), case.expected(rows)
    if isinstance(found, Refusal):
        return "refused" if expected else "rightly refused"
    dicts = isinstance(expected[0], dict) if expected else False
    right = sorted(map(repr, found)) == sorted(map(repr, expected)) if dicts and not case.ordered else None
    return "right" if (right or same(found, expected, ordered=case.ordered)) and expected else f"WRONG: {found}"
