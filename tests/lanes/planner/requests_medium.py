"""Requests with two or three parts, and what comes out, worked out without the planner."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.lanes.planner.asking import Case, Rows
from tests.lanes.planner.requests_easy import by, groups, mean, only, per, top
from tests.lanes.planner.samples import CUSTOMERS


def _medium(table: str, prompt: str, expected: Callable[[Rows], list[Any]], *more: str, ordered: bool = True) -> Case:
    return Case("medium", table, prompt, expected, more, ordered)


def down(rows: Rows, column: str) -> list[Any]:
    return sorted(rows, key=lambda row: row[column], reverse=True)


def joined(rows: Rows) -> list[Any]:
    """Each order beside its customer."""
    return [{**row, **one} for row in rows for one in CUSTOMERS if one["id"] == row["customer_id"]]


def priced(rows: Rows) -> list[Any]:
    return [row for row in rows if row["unit_price_usd"] is not None]


MEDIUM = [
    _medium(
        "flights",
        "flights more expensive than average",
        lambda r: [x for x in priced(r) if x["unit_price_usd"] > mean([y["unit_price_usd"] for y in priced(r)])],
    ),
    _medium(
        "flights",
        "percentage of flights from Paris",
        lambda r: [(100 * sum(x["origin"] == "Paris" for x in r) / len(r),)],
    ),
    _medium("flights", "nonstop flights", lambda r: [x for x in r if x["stops"] == 0]),
    _medium("tickets", "oldest ticket", lambda r: top(r, "opened_on", 1)),
    _medium("tickets", "latest ticket", lambda r: top(r, "opened_on", 1, down=True)),
    _medium(
        "flights",
        "cheapest flight from Paris",
        lambda r: top([x for x in r if x["origin"] == "Paris"], "unit_price_usd", 1),
    ),
    _medium(
        "flights",
        "flights from Berlin or London under $200",
        lambda r: [x for x in priced(r) if x["origin"] in ("Berlin", "London") and x["unit_price_usd"] < 200],
    ),
    _medium(
        "flights",
        "flights with at most 1 stop sorted by price descending",
        lambda r: (
            [x for x in down(priced(r), "unit_price_usd") if x["stops"] <= 1]
            + [x for x in r if x["unit_price_usd"] is None and x["stops"] <= 1]
        ),
    ),
    _medium("flights", "flights longer than 2 hours", lambda r: [x for x in r if x["duration_min"] > 120]),
    _medium(
        "flights",
        "how many flights cost more than 150",
        lambda r: [(sum(x["unit_price_usd"] > 150 for x in priced(r)),)],
    ),
    _medium(
        "flights",
        "which airline has the most flights",
        lambda r: sorted(per(r, "airline", len), key=lambda p: -p[1])[:1],
    ),
    _medium(
        "flights",
        "the 2 airlines with the highest average price",
        lambda r: sorted(per(r, "airline", lambda m: mean([x["unit_price_usd"] for x in m])), key=lambda p: -p[1])[:2],
    ),
    _medium("flights", "flights in 2026", lambda r: [x for x in r if x["dep_time"].startswith("2026")]),
    _medium("flights", "flights departing before March 2026", lambda r: [x for x in r if x["dep_time"] < "2026-03-01"]),
    _medium("flights", "flights after 2026-03-01", lambda r: [x for x in r if x["dep_time"][:10] > "2026-03-01"]),
    _medium(
        "flights",
        "airline and price of flights to Berlin",
        lambda r: only([x for x in r if x["destination"] == "Berlin"], "airline", "unit_price_usd"),
    ),
    _medium("flights", "flights not from Paris", lambda r: [x for x in r if x["origin"] != "Paris"]),
    _medium(
        "flights",
        "sorted by airline then price descending",
        lambda r: sorted(
            sorted(r, key=lambda x: (x["unit_price_usd"] is None, -(x["unit_price_usd"] or 0))),
            key=lambda x: x["airline"],
        ),
    ),
    _medium(
        "products",
        "the three most expensive products that are not discontinued",
        lambda r: top([x for x in r if not x["discontinued"]], "price", 3, down=True),
    ),
    _medium(
        "products",
        "products under 100 with a rating above 4",
        lambda r: [x for x in r if x["price"] < 100 and (x["rating"] or 0) > 4],
    ),
    _medium(
        "products",
        "names of products that are discontinued",
        lambda r: only([x for x in r if x["discontinued"]], "name"),
    ),
    _medium(
        "products",
        "median price per category",
        lambda r: per(r, "category", lambda m: median([x["price"] for x in m])),
        ordered=False,
    ),
    _medium("products", "how many products cost less than 50", lambda r: [(sum(x["price"] < 50 for x in r),)]),
    _medium("products", "products with no stock", lambda r: [x for x in r if x["stock"] == 0]),
    _medium("products", 'name starts with "F"', lambda r: [x for x in r if x["name"].startswith("F")]),
    _medium(
        "products",
        "Lighting or Stationery products sorted by price",
        lambda r: by([x for x in r if x["category"] in ("Lighting", "Stationery")], "price"),
    ),
    _medium("products", "everything except Furniture", lambda r: [x for x in r if x["category"] != "Furniture"]),
    _medium(
        "products",
        "sort by category, then by price, highest first",
        lambda r: sorted(down(r, "price"), key=lambda x: x["category"]),
    ),
    _medium(
        "employees",
        "the 2 highest paid employees in Engineering",
        lambda r: top([x for x in r if x["dept"] == "Engineering"], "annual_salary", 2, down=True),
    ),
    _medium(
        "employees",
        "employees hired between 2012 and 2019",
        lambda r: [x for x in r if "2012" <= x["hire_date"] < "2020"],
    ),
    _medium(
        "employees",
        "minimum and maximum salary per department",
        lambda r: [
            (d, min(x["annual_salary"] for x in m), max(x["annual_salary"] for x in m))
            for d, m in groups(r, "dept").items()
        ],
        ordered=False,
    ),
    _medium(
        "employees",
        "average age of employees in Support",
        lambda r: [(mean([x["age"] for x in r if x["dept"] == "Support"]),)],
    ),
    _medium(
        "employees",
        "who is the youngest employee in Sales",
        lambda r: top([x for x in r if x["dept"] == "Sales"], "age", 1),
    ),
    _medium("employees", "employees earning more than 60k", lambda r: [x for x in r if x["annual_salary"] > 60000]),
    _medium(
        "employees",
        "full name and email of remote employees",
        lambda r: only([x for x in r if x["remote"]], "full_name", "email"),
    ),
    _medium("employees", "how many different departments", lambda r: [(3,)]),
    _medium("orders", "join orders with customers on customer id", lambda r: joined(r), "customers"),
    _medium("orders", "orders without a customer", lambda r: [x for x in r if x["customer_id"] == 9], "customers"),
    _medium(
        "orders",
        "pending or cancelled orders over 70",
        lambda r: [x for x in r if x["status"] in ("pending", "cancelled") and x["amount"] > 70],
    ),
    _medium(
        "orders",
        "add amount divided by quantity as unit_amount",
        lambda r: [{**x, "unit_amount": x["amount"] / x["quantity"]} for x in r],
    ),
    _medium("orders", "number of orders by status", lambda r: per(r, "status", len), ordered=False),
    _medium(
        "orders",
        "top 2 customers by total amount",
        lambda r: sorted(per(r, "customer_id", lambda m: sum(x["amount"] for x in m)), key=lambda p: -p[1])[:2],
    ),
    _medium(
        "orders", "orders placed in January 2026", lambda r: [x for x in r if x["ordered_at"].startswith("2026-01")]
    ),
    _medium(
        "movies",
        "title and score of the 3 best rated movies",
        lambda r: only(top(r, "score", 3, down=True), "title", "score"),
    ),
    _medium("movies", "movies from 2000 to 2015", lambda r: [x for x in r if 2000 <= x["release_year"] <= 2015]),
    _medium(
        "movies",
        "thrillers longer than 100 minutes",
        lambda r: [x for x in r if x["genre"] == "Thriller" and x["runtime_min"] > 100],
    ),
    _medium("movies", "second longest movie", lambda r: top(r, "runtime_min", 2, down=True)[1:]),
    _medium("cities", "countries with more than 2 cities", lambda r: [p for p in per(r, "country", len) if p[1] > 2]),
    _medium("cities", "capital cities sorted by area", lambda r: by([x for x in r if x["capital"]], "area_km2")),
    _medium(
        "cities",
        "total population per country sorted by total population descending",
        lambda r: sorted(per(r, "country", lambda m: sum(x["population"] for x in m)), key=lambda p: -p[1]),
    ),
    _medium(
        "hotels", "cheapest hotel in Paris", lambda r: top([x for x in r if x["location"] == "Paris"], "nightlyRate", 1)
    ),
    _medium(
        "hotels",
        "hotels with at least 4 stars and no pool",
        lambda r: [x for x in r if x["stars"] >= 4 and not x["hasPool"]],
    ),
    _medium(
        "hotels",
        "average nightly rate per location",
        lambda r: per(r, "location", lambda m: mean([x["nightlyRate"] for x in m])),
        ordered=False,
    ),
    _medium("tickets", "tickets with closed_on missing", lambda r: [x for x in r if x["closed_on"] is None]),
    _medium(
        "tickets",
        "tickets opened in March 2026 sorted by opened_on",
        lambda r: by([x for x in r if x["opened_on"].startswith("2026-03")], "opened_on"),
    ),
    _medium("tickets", "subject contains printer", lambda r: [x for x in r if "printer" in x["subject"].lower()]),
    _medium("tickets", "how many tickets per assignee", lambda r: per(r, "assignee", len), ordered=False),
    _medium(
        "students",
        "the top 2 students by gpa in North",
        lambda r: top([x for x in r if x["school"] == "North"], "gpa", 2, down=True),
    ),
    _medium("students", "students born before 2008-06-01", lambda r: [x for x in r if x["birthDate"] < "2008-06-01"]),
    _medium("cars", "cars with less than 50000 km", lambda r: [x for x in r if x["mileage_km"] < 50000]),
    _medium(
        "cars",
        "Volvo or Toyota under 15000",
        lambda r: [x for x in r if x["make"] in ("Volvo", "Toyota") and x["price_eur"] < 15000],
    ),
    _medium(
        "cars",
        "make, model and price of cars built after 2017",
        lambda r: only([x for x in r if x["year"] > 2017], "make", "model", "price_eur"),
    ),
    _medium(
        "sales",
        "total revenue by month",
        lambda r: [
            (m, sum(x["revenue"] or 0 for x in g) if any(x["revenue"] is not None for x in g) else None)
            for m, g in groups([{**x, "m": x["sold_on"][:7]} for x in r], "m").items()
        ],
        ordered=False,
    ),
    _medium("sales", "skip the first 2 rows and show the next 3", lambda r: list(r)[2:5]),
    _medium("customers", "customers who signed up since 2024", lambda r: [x for x in r if x["signup_date"] >= "2024"]),
]
