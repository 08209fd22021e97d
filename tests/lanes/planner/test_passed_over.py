"""Words that were once passed over or taken for something else, over tables of their own; and what they leave right."""

from __future__ import annotations

import pytest

from laneway.lanes.pipeline.planner import Refusal
from tests.lanes.planner.asking import Rows, answer
from tests.lanes.planner.samples import table

LENT = table(
    "loan_no title reader lent_on back_on fine_eur",
    "1 | Salt | Moor | 2026-01-04 | 2026-01-20 | 0",
    "2 | Atlas | Voss | 2026-01-06 | - | 2",
    "3 | Rain | Moor | 2026-01-10 | - | 5",
)
TRAINS = table(
    "train_no bound_for leaves_at coaches",
    "T1 | Oslo | 2026-05-01T06:30:00 | 6",
    "T2 | Bergen | 2026-05-01T11:15:00 | 8",
    "T3 | Oslo | 2026-05-02T07:45:00 | 4",
)
SEATINGS = table(
    "seating_no guest_name day status",
    "1 | Adeyemi | 2026-01-02 | kept",
    "2 | Park | 2026-01-02 | cancelled",
    "3 | Adeyemi | 2026-01-03 | kept",
    "4 | Park | 2026-01-04 | kept",
)
SALES = table(
    "order_no customer_id product quantity unit_price paid_by",
    "1 | C1 | Chair | 4 | 40 | card",
    "2 | C2 | Shelf | 1 | 149 | card",
    "3 | C1 | Lamp | 1 | 60 | cash",
)
STAYS = table(
    "stay_no guest nights rate_eur is_paid",
    "1 | Ito | 2 | 90 | true",
    "2 | Kell | 3 | 125.5 | true",
    "3 | Rosa | 1 | 260 | false",
)
CALLS = table(
    "call_no customer opened_on closed_on",
    "1 | Bakery | 2026-01-02 | 2026-01-03",
    "2 | Clinic | 2026-01-02 | -",
    "3 | Bakery | 2026-01-05 | -",
)
REQUESTS = table(
    "log_no method url_path took_ms",
    "1 | POST | /api/login | 310",
    "2 | GET | /api/orders | 20",
    "3 | GET | /home | 5",
)
FILMS = table(
    "film year running_time_min",
    "Alto | 1979 | 117",
    "Brio | 1995 | 81",
    "Coda | 2001 | 140",
)
STOCK = table(
    "sku shelf qty_on_hand reorder_level",
    "A | N | 20 | 30",
    "B | N | 8 | 5",
    "C | S | 50 | 10",
)

REFUSED: list[tuple[Rows, str]] = [
    (LENT, "loans that are still out"),
    (SEATINGS, "guests who came more than once"),
    (SALES, "orders paid by card over 100"),
    (SALES, "number of orders per customer name"),
    (STAYS, "stays over 120 euros a night that are paid"),
    (CALLS, "How many calls did each customer open?"),
    (FILMS, "films shorter than 2 hours (120 min) sorted by year"),
]


@pytest.mark.parametrize(("rows", "prompt"), REFUSED, ids=[prompt for _, prompt in REFUSED])
def test_what_may_mean_more_than_its_known_words_is_refused(rows: Rows, prompt: str) -> None:
    found = answer(prompt, {"data": rows})
    assert isinstance(found, Refusal), found


CELLS: list[tuple[Rows, str, list[tuple[object, ...]]]] = [
    (TRAINS, "number of trains per day", [("2026-05-01", 2), ("2026-05-02", 1)]),
    (TRAINS, "trains per date, latest date first", [("2026-05-02", 1), ("2026-05-01", 2)]),
    (SEATINGS, "number of seatings per day", [("2026-01-02", 2), ("2026-01-03", 1), ("2026-01-04", 1)]),
    (SALES, "number of orders per customer", [("C1", 2), ("C2", 1)]),
    (STAYS, "guest and nights of stays over 120 euros", [("Kell", 3), ("Rosa", 1)]),
    (CALLS, "how many calls are still open per customer", [("Clinic", 1), ("Bakery", 1)]),
    (REQUESTS, "GET requests with a path starting with /api", [(2, "GET", "/api/orders", 20)]),
    (REQUESTS, "Get the log_no and took_ms", [(1, 310), (2, 20), (3, 5)]),
    (STOCK, "average quantity per shelf", [("N", 14.0), ("S", 50.0)]),
    (STOCK, "sku and quantity, sorted by shelf, then by quantity descending", [("A", 20), ("B", 8), ("C", 50)]),
]


@pytest.mark.parametrize(("rows", "prompt", "cells"), CELLS, ids=[prompt for _, prompt, _ in CELLS])
def test_what_is_near_to_it_is_answered(rows: Rows, prompt: str, cells: list[tuple[object, ...]]) -> None:
    found = answer(prompt, {"data": rows})
    assert not isinstance(found, Refusal), found
    assert [tuple(row.values()) for row in found] == cells
