"""Plans as other programs write them, through `POST /pipelines`."""

from __future__ import annotations

from tests.journeys.tables_asked import FLIGHTS
from tests.web.conftest import Door

CITIES = [{"city": "Oslo", "country": "NO"}, {"city": "Bonn", "country": "DE"}]


async def test_joins_of_every_kind_a_union_and_a_rank(door: Door) -> None:
    tables = {"flights": FLIGHTS[:2], "cities": CITIES}
    ida, bee = FLIGHTS[:2]
    nobody = {"airline": None, "price": None, "city": "Bonn", "country": "DE"}
    for how, rows in (
        ("inner", [{**ida, "country": "NO"}]), ("semi", [ida]), ("anti", [bee]),
        ("left", [{**ida, "country": "NO"}, {**bee, "country": None}]),
        ("right", [{**ida, "country": "NO"}, nobody]),
        ("full", [{**ida, "country": "NO"}, {**bee, "country": None}, nobody]),
    ):  # fmt: skip
        plan = {"from": "flights", "steps": [{"do": "join", "table": "cities", "on": ["city"], "how": how}]}
        found = await door.post("/pipelines", json={"plan": plan, "tables": tables})
        assert found.get("rows") == rows, (how, found)
    plan = {"from": "flights", "steps": [
        {"do": "union", "tables": ["more"]},
        {"do": "rank", "by": "price", "order": "asc", "within": ["city"], "column": "place"},
    ]}  # fmt: skip
    found = await door.post("/pipelines", json={"plan": plan, "tables": {"flights": FLIGHTS[:2], "more": FLIGHTS[2:]}})
    assert found.get("rows") == [{**row, "place": place} for row, place in zip(FLIGHTS, (2, 1, 1, 2), strict=True)]
    assert found["sentence"] == (
        "From flights: put the rows of more below, then number the rows by price within each city, lowest first, "
        "as place."
    )
    assert found["sources_of_rows"] == ["the table `flights` of the request", "the table `more` of the request"]
