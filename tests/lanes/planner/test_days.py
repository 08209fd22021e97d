"""Days by their distance from today: the same rows as plain code would choose, on a day that is given."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from laneway.lanes.pipeline import tables as engine
from laneway.lanes.pipeline.plan import Plan
from laneway.lanes.pipeline.planner import Refusal, planned

TODAY = date(2026, 11, 18)
"""A Wednesday."""
ORDERS: list[dict[str, Any]] = [
    {"id": number, "status": ("open", "done")[number % 2], "total": number * 7 % 31,
     "ordered_at": (TODAY - timedelta(days=number - 3)).isoformat()}
    for number in range(420)
]  # fmt: skip
Row = dict[str, Any]


def day(row: Row) -> date:
    return date.fromisoformat(row["ordered_at"])


def back(days: int) -> date:
    return TODAY - timedelta(days=days)


def rows(prompt: str, table: list[Row], name: str, today: date = TODAY) -> list[Row]:
    plan = planned(prompt, {name: table}, today)
    assert isinstance(plan, Plan), plan
    return list(engine.run(plan, {name: table}).rows)


CHOSEN: list[tuple[str, Callable[[Row], bool]]] = [
    ("orders today", lambda row: day(row) == TODAY),
    ("orders placed yesterday", lambda row: day(row) == back(1)),
    ("orders tomorrow", lambda row: day(row) == back(-1)),
    ("orders where ordered_at is today", lambda row: day(row) == TODAY),
    ("orders this week", lambda row: back(2) <= day(row) < back(-5)),
    ("orders last week", lambda row: back(9) <= day(row) < back(2)),
    ("orders this month", lambda row: (day(row).year, day(row).month) == (2026, 11)),
    ("orders last month", lambda row: (day(row).year, day(row).month) == (2026, 10)),
    ("orders this year", lambda row: day(row).year == 2026),
    ("orders during last year", lambda row: day(row).year == 2025),
    ("orders in the last 7 days", lambda row: back(6) <= day(row) <= TODAY),
    ("orders over the past 30 days", lambda row: back(29) <= day(row) <= TODAY),
    ("orders in the last 1 day", lambda row: day(row) == TODAY),
    ("orders since Monday", lambda row: day(row) >= back(2)),
    ("orders since Thursday", lambda row: day(row) >= back(6)),
    ("orders since yesterday", lambda row: day(row) >= back(1)),
    ("orders since last week", lambda row: day(row) >= back(9)),
    ("orders before yesterday", lambda row: day(row) < back(1)),
    ("orders after last week", lambda row: day(row) > back(3)),
    ("orders before this month", lambda row: day(row) < date(2026, 11, 1)),
    ("orders from yesterday to today", lambda row: back(1) <= day(row) <= TODAY),
    ("orders between last month and today", lambda row: date(2026, 10, 1) <= day(row) <= TODAY),
    ("orders today or yesterday", lambda row: day(row) in (TODAY, back(1))),
    ("open orders placed this week", lambda row: row["status"] == "open" and back(2) <= day(row) < back(-5)),
]


@pytest.mark.parametrize(("prompt", "wanted"), CHOSEN, ids=[prompt for prompt, _ in CHOSEN])
def test_the_rows_of_the_days_that_are_meant(prompt: str, wanted: Callable[[Row], bool]) -> None:
    expected = [row for row in ORDERS if wanted(row)]
    assert expected
    assert rows(prompt, ORDERS, "orders") == expected


def test_days_go_with_counts_groups_and_orders() -> None:
    week = [row for row in ORDERS if back(2) <= day(row) < back(-5)]
    assert rows("how many orders this week", ORDERS, "orders") == [{"count": len(week)}]
    [mean] = rows("average total this week", ORDERS, "orders")
    assert mean["average_total"] == pytest.approx(sum(row["total"] for row in week) / len(week))
    month = [row for row in ORDERS if (day(row).year, day(row).month) == (2026, 10)]
    best = sorted(month, key=lambda row: -row["total"])[:3]
    assert rows("top 3 orders by total last month", ORDERS, "orders") == best


def test_the_users_of_the_seed_who_signed_up_today() -> None:
    moments = {"Ann": "18T00:00:00", "Bob": "17T23:59:59", "Cid": "18T23:59:59", "Dan": "19T00:00:00"}
    users = [{"name": name, "signed_up_at": f"2026-11-{at}Z"} for name, at in moments.items()]
    assert [row["name"] for row in rows("get users who signed up today", users, "users")] == ["Ann", "Cid"]


@pytest.mark.parametrize("today", [date(2026, 1, 1), date(2024, 2, 29), date(2026, 12, 31), date(2024, 3, 1)])
def test_the_ends_of_months_and_years_hold(today: date) -> None:
    table = [{"id": n, "ordered_at": (today - timedelta(days=n - 40)).isoformat()} for n in range(800)]
    before = (today.replace(day=1) - timedelta(days=1)).replace(day=1)
    chosen: dict[str, Callable[[Row], bool]] = {
        "orders last month": lambda row: before <= day(row) < today.replace(day=1),
        "orders this month": lambda row: (day(row).year, day(row).month) == (today.year, today.month),
        "orders last year": lambda row: day(row).year == today.year - 1,
        "orders this week": lambda row: day(row).isocalendar()[:2] == today.isocalendar()[:2],
    }
    for prompt, wanted in chosen.items():
        assert rows(prompt, table, "orders", today) == [row for row in table if wanted(row)], prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "orders since Wednesday", "orders in the last week", "orders from yesterday", "orders today and yesterday",
        "orders next week", "orders tonight", "today's orders", "orders not today", "orders on Monday",
        "orders in the last 0 days", "orders in the last 99999 days", "orders last 3 weeks", "orders 3 days ago",
        "orders in the last 7 days of 2025",
    ],
)  # fmt: skip
def test_what_could_be_two_days_is_refused(prompt: str) -> None:
    assert isinstance(planned(prompt, {"orders": ORDERS}, TODAY), Refusal)


@pytest.mark.parametrize("prompt", [prompt for prompt, _ in CHOSEN])
def test_without_a_day_nothing_depends_on_it(prompt: str) -> None:
    assert isinstance(planned(prompt, {"orders": ORDERS}), Refusal)


def test_words_of_the_table_stay_words_of_the_table() -> None:
    table = [{"shop": "A1", "last_month": 3}, {"shop": "B2", "last_month": 9}]
    assert rows("top 1 by last month", table, "shops") == [table[1]]
    table = [{"task": "x", "due": "Today"}, {"task": "y", "due": "Later"}]
    assert rows("tasks where due is today", table, "tasks") == [table[0]]


PRICES = [
    {"item": "lamp", "price": 30, "date": "2026-11-17"}, {"item": "desk", "price": 80, "date": "2026-11-18"},
    {"item": "lamp", "price": 31, "date": "2026-11-18"}, {"item": "desk", "price": 79, "date": "2026-11-16"},
]  # fmt: skip


def test_the_latest_prices_are_those_of_the_last_date() -> None:
    assert rows("fetch latest prices", PRICES, "prices") == [PRICES[1], PRICES[2]]
    assert rows("oldest prices", PRICES, "prices") == [PRICES[3]]
    assert rows("the 3 latest prices", PRICES, "prices") == [PRICES[1], PRICES[2], PRICES[0]]
    each = [{**row, "date": f"2026-11-1{n}"} for n, row in enumerate(PRICES)]
    assert isinstance(planned("fetch latest prices", {"prices": each}), Refusal)
    timed = [{**row, "date": f"{row['date']}T08:00:00"} for row in PRICES]
    assert isinstance(planned("fetch latest prices", {"prices": timed}), Refusal)
