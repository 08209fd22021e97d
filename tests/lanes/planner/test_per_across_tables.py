"""`per` and two numbers, where the tables are joined: groups if they are plainly meant, else a refusal; no division."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.lanes.pipeline.planner import Refusal, planned
from tests.lanes.planner.asking import answer

CRATES = [
    {"crate": "a", "kg": 20, "port": "X"}, {"crate": "b", "kg": 25, "port": "X"}, {"crate": "c", "kg": 40, "port": "Z"},
]  # fmt: skip
PORTS = [{"port": "X", "zone": 1}, {"port": "Z", "zone": 2}]
REQUESTS = (
    "total kg per zone", "total kg per zone after joining ports on port", "the total kg per zone of all crates",
    "join ports on port and show total kg per zone", "join crates with ports on port, then total kg per zone",
    "total kg for each zone", "total kg by zone",
)  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS)
@pytest.mark.parametrize("first", ["crates", "ports", "data"])
def test_a_number_of_the_other_table_that_comes_again_makes_groups(request_: str, first: str) -> None:
    both: dict[str, Any] = {"crates" if first != "data" else "data": CRATES, "ports": PORTS}
    tables = {name: both[name] for name in sorted(both, key=lambda name: name != first)}
    assert answer(request_, tables) == [{"zone": 1, "total_kg": 45}, {"zone": 2, "total_kg": 40}]


@pytest.mark.parametrize("number", ["zone", "size", "area_m2", "rate", "fee", "hours", "seats"])
@pytest.mark.parametrize("cells", [(1, 2, 3), (1.5, 2.5, 3.5), (1, 1, 2)], ids=str)
@pytest.mark.parametrize("ports", [3, 2])
def test_numbers_of_two_tables_are_never_divided_by_a_per(number: str, cells: tuple[float, ...], ports: int) -> None:
    places = ["X", "Y", "Z"][:ports]
    beside = [{"port": port, number: cell} for port, cell in zip(places, cells, strict=False)]
    rows = [{"crate": str(n), "kg": 10 * n + 10, "port": places[n % ports]} for n in range(4)]
    word = number.partition("_")[0]
    for do in ("total", "average", "max", "sum of", ""):
        for tail in ("", " after joining ports on port", " for each crate"):
            for one, other in (("kg", word), (word, "kg")):
                made = planned(f"{do} {one} per {other}{tail}".strip(), {"crates": rows, "ports": beside})
                if not isinstance(made, Refusal):
                    assert "/" not in str(made.document()), made.document()


def test_numbers_of_one_table_are_divided_though_another_is_joined_and_in_words_any_are() -> None:
    rows = [{"crate": n, "price": 40, "kg": n + 1, "port": "X"} for n in range(4)]
    made = planned(
        "join ports on port, then show crate and price divided by zone",
        {"crates": rows, "ports": [{"port": "X", "zone": 2}]},
    )
    assert not isinstance(made, Refusal)
    assert "price / zone" in str(made.document())
    made = planned(
        "join ports on port, then show crate and price per kg", {"crates": rows, "ports": [{"port": "X", "zone": 2}]}
    )
    assert not isinstance(made, Refusal)
    assert "price / kg" in str(made.document())


def test_the_columns_of_an_empty_table_are_none() -> None:
    made = planned("frobnicate the crates", {"data": []})
    assert isinstance(made, Refusal)
    assert ": ." not in made.hint
