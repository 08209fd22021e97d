"""Ways of speaking that two strangers used, over tables they never saw; and what is near to them and stays refused."""

from __future__ import annotations

import pytest

from laneway.lanes.pipeline.planner import Refusal
from tests.lanes.planner.asking import Rows, answer
from tests.lanes.planner.samples import table

LANDS = table(
    "land pop_m area_km2 coast_km gdp_musd",
    "Arvia | 4.5 | 900 | 120 | 800",
    "Borea | 0.4 | 1500 | 0 | 300",
    "Cesta | 12.1 | 700 | 60 | 2500",
)
PLAYERS = table(
    "card_no full_name town joined_on birth_yr is_coach email",
    "K1 | Ada Moor | Elm | 2019-03-12 | 1988 | false | ada@post.test",
    "K2 | Bo Lind | Oak | 2021-05-02 | 2003 | true | -",
    "K3 | Cy Pohl | Elm | 2020-01-20 | 1995 | false | cy@post.test",
    "K4 | Di Rask | Ash | 2018-07-07 | 2001 | true | -",
)
GAMES = table(
    "game_name mood_tag state_now genre_field price_eur hours",
    "Rook | calm | sold | puzzle | 20 | 10",
    "Dash | wild | listed | action | 30 | 8",
    "Mist | calm | listed | puzzle | 15 | 25",
    "Volt | wild | sold | action | 60 | 12",
)
SHEDS = table(
    "shed_id level racks_tot racks_occ is_heated cooling_on opened_on closed_on env_tag",
    "S1 | 1 | 10 | 10 | true | 2024-01-05 | 2024-01-01 | - | dev",
    "S2 | 2 | 12 | 9 | false | - | 2024-02-01 | 2024-03-01 | prod",
    "S3 | 3 | 8 | 8 | false | - | 2024-03-01 | - | prod",
)
VISITS = table(
    "visit_no ward doctor visited_on due_on returned_on fee_eur",
    "1 | A | Roth | 2024-01-02 | 2024-01-10 | 2024-01-12 | 50",
    "2 | A | Lund | 2024-01-01 | 2024-01-10 | 2024-01-08 | 80",
    "3 | B | Roth | 2024-02-02 | 2024-02-10 | 2024-02-11 | 30",
    "4 | B | Lund | 2024-02-05 | 2024-02-10 | - | 90",
    "5 | B | Lund | 2024-02-07 | 2024-02-10 | 2024-02-09 | 60",
)

ROWS: list[tuple[Rows, str, list[int]]] = [
    (LANDS, "lands with more than 4 million inhabitants", [0, 2]),
    (LANDS, "lands with a population above 500,000", [0, 2]),
    (LANDS, "top 2 lands by population", [2, 0]),
    (PLAYERS, "members who are coaches", [1, 3]),
    (PLAYERS, "the youngest member", [1]),
    (PLAYERS, "the newest member", [1]),
    (PLAYERS, "members we have no email for", [1, 3]),
    (PLAYERS, "members w/o an email", [1, 3]),
    (PLAYERS, "members sorted by town, then by name", [3, 0, 2, 1]),
    (GAMES, "games whose state is anything but sold", [1, 2]),
    (GAMES, "games with mood calm", [0, 2]),
    (GAMES, "the cheapest game in each genre", [2, 1]),
    (GAMES, "the most expensive game (price) for each mood", [0, 3]),
    (GAMES, "gmaes wiht more then 10 hours", [2, 3]),
    (GAMES, "rank the games by price from high to low", [3, 1, 0, 2]),
    (GAMES, "drop duplicates by mood, keep the first", [0, 1]),
    (SHEDS, "sheds where occupied racks equal total racks", [0, 2]),
    (SHEDS, "sheds above level 1", [1, 2]),
    (SHEDS, "sheds with neither a cooling date nor a closing date", [2]),
    (VISITS, "visits that came back after their due date", [0, 2]),
    (VISITS, "vistis with a fee above 70", [1, 3]),
    (VISITS, "the earliest visited visit for each ward", [1, 2]),
]


@pytest.mark.parametrize(("rows", "prompt", "places"), ROWS, ids=[prompt for _, prompt, _ in ROWS])
def test_such_rows_are_found(rows: Rows, prompt: str, places: list[int]) -> None:
    found = answer(prompt, {"data": rows})
    assert not isinstance(found, Refusal), found
    ordered = not prompt.startswith("the ")
    assert (found if ordered else sorted(found, key=repr)) == (
        [rows[n] for n in places] if ordered else sorted((rows[n] for n in places), key=repr)
    )


FIGURES: list[tuple[Rows, str, list[tuple[object, ...]]]] = [
    (
        GAMES,
        "moods with 2 or more games: mood and average price, cheapest average first",
        [("calm", 17.5), ("wild", 45.0)],
    ),
    (GAMES, "average price per genre, best first", []),
    (GAMES, "number of games per state", [("sold", 2), ("listed", 2)]),
    (GAMES, "total hours by genre, only the genre with the largest total", [("puzzle", 35)]),
    (VISITS, "average fee per doctor, only doctors averaging above 50", [("Lund", 230 / 3)]),
    (VISITS, "average fee per ward for visits by Lund, only wards with at least 2 such visits", [("B", 75.0)]),
    (SHEDS, "count sheds by whether they are heated", [(True, 1), (False, 2)]),
    (
        GAMES,
        "add rate = price_eur / hours and show game name and rate for the 2 games with the highest rate",
        [("Volt", 5.0), ("Dash", 3.75)],
    ),
    (GAMES, "game name and price divided by hours, top 1 by that figure", [("Volt", 5.0)]),
]


@pytest.mark.parametrize(("rows", "prompt", "cells"), FIGURES, ids=[prompt for _, prompt, _ in FIGURES])
def test_only_what_is_named_is_worked_out_and_shown(rows: Rows, prompt: str, cells: list[tuple[object, ...]]) -> None:
    found = answer(prompt, {"data": rows})
    if not cells:
        assert isinstance(found, Refusal), found
        return
    assert not isinstance(found, Refusal), found
    assert [tuple(row.values()) for row in found] == cells


NEAR: list[tuple[Rows, str]] = [
    (LANDS, "the biggest land"),
    (LANDS, "lands with more than 4 inhabitants"),
    (LANDS, "lands with a population above 900"),
    (PLAYERS, "gadgets from Elm"),
    (PLAYERS, "members who are pilots"),
    (VISITS, "visors with a fee above 70"),
    (VISITS, "profits with a fee above 70"),
    (GAMES, "games with mood then 10 hours"),
    (GAMES, "rank the games by price"),
    (GAMES, "drop duplicates by mood, keep the first, sorted by price"),
    (GAMES, "the 2 largest prices"),
    (GAMES, "number of games per genre, only the genre with the largest average"),
    (GAMES, "average price per genre, only the genre with the largest number"),
    (SHEDS, "number of sheds per environment"),
    (SHEDS, "sheds where occupied racks equal opening"),
    (SHEDS, "sheds that are neither heated nor painted"),
    (VISITS, "visits that came back after lunch"),
    (VISITS, "the dearest visit (ward) for each doctor"),
]


@pytest.mark.parametrize(("rows", "prompt"), NEAR, ids=[prompt for _, prompt in NEAR])
def test_what_is_only_near_to_it_is_refused(rows: Rows, prompt: str) -> None:
    found = answer(prompt, {"data": rows})
    assert isinstance(found, Refusal), found
