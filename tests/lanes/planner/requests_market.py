"""A hundred and seventy requests of three levels over plain tables, written before any of them was run."""

# ruff: noqa: E501 - a request and what comes of it stand on one line

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.lanes.planner.asking import Case, Rows
from tests.lanes.planner.requests_easy import by, groups, mean, only, per, top
from tests.lanes.planner.samples import Row
from tests.lanes.planner.samples_market import CUSTOMERS, GRADES, ORDERS, PRODUCTS, STUDENTS

Expected = Callable[[Rows], list[Any]]
Test = Callable[[Row], Any]


def having(test: Test) -> Expected:
    """The rows for which this is so."""
    return lambda rows: [row for row in rows if test(row)]


def down(rows: Rows, column: str) -> list[Any]:
    """Sorted downwards, empty cells last."""
    full = [row for row in rows if row[column] is not None]
    return sorted(full, key=lambda row: row[column], reverse=True) + [row for row in rows if row[column] is None]


def refused(rows: Rows) -> list[Any]:
    """An expected answer without rows stands for a refusal."""
    return []


def one(value: Callable[[Rows], Any]) -> Expected:
    """One row with one cell."""
    return lambda rows: [(value(rows),)]


def a(level: str, table: str, prompt: str, expected: Expected, *more: str) -> Case:
    return Case(level, table, prompt, expected, more=more, ordered=False)


def o(level: str, table: str, prompt: str, expected: Expected, *more: str) -> Case:
    """The order was asked for."""
    return Case(level, table, prompt, expected, more=more, ordered=True)


def beside(rows: Rows, others: Rows, key: str, *, left: bool = False) -> list[Any]:
    """Each row with its partners, as tuples of cells."""
    names = [name for name in others[0] if name != key]
    found = []
    for row in rows:
        partners = [other for other in others if other[key] == row[key]]
        found += [(*row.values(), *(other[n] for n in names)) for other in partners]
        if left and not partners:
            found.append((*row.values(), *(None for _ in names)))
    return found


def joined(rows: Rows, others: Rows, key: str) -> list[Row]:
    """Each row with its partners, as rows; a name that both have is that of the first."""
    return [{**other, **row} for row in rows for other in others if other[key] == row[key]]


def total(column: str) -> Callable[[Rows], Any]:
    return lambda rows: round(sum(row[column] for row in rows if row[column] is not None), 9)


def avg(column: str) -> Callable[[Rows], Any]:
    return lambda rows: mean([row[column] for row in rows])


def grouped(column: str, of: Callable[[Rows], Any]) -> Expected:
    return lambda rows: per(rows, column, of)


def lacks(rows: Rows, others: Rows, key: str) -> list[Any]:
    there = {other[key] for other in others}
    return [row for row in rows if row[key] not in there]


ONE = [
    o("1", "orders", "show the 3 largest orders by total", lambda r: top(r, "total", 3, down=True)),
    o("1", "orders", "list all orders sorted by created_at, newest first", lambda r: down(r, "created_at")),
    a("1", "orders", "pending orders", having(lambda x: x["status"] == "pending")),
    a("1", "orders", "how many orders are there", one(len)),
    o("1", "orders", "the latest order", lambda r: down(r, "created_at")[:1]),
    a("1", "orders", "orders with quantity greater than 2", having(lambda x: x["quantity"] > 2)),
    o("1", "products", "top 3 most expensive products", lambda r: top(r, "price", 3, down=True)),
    o("1", "products", "what is the cheapest product?", lambda r: top(r, "price", 1)),
    a("1", "products", "products in the Office category", having(lambda x: x["category"] == "Office")),
    a("1", "products", "show only name and price", lambda r: only(r, "name", "price")),
    o("1", "products", "sort products by rating descending", lambda r: down(r, "rating")),
    a("1", "products", "products that are out of stock", having(lambda x: x["stock"] == 0)),
    o("1", "products", "bottom 2 products by rating", lambda r: top(r, "rating", 2)),
    a("1", "products", "how many products do we sell", refused),
    a("1", "products", "count the products", one(len)),
    o("1", "employees", "who earns the most?", lambda r: top(r, "salary", 1, down=True)),
    o("1", "employees", "the 2 lowest paid employees", lambda r: top(r, "salary", 2)),
    a("1", "employees", "employees in Engineering", having(lambda x: x["department"] == "Engineering")),
    a("1", "employees", "list employee names and cities", lambda r: only(r, "name", "city")),
    o("1", "employees", "most recently hired employee", lambda r: down(r, "hire_date")[:1]),
    o("1", "employees", "sort employees alphabetically by name", lambda r: by(r, "name")),
    a("1", "employees", "everyone who works in Denver", having(lambda x: x["city"] == "Denver")),
    a("1", "employees", "number of employees", one(len)),
    o("1", "flights", "3 cheapest flights", lambda r: top(r, "price", 3)),
    a("1", "flights", "direct flights", having(lambda x: x["stops"] == 0)),
    a("1", "flights", "flights from Boston", having(lambda x: x["origin"] == "Boston")),
    o("1", "flights", "longest flight", lambda r: top(r, "duration", 1, down=True)),
    o("1", "flights", "order flights by departure", lambda r: by(r, "departure")),
    a("1", "flights", "flights operated by Zephyr", having(lambda x: x["airline"] == "Zephyr")),
    o("1", "students", "top 3 students by GPA", lambda r: top(r, "gpa", 3, down=True)),
    o("1", "students", "youngest student", lambda r: top(r, "age", 1)),
    a("1", "students", "students in grade 10", having(lambda x: x["grade"] == 10)),
    a("1", "students", "first name and last name of all students", lambda r: only(r, "first_name", "last_name")),
    a("1", "grades", "grades below 70", having(lambda x: x["score"] < 70)),
    o("1", "grades", "highest score in Math", lambda r: [(96,)]),
    o("1", "readings", "hottest reading", lambda r: top(r, "temperature", 1, down=True)),
    a("1", "readings", "readings with battery under 20", having(lambda x: x["battery"] < 20)),
    a("1", "readings", "average temperature", one(avg("temperature"))),
    a("1", "readings", "readings from the Cellar", having(lambda x: x["location"] == "Cellar")),
    a("1", "books", "books by Ann Marsh", having(lambda x: x["author"] == "Ann Marsh")),
    o("1", "books", "longest book", lambda r: top(r, "pages", 1, down=True)),
    a("1", "books", "books published after 2010", having(lambda x: x["published"] > 2010)),
    a("1", "books", "titles of all books", lambda r: only(r, "title")),
    a("1", "books", "books still in print", having(lambda x: x["in_print"])),
    a("1", "tickets", "open tickets", having(lambda x: x["status"] == "open")),
    a("1", "tickets", "how many tickets are open?", one(lambda r: 3)),
    a("1", "tickets", "unassigned tickets", having(lambda x: x["assignee"] is None)),
    o("1", "tickets", "oldest ticket", lambda r: top(r, "opened_at", 1)),
    o("1", "stockroom", "cheapest item", lambda r: top(r, "unitCost", 1)),
    a("1", "stockroom", "items in aisle 5", having(lambda x: x["aisle"] == 5)),
]  # fmt: skip

TWO = [
    o("2", "orders", "shipped orders sorted by total from high to low", lambda r: down([x for x in r if x["status"] == "shipped"], "total")),
    a("2", "orders", "total sales per customer", refused),
    a("2", "orders", "sum of total per customer_id", grouped("customer_id", total("total"))),
    a("2", "orders", "number of orders per status", grouped("status", len)),
    a("2", "orders", "orders placed between 2024-02-01 and 2024-03-15", having(lambda x: "2024-02-01" <= x["created_at"] <= "2024-03-15")),
    a("2", "orders", "orders created in March 2024", having(lambda x: x["created_at"][:7] == "2024-03")),
    a("2", "orders", "orders that are either pending or cancelled", having(lambda x: x["status"] in ("pending", "cancelled"))),
    a("2", "orders", "how many different customers placed an order", one(lambda r: 4)),
    o("2", "orders", "the 2 most recent shipped orders", lambda r: down([x for x in r if x["status"] == "shipped"], "created_at")[:2]),
    a("2", "orders", "orders with a total between 50 and 150", having(lambda x: 50 <= x["total"] <= 150)),
    a("2", "orders", "average order total by status", grouped("status", avg("total"))),
    a("2", "orders", "orders before February 2024 that are still pending", having(lambda x: x["created_at"] < "2024-02" and x["status"] == "pending")),
    a("2", "orders", "how many orders were placed each month", lambda r: [("2024-01", 2), ("2024-02", 2), ("2024-03", 3), ("2024-04", 1)]),
    a("2", "orders", "orders which are not cancelled", having(lambda x: x["status"] != "cancelled")),
    a("2", "customers", "customers without an email", having(lambda x: x["email"] is None)),
    a("2", "customers", "customers whose email ends with post.test", having(lambda x: (x["email"] or "").endswith("post.test"))),
    a("2", "customers", "number of customers in each country", grouped("country", len)),
    a("2", "customers", "names of customers from Boston or Toronto", lambda r: only([x for x in r if x["city"] in ("Boston", "Toronto")], "name")),
    a("2", "customers", "list of unique countries", lambda r: [("USA",), ("Portugal",), ("Canada",), ("Norway",)]),
    a("2", "customers", "how many distinct cities do customers live in", one(lambda r: 4)),
    a("2", "products", "average price per category", grouped("category", avg("price"))),
    a("2", "products", "products whose name contains desk", having(lambda x: "desk" in x["name"].lower())),
    a("2", "products", 'products with a name that starts with "Desk"', having(lambda x: x["name"].startswith("Desk"))),
    o("2", "products", "Electronics products under 100 sorted by price", lambda r: by([x for x in r if x["category"] == "Electronics" and x["price"] < 100], "price")),
    a("2", "products", "products without a rating", having(lambda x: x["rating"] is None)),
    a("2", "products", "products rated above 4 that cost less than 50", having(lambda x: (x["rating"] or 0) > 4 and x["price"] < 50)),
    a("2", "products", "max price in each category", grouped("category", lambda m: max(x["price"] for x in m))),
    a("2", "products", "total stock by supplier", grouped("supplier", total("stock"))),
    o("2", "products", "name and rating of the 3 best rated products", lambda r: only(top(r, "rating", 3, down=True), "name", "rating")),
    a("2", "products", "products priced between 10 and 50", having(lambda x: 10 <= x["price"] <= 50)),
    a("2", "products", "products where category is Home or Travel and price is below 40", having(lambda x: x["category"] in ("Home", "Travel") and x["price"] < 40)),
    a("2", "products", "how many products does each supplier have", grouped("supplier", len)),
    a("2", "employees", "average salary by department", grouped("department", avg("salary"))),
    a("2", "employees", "median salary per department", grouped("department", lambda m: median(x["salary"] for x in m))),
    a("2", "employees", "employees hired since 2020", having(lambda x: x["hire_date"] >= "2020")),
    a("2", "employees", "employees hired in 2018 or 2019", having(lambda x: x["hire_date"][:4] in ("2018", "2019"))),
    a("2", "employees", "employees who report to Lars", having(lambda x: x["manager"] == "Lars")),
    a("2", "employees", "employees with no manager", having(lambda x: x["manager"] is None)),
    o("2", "employees", "top 2 earners in Engineering", lambda r: top([x for x in r if x["department"] == "Engineering"], "salary", 2, down=True)),
    a("2", "employees", "employees earning between 50000 and 75000", having(lambda x: 50000 <= x["salary"] <= 75000)),
    o("2", "employees", "headcount by department, largest first", lambda r: sorted(per(r, "department", len), key=lambda p: -p[1])),
    a("2", "employees", "how many people work in each city", grouped("city", len)),
    a("2", "employees", "total salary of the Marketing department", one(lambda r: 163000)),
    o("2", "employees", "names and salaries of Austin employees, highest paid first", lambda r: only(down([x for x in r if x["city"] == "Austin"], "salary"), "name", "salary")),
    o("2", "flights", "cheapest flight from Boston to Denver", lambda r: [r[5]]),
    a("2", "flights", "flights under 200 with no stops", having(lambda x: x["price"] < 200 and x["stops"] == 0)),
    a("2", "flights", "flights departing after 2025-06-04", having(lambda x: x["departure"] > "2025-06-04")),
    a("2", "flights", "lowest price per destination", grouped("destination", lambda m: min(x["price"] for x in m))),
    a("2", "flights", "flights with Quanta or Altair that have at most 1 stop", having(lambda x: x["airline"] in ("Quanta", "Altair") and x["stops"] <= 1)),
    a("2", "flights", "how many flights leave from each origin", grouped("origin", len)),
    a("2", "students", "average gpa per grade", grouped("grade", avg("gpa"))),
    a("2", "students", "students whose last name starts with S", having(lambda x: x["last_name"].startswith("S"))),
    o("2", "students", "students older than 16 sorted by last name", lambda r: by([x for x in r if x["age"] > 16], "last_name")),
    a("2", "grades", "average score per subject", grouped("subject", avg("score"))),
    a("2", "grades", "Math scores above 60", having(lambda x: x["subject"] == "Math" and x["score"] > 60)),
    a("2", "readings", "average humidity per location", grouped("location", lambda m: mean([x["humidity"] for x in m]))),
    a("2", "readings", "readings where humidity is missing", having(lambda x: x["humidity"] is None)),
    a("2", "readings", "readings recorded on 2025-07-03", having(lambda x: x["recorded_at"][:10] == "2025-07-03")),
    a("2", "readings", "max and min temperature for each sensor", lambda r: [("S-1", 33.1, 31.5), ("S-2", 14.2, 13.8), ("S-3", 26.5, 24), ("S-4", None, None)]),
    o("2", "books", "fiction books sorted by year published", lambda r: by([x for x in r if x["genre"] == "Fiction"], "published")),
    a("2", "books", "books with more than 300 pages that cost under 15", having(lambda x: x["pages"] > 300 and x["price"] < 15)),
    a("2", "books", "how many books has each author written", grouped("author", len)),
    a("2", "books", "books whose title begins with The", having(lambda x: x["title"].startswith("The"))),
    a("2", "tickets", "tickets with high or urgent priority", having(lambda x: x["priority"] in ("high", "urgent"))),
    a("2", "tickets", "number of open tickets per assignee", lambda r: per([x for x in r if x["status"] == "open"], "assignee", len)),
    a("2", "tickets", "tickets about refunds", refused),
    a("2", "tickets", "tickets with refund in the subject", having(lambda x: "refund" in x["subject"].lower())),
    a("2", "tickets", "tickets that have not been closed", having(lambda x: x["status"] != "closed")),
    a("2", "tickets", "total hours spent per assignee", grouped("assignee", total("hours_spent"))),
    a("2", "stockroom", "items with fewer than 20 on hand", having(lambda x: x["qtyOnHand"] < 20)),
]  # fmt: skip

THREE = [
    a("3", "orders", "join orders with customers on customer_id", lambda r: beside(r, CUSTOMERS, "customer_id"), "customers"),
    a("3", "orders", "join orders and products by product_id", lambda r: beside(r, PRODUCTS, "product_id"), "products"),
    a("3", "customers", "customers without orders", lambda r: lacks(r, ORDERS, "customer_id"), "orders"),
    a("3", "customers", "customers who never placed an order", lambda r: lacks(r, ORDERS, "customer_id"), "orders"),
    a("3", "products", "products that were never ordered", lambda r: lacks(r, ORDERS, "product_id"), "orders"),
    a("3", "students", "students who have no grades", lambda r: lacks(r, GRADES, "student_id"), "grades"),
    a("3", "orders", "orders with the customer's name and city", lambda r: [(*x.values(), c["name"], c["city"]) for x in r for c in CUSTOMERS if c["customer_id"] == x["customer_id"]], "customers"),
    a("3", "orders", "number of orders per country, joining customers on customer_id", lambda r: per(joined(r, CUSTOMERS, "customer_id"), "country", len), "customers"),
    a("3", "orders", "join orders with customers on customer_id and show the total per country", lambda r: per(joined(r, CUSTOMERS, "customer_id"), "country", total("total")), "customers"),
    a("3", "orders", "join orders with products on product_id, then sum of total per category", lambda r: per(joined(r, PRODUCTS, "product_id"), "category", total("total")), "products"),
    a("3", "grades", "join grades with students on student_id and show first_name, subject and score", lambda r: only(joined(r, STUDENTS, "student_id"), "first_name", "subject", "score"), "students"),
    a("3", "grades", "average score per grade, joining students on student_id", lambda r: per(joined(r, STUDENTS, "student_id"), "grade", avg("score")), "students"),
    o("3", "orders", "join orders with customers on customer_id, keep only USA and sort by total descending", lambda r: [(*x.values(), *list(c.values())[1:]) for x in down(r, "total") for c in CUSTOMERS if c["customer_id"] == x["customer_id"] and c["country"] == "USA"], "customers"),
    a("3", "customers", "left join customers with orders on customer_id", lambda r: beside(r, ORDERS, "customer_id", left=True), "orders"),
    a("3", "products", "add a column value that is price times stock", lambda r: [(*x.values(), x["price"] * x["stock"]) for x in r]),
    a("3", "products", "add a new column inventory_value = price * stock", lambda r: [(*x.values(), x["price"] * x["stock"]) for x in r]),
    a("3", "products", "name and price times stock as value", lambda r: [(x["name"], x["price"] * x["stock"]) for x in r]),
    o("3", "products", "top 3 products by price times stock", lambda r: sorted(r, key=lambda x: -x["price"] * x["stock"])[:3]),
    a("3", "products", "total inventory value per category, where value is price times stock", lambda r: per([{**x, "v": x["price"] * x["stock"]} for x in r], "category", total("v"))),
    a("3", "stockroom", "calculate unitCost multiplied by qtyOnHand as total_cost", lambda r: [(*x.values(), x["unitCost"] * x["qtyOnHand"]) for x in r]),
    a("3", "books", "add price per page as price divided by pages", lambda r: [(*x.values(), x["price"] / x["pages"]) for x in r]),
    a("3", "employees", "departments with an average salary above 70000", lambda r: [(k, mean([x["salary"] for x in m])) for k, m in groups(r, "department").items() if mean([x["salary"] for x in m]) > 70000]),
    a("3", "employees", "departments with more than 2 employees", lambda r: [(k, len(m)) for k, m in groups(r, "department").items() if len(m) > 2]),
    a("3", "employees", "cities with at least 3 employees", lambda r: [(k, len(m)) for k, m in groups(r, "city").items() if len(m) >= 3]),
    o("3", "employees", "department with the highest average salary", lambda r: [("Engineering", mean([125000, 98000, 105000]))]),
    a("3", "employees", "highest paid employee in each department", lambda r: [top(m, "salary", 1, down=True)[0] for m in groups(r, "department").values()]),
    a("3", "employees", "top 2 earners per department", refused),
    o("3", "customers", "which country has the most customers", refused),
    a("3", "orders", "customer_ids with more than 2 orders", lambda r: [(1, 3)]),
    o("3", "orders", "the 2 customer_ids with the highest total amount spent", refused),
    a("3", "orders", "latest order per customer_id", lambda r: [down(m, "created_at")[0] for m in groups(r, "customer_id").values()]),
    a("3", "orders", "statuses with more than 1 order", lambda r: [(k, len(m)) for k, m in groups(r, "status").items() if len(m) > 1]),
    a("3", "flights", "cheapest flight for each airline", lambda r: [top(m, "price", 1)[0] for m in groups(r, "airline").values()]),
    o("3", "flights", "airlines ranked by average price, highest first", lambda r: sorted(per(r, "airline", avg("price")), key=lambda p: -p[1])),
    a("3", "flights", "airlines whose average price is below 200", lambda r: [(k, mean([x["price"] for x in m])) for k, m in groups(r, "airline").items() if mean([x["price"] for x in m]) < 200]),
    o("3", "flights", "average price by airline for flights from Boston, cheapest first", lambda r: sorted(per([x for x in r if x["origin"] == "Boston"], "airline", avg("price")), key=lambda p: p[1])),
    a("3", "grades", "subjects with an average score over 80", lambda r: [(k, mean([x["score"] for x in m])) for k, m in groups(r, "subject").items() if mean([x["score"] for x in m]) > 80]),
    a("3", "grades", "pivot score by student_id and subject", refused),
    a("3", "grades", "pivot with student_id as rows, subject as columns and score as values", refused),
    a("3", "books", "authors with more than one book", lambda r: [(k, len(m)) for k, m in groups(r, "author").items() if len(m) > 1]),
    a("3", "books", "genres with more than 500 pages in total", lambda r: [(k, total("pages")(m)) for k, m in groups(r, "genre").items() if total("pages")(m) > 500]),
    a("3", "tickets", "assignees with more than 4 hours spent in total", lambda r: [("Wes", 10), ("Yara", 5)]),
    o("3", "tickets", "count tickets per priority and sort by count descending", lambda r: [("high", 3), ("low", 2), ("urgent", 1), ("medium", 1)]),
    a("3", "tickets", "count of tickets by status and priority", lambda r: [(*k, len([x for x in r if (x["status"], x["priority"]) == k])) for k in dict.fromkeys((x["status"], x["priority"]) for x in r)]),
    o("3", "readings", "locations sorted by average temperature, hottest first", lambda r: [("Attic", 32.3), ("Garage", 25.25), ("Cellar", 14.0), ("Porch", None)]),
    a("3", "readings", "latest reading for each sensor", lambda r: [down(m, "recorded_at")[0] for m in groups(r, "sensor").values()]),
    o("3", "orders", "group orders by status, show the total and the number of orders, sorted by total descending", refused),
    a("3", "orders", "orders of customers from Canada", lambda r: [x for x in r if x["customer_id"] in (3, 6)], "customers"),
    a("3", "orders", "average quantity and total of shipped orders", lambda r: [(mean([2, 5, 3]), mean([59.8, 62.5, 135]))]),
    o("3", "products", "categories by number of products, most first", lambda r: sorted(per(r, "category", len), key=lambda p: -p[1])),
]  # fmt: skip
MARKET = [*ONE, *TWO, *THREE]
