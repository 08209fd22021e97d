"""When a request is the same as one before, what its answer looks like, and what it offers to become."""

from __future__ import annotations

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from laneway.domain.conversation import World
from laneway.lanes.pipeline import offers, results
from laneway.lanes.pipeline.lines import Lines
from laneway.lanes.pipeline.plans import columns_of, plan_key, request_key

ANN, BEN = UUID(int=1), UUID(int=2)
TODAY, TOMORROW = date(2026, 3, 1), date(2026, 3, 2)
ROWS = [{"name": "Ann", "price": 3}, {"name": "Bob", "price": 2.5}]


def key(
    text: str, rows: list[dict[str, Any]] = ROWS, world: World = World.OWNER, today: date = TODAY, asks: UUID = ANN
) -> str:
    return plan_key(world, asks, text, columns_of({"t": rows}), today)


def test_the_same_words_are_the_same_however_they_are_written() -> None:
    assert key("Show the cheapest") == key("  please show  THE cheapest! ") == key("could you show the cheapest?")
    assert request_key(World.OWNER, "Show the cheapest") == request_key(World.OWNER, "show the cheapest.")


@pytest.mark.parametrize(
    "other",
    [
        {"text": "show the dearest"}, {"world": World.CUSTOMER}, {"rows": [{"name": "Ann", "cost": 3}]},
        {"rows": [{"name": "Ann", "price": "3"}]}, {"asks": BEN},
    ],
)  # fmt: skip
def test_other_words_worlds_people_columns_or_types_are_another_request(other: dict[str, Any]) -> None:
    assert key(**{"text": "show the cheapest", **other}) != key("show the cheapest")


def test_other_rows_of_the_same_columns_are_the_same_request() -> None:
    assert key("show the cheapest", [{"price": 9, "name": "Cy"}, {"price": None, "name": "D"}]) == key(
        "show the cheapest"
    )


def test_what_depends_on_the_day_is_the_same_only_that_day() -> None:
    for text in ("users who signed up today", "sales of last month", "orders since monday"):
        assert key(text) != key(text, today=TOMORROW)
    assert key("show the cheapest") == key("show the cheapest", today=TOMORROW)


def test_a_preview_shows_three_rows_and_cuts_what_is_long() -> None:
    preview = results.dataset([{"text": "x" * 1000, "n": 1}, *ROWS, *ROWS])
    assert (preview["kind"], preview["row_count"], len(preview["sample"])) == ("dataset", 5, 3)
    assert len(preview["sample"][0]["text"]) == 200
    assert results.as_text("hello") == {"kind": "text", "text": "hello"}


def test_a_table_in_the_chat_is_short_and_says_what_it_leaves_out() -> None:
    text = results.table([{**{f"c{n}": n for n in range(10)}, "c0": "a\nb" * 40}] * 12)
    lines = text.splitlines()
    assert lines[0].startswith("c0")
    assert lines[-2:] == ["… and 2 rows more", "… and 2 columns more"]
    assert max(map(len, lines)) < 120
    assert results.table([]) == "No rows are left."


def test_an_answer_says_the_plan_the_counts_and_where_the_rows_came_from() -> None:
    counts = [{"step": "t", "rows": 1200}, {"step": "filter", "rows": 2}]
    text = results.answered("From t: keep some.", counts, ["the file t.csv"], ROWS, ["3 cells are no numbers."])
    assert text.splitlines()[:4] == [
        "From t: keep some.", "Rows: t 1,200 → filter 2.", "From the file t.csv.", "3 cells are no numbers.",
    ]  # fmt: skip


def test_large_results_are_lines_and_long_numbers_stay_whole() -> None:
    content, mime = results.written([{"n": 2**70}])
    assert (content, mime) == (b'[{"n":1180591620717411303424}]', "application/json")
    content, mime = results.written([{"n": n} for n in range(results.MANY)])
    assert (mime, content.count(b"\n")) == ("application/x-ndjson", results.MANY)
    assert results.written(Lines(b'{"n":1}\n', 1, [{"n": 1}])) == (b'{"n":1}\n', "application/x-ndjson")


def test_an_offer_is_a_workflow_that_fetches_by_the_clock_or_works_on_what_it_is_given() -> None:
    fetching = {"steps": [{"do": "http_request", "url": "https://a.example/"}]}
    found = offers.offer("show me the cheapest flights", fetching, "why", zone="Europe/Berlin")
    assert found is not None
    assert found["document"]["triggers"] == [{"type": "cron", "schedule": "0 8 * * *", "timezone": "Europe/Berlin"}]
    assert found["tag"] == "cheapest-flights"
    assert "every morning" in offers.offered(found, 3)
    given = offers.offer("show the cheapest", {"steps": []}, "why")
    assert given is not None
    assert given["document"]["triggers"] == [{"type": "manual"}]
    assert given["document"]["nodes"][0]["config"]["tables"] == "$input.tables"
    assert "document" not in (offers.offer("mail me always", None, "why") or {})


def test_a_plan_of_one_day_is_offered_as_words_or_not_at_all() -> None:
    given = offers.offer("orders today", {"steps": []}, "why", dated=True)
    assert given is not None
    assert given["document"]["nodes"][0]["config"] == {"prompt": "orders today", "tables": "$input.tables"}
    fetching = {"steps": [{"do": "http_request", "url": "https://a.example/"}]}
    assert offers.offer("orders today", fetching, "why", dated=True) is None
