"""Eleven tables of a shop, a school, a library and a help desk, named in plain words."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

ORDERS = table(
    "order_id customer_id product_id quantity total status created_at",
    "1001 | 1 | 11 | 2 | 59.8 | shipped | 2024-01-15",
    "1002 | 2 | 13 | 1 | 249 | pending | 2024-01-20",
    "1003 | 1 | 12 | 5 | 62.5 | shipped | 2024-02-03",
    "1004 | 3 | 11 | 1 | 29.9 | cancelled | 2024-02-14",
    "1005 | 5 | 15 | 3 | 135 | shipped | 2024-03-01",
    "1006 | 2 | 14 | 10 | 40 | delivered | 2024-03-09",
    "1007 | 1 | 13 | 1 | 249 | delivered | 2024-03-22",
    "1008 | 3 | 16 | 2 | 158 | pending | 2024-04-02",
)
CUSTOMERS = table(
    "customer_id name email city country",
    "1 | Alice Brown | alice@mail.test | Boston | USA",
    "2 | Bruno Costa | - | Lisbon | Portugal",
    "3 | Chen Wei | chen@mail.test | Toronto | Canada",
    "4 | Dana Levi | dana@post.test | Boston | USA",
    "5 | Erik Holm | erik@post.test | Oslo | Norway",
    "6 | Fatima Noor | - | Toronto | Canada",
)
PRODUCTS = table(
    "product_id name category price stock rating supplier",
    "11 | Desk Lamp | Home | 29.9 | 40 | 4.2 | Lumo",
    "12 | Notebook | Office | 12.5 | 200 | 4.7 | Papyr",
    "13 | Headphones | Electronics | 249 | 15 | 4.5 | Sonix",
    "14 | Pen Set | Office | 4 | 500 | 3.9 | Papyr",
    "15 | Backpack | Travel | 45 | 60 | - | Trek",
    "16 | Bluetooth Speaker | Electronics | 79 | 0 | 4.1 | Sonix",
    "17 | Desk Chair | Home | 189 | 8 | 4.6 | -",
    "18 | Travel Mug | Travel | 18.5 | 75 | 3.6 | Trek",
)
EMPLOYEES = table(
    "id name department salary hire_date manager city",
    "1 | Grace | Engineering | 125000 | 2015-03-01 | - | Austin",
    "2 | Hector | Engineering | 98000 | 2019-07-15 | Grace | Austin",
    "3 | Imani | Marketing | 72000 | 2021-01-10 | Lars | Denver",
    "4 | Jonas | Engineering | 105000 | 2018-11-05 | Grace | Denver",
    "5 | Kira | Support | 48000 | 2022-05-23 | Lars | Austin",
    "6 | Lars | Marketing | 91000 | 2016-09-12 | - | Chicago",
    "7 | Mona | Support | 51000 | 2020-02-17 | Lars | Chicago",
    "8 | Noel | Sales | 67000 | 2023-08-01 | Lars | Denver",
)
FLIGHTS = table(
    "flight airline origin destination price duration stops departure",
    "QX11 | Quanta | Boston | Denver | 180 | 260 | 0 | 2025-06-01",
    "QX12 | Quanta | Denver | Boston | 210 | 240 | 0 | 2025-06-03",
    "ZR45 | Zephyr | Boston | Miami | 95 | 200 | 1 | 2025-06-02",
    "ZR46 | Zephyr | Miami | Chicago | 130 | 190 | 0 | 2025-06-05",
    "AL70 | Altair | Chicago | Denver | 320 | 410 | 2 | 2025-06-04",
    "AL71 | Altair | Boston | Denver | 150 | 330 | 1 | 2025-06-07",
    "QX13 | Quanta | Chicago | Miami | 275 | 185 | 0 | 2025-06-06",
)
STUDENTS = table(
    "student_id first_name last_name grade age gpa",
    "501 | Omar | Reyes | 10 | 15 | 3.4",
    "502 | Paula | Singh | 11 | 16 | 3.9",
    "503 | Quinn | Adams | 10 | 16 | 2.8",
    "504 | Rosa | Silva | 12 | 17 | 3.6",
    "505 | Seth | Mori | 11 | 17 | 2.5",
    "506 | Tara | Stone | 12 | 18 | 3.1",
)
GRADES = table(
    "student_id subject score exam_date",
    "501 | Math | 78 | 2025-05-12",
    "501 | History | 85 | 2025-05-14",
    "502 | Math | 96 | 2025-05-12",
    "502 | Biology | 91 | 2025-05-16",
    "503 | Math | 58 | 2025-05-12",
    "504 | History | 73 | 2025-05-14",
    "504 | Biology | 88 | 2025-05-16",
    "505 | Math | 64 | 2025-05-12",
)
READINGS = table(
    "sensor location temperature humidity battery recorded_at",
    "S-1 | Attic | 31.5 | 38 | 90 | 2025-07-01T08:00",
    "S-2 | Cellar | 14.2 | 71 | 15 | 2025-07-01T08:05",
    "S-1 | Attic | 33.1 | 35 | 88 | 2025-07-02T08:00",
    "S-3 | Garage | 24 | - | 62 | 2025-07-02T09:30",
    "S-2 | Cellar | 13.8 | 74 | 12 | 2025-07-03T08:10",
    "S-3 | Garage | 26.5 | 52 | 60 | 2025-07-03T09:45",
    "S-4 | Porch | - | 44 | 5 | 2025-07-03T10:00",
)
BOOKS = table(
    "title author genre pages published price in_print",
    "The Long Tide | Ann Marsh | Fiction | 412 | 1998 | 14.99 | true",
    "Salt and Stone | Ben Okri | History | 560 | 2011 | 24.5 | true",
    "Night Garden | Ann Marsh | Fiction | 288 | 2004 | 11 | false",
    "Small Engines | Cy Dole | Science | 198 | 2020 | 18 | true",
    "The Quiet Map | Dee Roth | Fiction | 350 | 2016 | 13.5 | true",
    "Stars by Hand | Cy Dole | Science | 240 | 1987 | 9.75 | false",
    "A Short Winter | Eve Lund | Poetry | 96 | 2019 | 8 | true",
)
TICKETS = table(
    "ticket_id subject priority status assignee opened_at closed_at hours_spent",
    "T-1 | Cannot log in | high | closed | Wes | 2025-01-03 | 2025-01-04 | 3",
    "T-2 | Refund request | low | open | Yara | 2025-01-05 | - | 1",
    "T-3 | App crashes on start | urgent | open | - | 2025-01-09 | - | 0",
    "T-4 | Slow login page | medium | closed | Wes | 2025-01-12 | 2025-01-20 | 7",
    "T-5 | Invoice is wrong | high | open | Zoe | 2025-02-01 | - | 2",
    "T-6 | Refund not received | high | closed | Yara | 2025-02-11 | 2025-02-12 | 4",
    "T-7 | Change of address | low | closed | Zoe | 2025-02-20 | 2025-02-20 | 1",
)
STOCKROOM = table(
    "sku itemName unitCost qtyOnHand aisle lastCounted",
    "A-10 | Hammer | 12 | 30 | 3 | 2025-03-01",
    "A-11 | Wrench | 9.5 | 0 | 3 | 2025-03-04",
    "B-20 | Paint | 22 | 14 | 5 | 2025-02-20",
    "B-21 | Brush | 4 | 120 | 5 | 2025-02-21",
    "C-30 | Ladder | 85 | 3 | 7 | 2024-12-30",
)
MARKET_TABLES: dict[str, list[Row]] = {
    "orders": ORDERS, "customers": CUSTOMERS, "products": PRODUCTS, "employees": EMPLOYEES, "flights": FLIGHTS,
    "students": STUDENTS, "grades": GRADES, "readings": READINGS, "books": BOOKS, "tickets": TICKETS,
    "stockroom": STOCKROOM,
}  # fmt: skip
