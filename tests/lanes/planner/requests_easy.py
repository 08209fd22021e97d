"""Requests as most people write them, and what comes out, worked out without the planner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lanes.planner.asking import Case, Rows


def _easy(table: str, prompt: str, expected: Callable[[Rows], list[Any]], *, ordered: bool = True) -> Case:
    return Case("easy", table, prompt, expected, ordered=ordered)


def top(rows: Rows, column: str, k: int | None = None, *, down: bool = False) -> list[Any]:
    """The k rows with the lowest or highest value; those without one never win."""
    full = [row for row in rows if row[column] is not None]
    return sorted(full, key=lambda row: row[column], reverse=down)[:k]


def by(rows: Rows, *columns: str) -> list[Any]:
    """Sorted upwards, empty cells last."""
    return sorted(rows, key=lambda row: [(row[c] is None, row[c]) for c in columns])


def only(rows: Rows, *columns: str) -> list[Any]:
    return [{column: row[column] for column in columns} for row in rows]


def mean(values: list[Any]) -> float:
    full = [value for value in values if value is not None]
    return float(sum(full) / len(full))


def groups(rows: Rows, column: str) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return found


def per(rows: Rows, column: str, of: Callable[[list[Any]], Any]) -> list[Any]:
    return [(key, of(members)) for key, members in groups(rows, column).items()]


EASY = [
    _easy("flights", "show me top 3 flights sorted by price", lambda r: by(r, "unit_price_usd")[:3]),
    _easy("flights", "show me top 10 flights", lambda r: list(r)[:10]),
    _easy("flights", "the 3 cheapest flights", lambda r: top(r, "unit_price_usd", 3)),
    _easy("flights", "cheapest flight", lambda r: top(r, "unit_price_usd", 1)),
    _easy("flights", "what is the most expensive flight?", lambda r: top(r, "unit_price_usd", 1, down=True)),
    _easy(
        "flights",
        "flights under 200",
        lambda r: [x for x in r if x["unit_price_usd"] is not None and x["unit_price_usd"] < 200],
    ),
    _easy("flights", "flights from Paris", lambda r: [x for x in r if x["origin"] == "Paris"]),
    _easy("flights", "list all flights to Berlin", lambda r: [x for x in r if x["destination"] == "Berlin"]),
    _easy(
        "flights",
        "average price per airline",
        lambda r: per(r, "airline", lambda m: mean([x["unit_price_usd"] for x in m])),
        ordered=False,
    ),
    _easy("flights", "how many flights per airline", lambda r: per(r, "airline", len), ordered=False),
    _easy("flights", "sort by departure descending", lambda r: sorted(r, key=lambda x: x["dep_time"], reverse=True)),
    _easy("flights", "how many flights are there?", lambda r: [(len(r),)]),
    _easy("products", "products sorted by price", lambda r: by(r, "price")),
    _easy("products", "top 5 products by rating", lambda r: top(r, "rating", 5, down=True)),
    _easy("products", "bottom 2 products by price", lambda r: top(r, "price", 2)),
    _easy("products", "products with a rating of at least 4.5", lambda r: [x for x in r if (x["rating"] or 0) >= 4.5]),
    _easy("products", "products in Furniture", lambda r: [x for x in r if x["category"] == "Furniture"]),
    _easy("products", "only show name and price", lambda r: only(r, "name", "price")),
    _easy(
        "products",
        "total stock per category",
        lambda r: per(r, "category", lambda m: sum(x["stock"] for x in m)),
        ordered=False,
    ),
    _easy("products", "products missing a rating", lambda r: [x for x in r if x["rating"] is None]),
    _easy("products", "distinct categories", lambda r: [(c,) for c in groups(r, "category")]),
    _easy("products", 'name contains "Lamp"', lambda r: [x for x in r if "Lamp" in x["name"]]),
    _easy("products", "products between 30 and 130", lambda r: [x for x in r if 30 <= x["price"] <= 130]),
    _easy("employees", "employees in Sales", lambda r: [x for x in r if x["dept"] == "Sales"]),
    _easy("employees", "the oldest employee", lambda r: top(r, "age", 1, down=True)),
    _easy(
        "employees",
        "average salary by department",
        lambda r: per(r, "dept", lambda m: mean([x["annual_salary"] for x in m])),
        ordered=False,
    ),
    _easy("employees", "employees without an email", lambda r: [x for x in r if x["email"] is None]),
    _easy("employees", "employees with an email", lambda r: [x for x in r if x["email"] is not None]),
    _easy("employees", "remote employees", lambda r: [x for x in r if x["remote"]]),
    _easy("employees", "employees hired after 2020", lambda r: [x for x in r if x["hire_date"] > "2020-12-31"]),
    _easy("employees", "employees older than 40", lambda r: [x for x in r if x["age"] > 40]),
    _easy("employees", "count employees per department", lambda r: per(r, "dept", len), ordered=False),
    _easy("orders", "orders over 100", lambda r: [x for x in r if x["amount"] > 100]),
    _easy("orders", "shipped orders", lambda r: [x for x in r if x["status"] == "shipped"]),
    _easy("orders", "latest order", lambda r: top(r, "ordered_at", 1, down=True)),
    _easy(
        "orders",
        "total amount per customer",
        lambda r: per(r, "customer_id", lambda m: sum(x["amount"] for x in m)),
        ordered=False,
    ),
    _easy("orders", "how many orders are pending", lambda r: [(sum(x["status"] == "pending" for x in r),)]),
    _easy("movies", "movies by Ivy Park", lambda r: [x for x in r if x["director"] == "Ivy Park"]),
    _easy("movies", "movies released before 2005", lambda r: [x for x in r if x["release_year"] < 2005]),
    _easy("movies", "the 2 longest movies", lambda r: top(r, "runtime_min", 2, down=True)),
    _easy("movies", "number of movies per genre", lambda r: per(r, "genre", len), ordered=False),
    _easy("movies", "comedies", lambda r: [x for x in r if x["genre"] == "Comedy"]),
    _easy("cities", "cities in Germany", lambda r: [x for x in r if x["country"] == "Germany"]),
    _easy("cities", "top 3 cities by population", lambda r: top(r, "population", 3, down=True)),
    _easy(
        "cities", "cities with more than 2 million inhabitants", lambda r: [x for x in r if x["population"] > 2_000_000]
    ),
    _easy("hotels", "hotels with a pool", lambda r: [x for x in r if x["hasPool"]]),
    _easy("hotels", "4 star hotels", lambda r: [x for x in r if x["stars"] == 4]),
    _easy("hotels", "hotels in Nice", lambda r: [x for x in r if x["location"] == "Nice"]),
    _easy("tickets", "high priority tickets", lambda r: [x for x in r if x["priority"] == "high"]),
    _easy("tickets", "tickets assigned to Mia", lambda r: [x for x in r if x["assignee"] == "Mia"]),
    _easy("students", "students with a gpa above 3.5", lambda r: [x for x in r if x["gpa"] > 3.5]),
    _easy("students", "the youngest student", lambda r: top(r, "birthDate", 1, down=True)),
    _easy("cars", "the 2 cheapest cars", lambda r: top(r, "price_eur", 2)),
    _easy("cars", "hybrid cars", lambda r: [x for x in r if x["fuel"] == "hybrid"]),
    _easy("cars", "newest car", lambda r: top(r, "year", 1, down=True)),
    _easy(
        "sales",
        "total revenue by region",
        lambda r: per(r, "region", lambda m: sum(x["revenue"] or 0 for x in m)),
        ordered=False,
    ),
    _easy("sales", "sales in the North region", lambda r: [x for x in r if x["region"] == "North"]),
    _easy("sales", "first 4 rows", lambda r: list(r)[:4]),
    _easy("customers", "customers from Berlin", lambda r: [x for x in r if x["city"] == "Berlin"]),
]
