"""Requests over tables with plain names, as they were written before any was run; and the traps found on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from laneway.lanes.pipeline.plan import sentence
from laneway.lanes.pipeline.planner import Refusal, planned
from tests.lanes.planner.asking import Case, Rows, judged
from tests.lanes.planner.requests_market import MARKET
from tests.lanes.planner.requests_street import STREET
from tests.lanes.planner.samples_market import MARKET_TABLES
from tests.lanes.planner.samples_street import STREET_TABLES

ALL = {**MARKET_TABLES, **STREET_TABLES}


def shapes(case: Case) -> Iterator[dict[str, Rows]]:
    """The tables as a line of `--jsonl` may bring them: the first without a name, or each with one."""
    more = {name: ALL[name] for name in case.more}
    yield {"data": ALL[case.table], **more}
    yield {case.table: ALL[case.table], **more}


@pytest.mark.parametrize("case", [*MARKET, *STREET], ids=lambda case: f"{case.table}: {case.prompt}")
def test_no_plain_request_is_answered_wrongly(case: Case) -> None:
    for tables in shapes(case):
        said = judged(case, ALL[case.table], tables)
        assert not said.startswith("WRONG"), said


@pytest.mark.parametrize(("cases", "least"), [(MARKET, 0.95), (STREET, 0.8)], ids=["mended", "as first seen"])
def test_most_plain_requests_are_understood(cases: list[Case], least: float) -> None:
    said = Counter(judged(case, ALL[case.table], tables) for case in cases for tables in shapes(case))
    assert said["right"] / (said["right"] + said["refused"]) >= least


@pytest.mark.parametrize(
    ("table", "prompt"),
    [
        ("orders", "total sales per customer"),
        ("donations", "total donations per campaign"),
        ("films", "2021 films"),
        ("cars", "the 2 cheapest 2019 cars"),
        ("employees", "list all employees with their salaries"),
        ("employees", "employees who earn the most"),
        ("employees", "top earners"),
        ("employees", "employees who do not report to Lars"),
        ("books", "how many books has each author sold"),
        ("tickets", "unclosed tickets"),
        ("tickets", "tickets without refund in the subject"),
        ("flights", "airlines ranked by average price"),
        ("grades", "pivot score by student_id and subject"),
        ("orders", "total of pending orders"),
        ("employees", "employees and their average salary"),
        ("products", "products with their total stock"),
        ("employees", "employees and total salary"),
        ("orders", "customers and their total"),
        ("students", "full names sorted by last name"),
        ("students", "names of all students"),
        ("products", "name contains desk or home"),
        ("products", "name contains desk and chair"),
        ("accounts", "everything except Nadia's accounts"),
    ],
)
def test_what_may_be_meant_in_two_ways_is_refused(table: str, prompt: str) -> None:
    for name in ("data", table):
        assert isinstance(planned(prompt, {name: ALL[table]}), Refusal)


@pytest.mark.parametrize(
    "prompt",
    [
        "customers who never placed an order over 100",
        "customers who have never cancelled an order",
        "customers without pending orders",
        "customers who did not place an order in March 2024",
    ],
)
def test_what_is_said_of_the_missing_partners_is_not_passed_over(prompt: str) -> None:
    tables = {"customers": ALL["customers"], "orders": ALL["orders"]}
    assert isinstance(planned(prompt, tables), Refusal)


def test_a_join_that_is_said_last_is_made_first() -> None:
    tables = {"orders": ALL["orders"], "customers": ALL["customers"]}
    plan = planned("show order_id, name and total by joining orders and customers on customer_id", tables)
    assert not isinstance(plan, Refusal)
    assert sentence(plan) == "From orders: join customers by customer_id, then show order_id, name, total."


@pytest.mark.parametrize(
    ("table", "prompt", "said"),
    [
        ("tickets", "subject contains averge", 'keep the rows where subject contains "averge".'),
        ("tickets", "tickets with averge in the subject", 'keep the rows where subject contains "averge".'),
        ("customers", "email ends with .com", 'keep the rows where email ends with ".com".'),
        ("customers", "those with an email ending in @post.test", 'keep the rows where email ends with "@post.test".'),
        ("students", "students in grade 11 and above", "keep the rows where grade is at least 11."),
        ("employees", "hired in 2018 or later", "keep the rows where hire_date is at least 2018-01-01."),
        ("products", "products not in stock", "keep the rows where stock is 0."),
        ("projects", "keep only projects where budget is above 40000", "keep the rows where budget is above 40000."),
        ("projects", "show only projects", "show project."),
        ("products", "names with their price over 20", "keep the rows where price is above 20, then show name."),
        ("products", "add a column gap as the difference between price and stock", "compute gap = price - stock."),
        ("employees", "the 3 most recently hired employees", "take the 3 with the highest hire_date."),
        ("students", "students called Silva", 'keep the rows where last_name is "Silva".'),
        (
            "films",
            "only directors with more than one film",
            "work out the number of rows for each director, then keep the rows where count is above 1.",
        ),
        ("books", "books with the word garden in the title", 'keep the rows where title contains "garden".'),
        ("employees", "Hector's salary", 'keep the rows where name is "Hector", then show salary.'),
        ("houses", "houses with 2 or 3 bedrooms", "keep the rows where bedrooms is one of 2, 3."),
        ("houses", "houses with 2 bathrooms or more", "keep the rows where bathrooms is at least 2."),
        ("employees", "highest and lowest salary", "work out the highest salary and the lowest salary."),
        ("employees", "employees making more than 90,000", "keep the rows where salary is above 90000."),
        ("accounts", "accounts opened in or after 2019", "keep the rows where opened is at least 2019-01-01."),
        (
            "products",
            "name contains desk or chair and price under 100",
            'keep the rows where (name contains "desk" or name contains "chair") and price is below 100.',
        ),
        ("orders", "total by status", "work out the sum of total for each status."),
    ],
)  # fmt: skip
def test_a_request_has_the_plan_that_a_person_read(table: str, prompt: str, said: str) -> None:
    plan = planned(prompt, {"data": ALL[table]})
    assert not isinstance(plan, Refusal)
    assert sentence(plan).removeprefix("From data: ") == said
