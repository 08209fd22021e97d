"""Everyday requests over tables as they are exported: none is answered wrongly, nearly all are understood."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from laneway.lanes.pipeline.plan import sentence
from laneway.lanes.pipeline.planner import Refusal, planned
from laneway.lanes.pipeline.planner.meaning.needs import needed
from tests.lanes.planner.asking import Case, Rows, judged
from tests.lanes.planner.requests_clubs import CLUB_TABLES, CLUBS
from tests.lanes.planner.requests_easy import EASY
from tests.lanes.planner.requests_everyday import EVERYDAY
from tests.lanes.planner.requests_firms import FIRMS
from tests.lanes.planner.requests_hard import HARD
from tests.lanes.planner.requests_medium import MEDIUM
from tests.lanes.planner.requests_offices import OFFICES
from tests.lanes.planner.requests_town import TOWN
from tests.lanes.planner.samples import TABLES, Row
from tests.lanes.planner.samples_everyday import EVERYDAY_TABLES
from tests.lanes.planner.samples_firms import FIRM_TABLES
from tests.lanes.planner.samples_offices import OFFICE_TABLES
from tests.lanes.planner.samples_town import TOWN_TABLES

ALL: dict[str, list[Row]] = {**TABLES, **EVERYDAY_TABLES, **OFFICE_TABLES, **FIRM_TABLES, **TOWN_TABLES}
CASES = [*EVERYDAY, *OFFICES, *FIRMS, *TOWN]
ANOTHER_WORD = {
    ("the best rated hotel with a pool under 200", "guestRating"),
    ("how many of the Brix repairs are done?", "status"),
    ("subtract parts from quoted as margin, for repairs that are done", "status"),
}
"""Stars are a rating, and what is finished is done, where there is no other."""


def shapes(case: Case) -> Iterator[dict[str, Rows]]:
    """The tables as a line of `--jsonl` may bring them: the first without a name, or each with one."""
    more = {name: ALL[name] for name in case.more}
    yield {"data": ALL[case.table], **more}
    yield {case.table: ALL[case.table], **more}


def verdict(case: Case, tables: Mapping[str, Rows]) -> str:
    """right, refused, or what is wrong."""
    return judged(case, ALL[case.table], tables)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.table}: {case.prompt}")
def test_no_everyday_request_is_answered_wrongly(case: Case) -> None:
    for tables in shapes(case):
        said = verdict(case, tables)
        assert not said.startswith("WRONG"), said


@pytest.mark.parametrize("cases", [EVERYDAY, OFFICES, FIRMS, TOWN], ids=["everyday", "offices", "firms", "town"])
def test_nearly_all_everyday_requests_are_understood(cases: list[Case]) -> None:
    said = Counter(verdict(case, tables) for case in cases for tables in shapes(case))
    asked = said["right"] + said["refused"]
    print(f"{said['right']} of {asked} understood")
    assert said["right"] / asked >= 0.95


def columns_of(document: Mapping[str, Any]) -> set[str]:
    """The columns that the plan looks at."""
    found: set[str] = set()
    for step in document["steps"]:
        # A list of nearly all columns leaves some out by their names, and looks at none.
        if step["do"] != "select" or len(step["columns"]) < 5:
            found |= needed(step)
        if step["do"] == "compute":
            found |= set(re.findall(r"[A-Za-z_]\w*", step["expression"]))
    return found


@pytest.mark.parametrize(
    "cases",
    [EASY, MEDIUM, HARD, EVERYDAY, OFFICES, FIRMS, TOWN],
    ids=["easy", "medium", "hard", "day", "office", "firm", "town"],
)
def test_without_a_column_that_is_needed_the_request_is_refused_and_no_other_column_taken(cases: list[Case]) -> None:
    taken = []
    for case in (one for one in cases if not one.more):
        rows = ALL[case.table]
        plan = planned(case.prompt, {"data": rows})
        for column in () if isinstance(plan, Refusal) else sorted(columns_of(plan.document()) & set(rows[0])):
            without = [{name: cell for name, cell in row.items() if name != column} for row in rows]
            again = planned(case.prompt, {"data": without})
            if not isinstance(again, Refusal) and (case.prompt, column) not in ANOTHER_WORD:
                taken.append((case.prompt, column, again.document()))
    assert not taken


@pytest.mark.parametrize("word", ["Zanzibar", "rejected"])
def test_a_word_that_nothing_tells_is_never_passed_over(word: str) -> None:
    """In place of a value, a column or a noun; a name that is given and a text that is looked for may be any word."""
    free = ("add ", "rename ", " as ", "contains", "starts with", "includes", "compute", "column", "(", "in the title")
    answered = []
    for case in (one for one in CASES[::3] if not one.more and not any(sign in one.prompt.lower() for sign in free)):
        words = case.prompt.split()
        for place in range(len(words)):
            prompt = " ".join([*words[:place], word, *words[place + 1 :]])
            if not isinstance(planned(prompt, {case.table: ALL[case.table]}), Refusal):
                answered.append(prompt)
    assert not answered


@pytest.mark.parametrize(
    ("name", "prompt", "said"), [(name, prompt, said) for name, asked in CLUBS.items() for prompt, said in asked]
)
def test_a_short_request_has_the_plan_that_a_person_read_and_approved(name: str, prompt: str, said: str | None) -> None:
    plan = planned(prompt, {"data": CLUB_TABLES[name]})
    found = None if isinstance(plan, Refusal) else sentence(plan).removeprefix("From data: ")
    assert found == said


@pytest.mark.parametrize(
    ("name", "prompt"),
    [
        ("episodes", "episodes published by Mara"),
        ("episodes", "episodes reviewed by Mara"),
        ("trips", "trips cancelled by D7"),
        ("trips", "longest trip by fare"),
        ("stays", "patients discharged by Dr Kaur"),
        ("orders", "worst order by status"),
        ("employees", "oldest employee by hire_date and age"),
        ("vessels", "top rejected vessels by dwt"),
        ("staff", "how many managers are remote"),
        ("staff", "managers average salary per department"),
        ("wines", "wines ranked by score"),
    ],
)
def test_a_verb_or_a_superlative_that_is_about_something_else_is_not_passed_over(name: str, prompt: str) -> None:
    assert isinstance(planned(prompt, {"data": ALL[name]}), Refusal)
