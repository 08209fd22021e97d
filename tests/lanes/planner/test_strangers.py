"""Requests by people who had never seen the planner, with rows they worked out themselves: none is answered wrongly.

Each file is one person's, written before any of it was run. `places` are rows of the table as they stand, `rows` are
compared by the names of their columns or, where figures have names that nobody said, by their cells alone. `also`
are further answers that are as good, as the names alone where whole rows are expected.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laneway.lanes.pipeline.planner import Refusal
from tests.lanes.planner.asking import Rows, answer
from tests.lanes.planner.samples import Row

FILES = sorted((Path(__file__).parent / "strangers").glob("*.json"))
LEAST_UNDERSTOOD = 0.70


@dataclass(frozen=True)
class Stranger:
    """One file: its tables and what was asked over them."""

    name: str
    tables: dict[str, list[Row]]
    cases: list[dict[str, Any]]

    def shapes(self, case: dict[str, Any]) -> list[dict[str, Rows]]:
        """The tables as they may come with the request: one alone without a name or with it, several with theirs."""
        if "tables" in case:
            return [{name: self.tables[name] for name in case["tables"]}]
        return [{name: self.tables[case["table"]]} for name in ("data", case["table"])]

    def verdict(self, case: dict[str, Any], tables: dict[str, Rows]) -> str:
        """right, refused, rightly refused, or what is wrong."""
        found = answer(case["prompt"], tables)
        if isinstance(found, Refusal):
            return "rightly refused" if case.get("refused") else "refused"
        if case.get("refused"):
            return f"WRONG: {found}"
        accepted = [case, *case.get("also", [])]
        right = any(self._same(found, one, case) for one in accepted)
        return "right" if right else f"WRONG: {found} instead of {self._expected(case, case)}"

    def _same(self, found: Rows, accepted: dict[str, Any], case: dict[str, Any]) -> bool:
        by_name = accepted.get("by", "name") == "name"
        expected = self._expected(accepted, case)
        return _cells(found, by_name, case["ordered"]) == _cells(expected, by_name, case["ordered"])

    def _expected(self, accepted: dict[str, Any], case: dict[str, Any]) -> Rows:
        if "places" in accepted:
            return [self.tables[case["table"]][n] for n in accepted["places"]]
        rows: Rows = accepted["rows"]
        return rows


def _cells(rows: Rows, by_name: bool, ordered: bool) -> list[Any]:
    found = [tuple(sorted(_cell(one) for one in row.items()) if by_name else map(_value, row.values())) for row in rows]
    return found if ordered else sorted(found, key=repr)


def _cell(one: tuple[str, Any]) -> tuple[str, str]:
    return one[0], repr(_value(one[1]))


def _value(value: Any) -> Any:
    """Numbers are equal by value; true is no number."""
    return round(float(value), 6) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _read(file: Path) -> Stranger:
    told = json.loads(file.read_text(encoding="utf-8"))
    return Stranger(file.stem, told["tables"], told["cases"])


STRANGERS = [_read(file) for file in FILES]
ASKED = [pytest.param(one, case, id=f"{one.name}: {case['prompt']}") for one in STRANGERS for case in one.cases]


@pytest.mark.parametrize(("stranger", "case"), ASKED)
def test_no_stranger_is_answered_wrongly(stranger: Stranger, case: dict[str, Any]) -> None:
    for tables in stranger.shapes(case):
        said = stranger.verdict(case, tables)
        assert not said.startswith("WRONG"), said


@pytest.mark.parametrize("stranger", STRANGERS, ids=[one.name for one in STRANGERS])
def test_most_of_what_strangers_ask_is_understood(stranger: Stranger) -> None:
    said = Counter(stranger.verdict(case, tables) for case in stranger.cases for tables in stranger.shapes(case)[:1])
    asked = said["right"] + said["refused"]
    print(f"{stranger.name}: {said['right']} of {asked} understood, {said['rightly refused']} rightly refused")
    assert said["right"] / asked >= LEAST_UNDERSTOOD
