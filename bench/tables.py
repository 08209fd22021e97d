"""Table operations beside pandas, polars and duckdb, end to end: a list of rows in, a list of rows out, in one run.

`python -m bench.tables` runs it alone; `--rows 10000` takes one size only. Then the same work done for a server: in a
worker process, from rows and from a stored file, with the longest time for which the event loop did not come round.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from bench.report import show
from laneway.lanes.pipeline.lines import written
from laneway.lanes.pipeline.plan import plan_of
from laneway.lanes.pipeline.process import Source, Stored, worked
from laneway.lanes.pipeline.tables import run

SIZES = (10_000, 1_000_000)
CITIES = ("Rome", "Oslo", "Bonn", "Paris", "Lima", "Cairo", "Quito", "Tunis")

Rows = list[dict[str, Any]]
Work = Callable[[Rows, Rows], Any]

CHEAP = {"do": "filter", "where": {"column": "price", "is": "<", "value": 100}}
MEAN = {"do": "group_by", "by": ["city"], "values": {"mean": {"do": "mean", "column": "price"}}}
PLANS: Mapping[str, list[dict[str, Any]]] = {
    "sort": [{"do": "sort", "by": [{"column": "price"}]}],
    "filter": [CHEAP],
    "select": [{"do": "select", "columns": ["id", "price"]}],
    "top_k": [{"do": "top_k", "k": 10, "by": "price"}],
    "group": [MEAN],
    "join": [{"do": "join", "table": "cities", "on": ["city"]}],
    "filter+group+top": [CHEAP, MEAN, {"do": "top_k", "k": 3, "by": "mean"}],
}


def rows_by_chance(count: int) -> Rows:
    """A table of seven columns, about 100 bytes of JSON a row."""
    chance = random.Random(7)
    return [
        {"id": place, "price": chance.randint(1, 100_000) / 100, "city": chance.choice(CITIES),
         "stars": chance.randint(1, 5), "open": place % 3 == 0, "name": f"hotel {place}", "day": "2026-01-31"}
        for place in range(count)
    ]  # fmt: skip


def measure(sizes: tuple[int, ...] = SIZES) -> None:
    """Every operation at every size beside every peer that is installed, then what a server notices of it."""
    cities = [{"city": city, "country": city[:2].upper()} for city in CITIES]
    peers = {name: made for name, make in PEERS.items() if (made := _made(name, make)) is not None}
    for size in sizes:
        rows = rows_by_chance(size)
        times = 7 if size <= 100_000 else 3
        for name in PLANS:
            ours = _took(_ours(name), rows, cities, times)
            theirs = {peer: _took(works[name], rows, cities, 1 + times // 7 * 4) for peer, works in peers.items()}
            said = ", ".join(f"{peer} {figure:.0f}" for peer, figure in theirs.items())
            goal = min(theirs.values()) if theirs else None
            show(
                f"{name}, {size:,} rows ({said})" if said else f"{name}, {size:,} rows",
                ours,
                "ms",
                goal and round(goal, 1),
            )
        del rows
        gc.collect()
    asyncio.run(_for_a_server(max(sizes)))


def _ours(name: str) -> Work:
    plan = plan_of({"from": "table", "steps": PLANS[name]})
    return lambda rows, cities: run(plan, {"table": rows, "cities": cities}).rows


def _made(name: str, make: Callable[[], dict[str, Work]]) -> dict[str, Work] | None:
    needed = {"duckdb": ("duckdb", "pyarrow")}.get(name, (name,))
    missing = [one for one in needed if find_spec(one) is None]
    if missing:
        print(f"{name}: not measured, {' and '.join(missing)} is not installed (make bench installs it).")
        return None
    return make()


def _took(work: Work, rows: Rows, cities: Rows, times: int) -> float:
    """The middle of some runs, in milliseconds."""
    figures = []
    for _ in range(times):
        gc.collect()
        began = time.perf_counter()
        result = work(rows, cities)
        figures.append((time.perf_counter() - began) * 1000)
        del result
    return median(figures)


def _polars() -> dict[str, Work]:
    pl = import_module("polars")

    def through(work: Callable[[Any], Any]) -> Work:
        return lambda rows, cities: work(pl.from_dicts(rows)).to_dicts()

    def mean(frame: Any) -> Any:
        return frame.group_by("city", maintain_order=True).agg(pl.col("price").mean().alias("mean"))

    return {
        "sort": through(lambda frame: frame.sort("price")),
        "filter": through(lambda frame: frame.filter(pl.col("price") < 100)),
        "select": through(lambda frame: frame.select("id", "price")),
        "top_k": through(lambda frame: frame.top_k(10, by="price")),
        "group": through(mean),
        "join": lambda rows, cities: pl.from_dicts(rows).join(pl.from_dicts(cities), on="city").to_dicts(),
        "filter+group+top": through(lambda frame: mean(frame.filter(pl.col("price") < 100)).top_k(3, by="mean")),
    }


def _pandas() -> dict[str, Work]:
    pd = import_module("pandas")

    def through(work: Callable[[Any], Any]) -> Work:
        return lambda rows, cities: work(pd.DataFrame.from_records(rows)).to_dict("records")

    def mean(frame: Any) -> Any:
        return frame.groupby("city", sort=False)["price"].mean().reset_index(name="mean")

    return {
        "sort": through(lambda frame: frame.sort_values("price", kind="stable")),
        "filter": through(lambda frame: frame[frame["price"] < 100]),
        "select": through(lambda frame: frame[["id", "price"]]),
        "top_k": through(lambda frame: frame.nlargest(10, "price")),
        "group": through(mean),
        "join": lambda rows, cities: (
            pd.DataFrame.from_records(rows).merge(pd.DataFrame.from_records(cities), on="city").to_dict("records")
        ),
        "filter+group+top": through(lambda frame: mean(frame[frame["price"] < 100]).nlargest(3, "mean")),
    }


def _duckdb() -> dict[str, Work]:
    duckdb, pa = import_module("duckdb"), import_module("pyarrow")

    def through(query: str) -> Work:
        def work(rows: Rows, cities: Rows) -> Any:
            with duckdb.connect() as connection:
                connection.register("t", pa.Table.from_pylist(rows))
                connection.register("cities", pa.Table.from_pylist(cities))
                return connection.sql(query).to_arrow_table().to_pylist()

        return work

    return {
        "sort": through("SELECT * FROM t ORDER BY price"),
        "filter": through("SELECT * FROM t WHERE price < 100"),
        "select": through("SELECT id, price FROM t"),
        "top_k": through("SELECT * FROM t ORDER BY price DESC LIMIT 10"),
        "group": through("SELECT city, avg(price) AS mean FROM t GROUP BY city"),
        "join": through("SELECT * FROM t JOIN cities USING (city)"),
        "filter+group+top": through(
            "SELECT city, avg(price) AS mean FROM t WHERE price < 100 GROUP BY city ORDER BY mean DESC LIMIT 3"
        ),
    }


PEERS: Mapping[str, Callable[[], dict[str, Work]]] = {"pandas": _pandas, "polars": _polars, "duckdb": _duckdb}


async def _for_a_server(size: int) -> None:
    """What a server notices: the time until the answer, and the longest time its loop stood still."""
    rows = rows_by_chance(size)
    with tempfile.TemporaryDirectory(prefix="laneway-bench-") as folder:
        path = Path(folder) / "rows.ndjson"
        with path.open("wb") as file:
            file.writelines(written(rows))
        sources: dict[str, Source] = {"given rows": rows, "a stored file": Stored(path, "ndjson")}
        for name in ("filter+group+top", "sort"):
            plan = plan_of({"from": "table", "steps": PLANS[name]})
            for where, source in sources.items():
                began = time.perf_counter()
                stop = asyncio.Event()
                gap = asyncio.create_task(_longest_gap(stop))
                outcome = await worked(plan, {"table": source}, most_bytes=1 << 32, seconds=600)
                took = (time.perf_counter() - began) * 1000
                stop.set()
                show(f"{name}, {size:,} rows of {where}, by a {outcome.how} process", took, "ms")
                show("  longest time the loop stood still meanwhile", await gap * 1000, "ms", 50)


async def _longest_gap(stop: asyncio.Event) -> float:
    longest, last = 0.0, time.perf_counter()
    while not stop.is_set():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now
    return longest


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, action="append", help="a size to measure; may be given more than once")
    measure(tuple(parser.parse_args().rows or SIZES))
