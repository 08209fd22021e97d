"""Requests with several clauses, groups, joins and traps, and what comes out, worked out without the planner."""

# ruff: noqa: E501 - a request and what comes of it stand on one line

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.lanes.planner.asking import Case, Rows
from tests.lanes.planner.requests_easy import by, groups, mean, only, per, top
from tests.lanes.planner.requests_medium import down, joined, priced
from tests.lanes.planner.samples import CUSTOMERS, ORDERS


def _hard(table: str, prompt: str, expected: Callable[[Rows], list[Any]], *more: str, ordered: bool = True) -> Case:
    return Case("hard", table, prompt, expected, more, ordered)


def best_of_each(rows: Rows, group: str, column: str) -> list[Any]:
    found = [max(members, key=lambda x: x[column]) for members in groups(rows, group).values()]
    return sorted(found, key=lambda x: x[column], reverse=True)


HARD = [
    _hard("flights", "most expensive flight per airline", lambda r: best_of_each(priced(r), "airline", "unit_price_usd")),
    _hard("flights", "sort by price descending, take the first 3, then sort by duration", lambda r: by(top(r, "unit_price_usd", 3, down=True), "duration_min")),
    _hard("flights", "the 3 cheapest flights sorted by departure", lambda r: by(top(r, "unit_price_usd", 3), "dep_time")),
    _hard("flights", "average price of flights from Paris to Rome or London", lambda r: [(mean([x["unit_price_usd"] for x in r if x["origin"] == "Paris" and x["destination"] in ("Rome", "London")]),)]),
    _hard("flights", "for each airline, the number of flights and the average duration", lambda r: [(a, len(m), mean([x["duration_min"] for x in m])) for a, m in groups(r, "airline").items()], ordered=False),
    _hard("flights", "how many flights does each airline have", lambda r: per(r, "airline", len), ordered=False),
    _hard("flights", "flights from Paris with no stops under 100 dollars", lambda r: [x for x in priced(r) if x["origin"] == "Paris" and x["stops"] == 0 and x["unit_price_usd"] < 100]),
    _hard("flights", "airlines with an average price over 200", lambda r: [p for p in per(r, "airline", lambda m: mean([x["unit_price_usd"] for x in m]) if any(x["unit_price_usd"] for x in m) else None) if p[1] and p[1] > 200]),
    _hard("flights", "flights between 2026-03-01 and 2026-05-05", lambda r: [x for x in r if "2026-03-01" <= x["dep_time"][:10] <= "2026-05-05"]),
    _hard("products", "how many products in Furniture cost at least 150", lambda r: [(2,)]),
    _hard("products", "average price and average rating per category", lambda r: [(c, mean([x["price"] for x in m]), mean([x["rating"] for x in m])) for c, m in groups(r, "category").items()], ordered=False),
    _hard("products", "compute price times stock as stock_value and show the top 2 by stock_value", lambda r: sorted([{**x, "stock_value": x["price"] * x["stock"]} for x in r], key=lambda x: -x["stock_value"])[:2]),
    _hard("products", "which category has the lowest average price", lambda r: sorted(per(r, "category", lambda m: mean([x["price"] for x in m])), key=lambda p: p[1])[:1]),
    _hard("products", "name as product and price of the 2 cheapest products in Lighting", lambda r: [{"product": x["name"], "price": x["price"]} for x in top([x for x in r if x["category"] == "Lighting"], "price", 2)]),
    _hard("products", "products under 20 or over 400", lambda r: [x for x in r if x["price"] < 20 or x["price"] > 400]),
    _hard("products", "rows 3 to 5 sorted by price", lambda r: by(r, "price")[2:5]),
    _hard("products", "drop the sku and stock columns", lambda r: [{k: v for k, v in x.items() if k not in ("sku", "stock")} for x in r]),
    _hard("products", "rename price to cost", lambda r: [{("cost" if k == "price" else k): v for k, v in x.items()} for x in r]),
    _hard("products", "first 3 products that have a rating, cheapest first", lambda r: by([x for x in r if x["rating"] is not None], "price")[:3]),
    _hard("products", "what's the total stock of Stationery products?", lambda r: [(308,)]),
    _hard("employees", "employees in Engineering or Sales who are not remote", lambda r: [x for x in r if x["dept"] in ("Engineering", "Sales") and not x["remote"]]),
    _hard("employees", "department with the highest total salary", lambda r: sorted(per(r, "dept", lambda m: sum(x["annual_salary"] for x in m)), key=lambda p: -p[1])[:1]),
    _hard("employees", "how many employees in each department earn more than 50000", lambda r: per([x for x in r if x["annual_salary"] > 50000], "dept", len), ordered=False),
    _hard("employees", "group by dept and show average age", lambda r: per(r, "dept", lambda m: mean([x["age"] for x in m])), ordered=False),
    _hard("employees", "oldest employee per department", lambda r: best_of_each(r, "dept", "age")),
    _hard("orders", "orders with the customer's name", lambda r: [{**x, "name": next((c["name"] for c in CUSTOMERS if c["id"] == x["customer_id"]), None)} for x in r], "customers"),
    _hard("orders", "join orders with customers on customer_id, then total amount per city", lambda r: per(joined(r), "city", lambda m: sum(x["amount"] for x in m)), "customers", ordered=False),
    _hard("customers", "customers who have no orders", lambda r: [x for x in r if x["id"] not in {o["customer_id"] for o in ORDERS}], "orders"),
    _hard("orders", "orders that are not cancelled, biggest amount first", lambda r: down([x for x in r if x["status"] != "cancelled"], "amount")),
    _hard("orders", "total amount of shipped orders since 2026-01-01", lambda r: [(290,)]),
    _hard("movies", "which director has the highest average score", lambda r: sorted(per(r, "director", lambda m: mean([x["score"] for x in m])), key=lambda p: -p[1])[:1]),
    _hard("movies", "dramas and comedies from before 2010", lambda r: [x for x in r if x["genre"] in ("Drama", "Comedy") and x["release_year"] < 2010]),
    _hard("movies", "titles of movies with a score above 7 sorted by release year, newest first", lambda r: only(down([x for x in r if x["score"] > 7], "release_year"), "title")),
    _hard("cities", "the 2 countries with the largest total population", lambda r: sorted(per(r, "country", lambda m: sum(x["population"] for x in m)), key=lambda p: -p[1])[:2]),
    _hard("hotels", "hotels rated above 8.5 that cost less than 150", lambda r: [x for x in r if (x["guestRating"] or 0) > 8.5 and x["nightlyRate"] < 150]),
    _hard("hotels", "the best rated hotel with a pool under 200", lambda r: top([x for x in r if x["hasPool"] and x["nightlyRate"] < 200], "guestRating", 1, down=True)),
    _hard("tickets", "ticket with the latest opened_on assigned to Noah", lambda r: top([x for x in r if x["assignee"] == "Noah"], "opened_on", 1, down=True)),
    _hard("tickets", "tickets with high or medium priority that are missing closed_on", lambda r: [x for x in r if x["priority"] in ("high", "medium") and x["closed_on"] is None]),
    _hard("students", "average gpa per school, highest first", lambda r: sorted(per(r, "school", lambda m: mean([x["gpa"] for x in m])), key=lambda p: -p[1])),
    _hard("cars", "cars between 10k and 20k euros with under 100000 km, sorted by mileage", lambda r: by([x for x in r if 10000 <= x["price_eur"] <= 20000 and x["mileage_km"] < 100000], "mileage_km")),
    _hard("sales", "total revenue and units per region", lambda r: [(g, sum(x["revenue"] or 0 for x in m), sum(x["units"] for x in m)) for g, m in groups(r, "region").items()], ordered=False),
    _hard("sales", "reps with more than 1 sale", lambda r: [p for p in per(r, "rep", len) if p[1] > 1]),
    _hard("sales", "number of distinct reps per region", lambda r: per(r, "region", lambda m: len({x["rep"] for x in m})), ordered=False),
]  # fmt: skip
