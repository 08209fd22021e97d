"""Twelve small tables with gaps, ties and traps, and other names for their columns."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def table(columns: str, *lines: str) -> list[Row]:
    """Rows from lines of cells: `-` is null, numbers and true/false are themselves, all else is text."""
    names = columns.split()
    return [dict(zip(names, [_cell(cell.strip()) for cell in line.split("|")], strict=True)) for line in lines]


def _cell(text: str) -> Any:
    if text in ("-", "true", "false"):
        return {"-": None, "true": True, "false": False}[text]
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text.strip("'")


FLIGHTS = table(
    "flight_no airline origin destination unit_price_usd stops dep_time duration_min",
    "LH1 | Lufthansa | Berlin | Paris | 180 | 0 | 2026-01-10T08:00 | 105",
    "AF2 | Air France | Paris | Berlin | 95 | 0 | 2026-02-11T09:30 | 110",
    "BA3 | British Airways | London | Rome | 240 | 1 | 2026-03-12T12:00 | 230",
    "LH4 | Lufthansa | Paris | Rome | 310 | 2 | 2025-12-01T06:15 | 300",
    "FR5 | Ryanair | Rome | Berlin | 45 | 0 | 2026-03-01T22:10 | 125",
    "FR6 | Ryanair | Berlin | London | - | 1 | 2026-04-20T05:00 | 115",
    "AF7 | Air France | Paris | London | 150 | 0 | 2026-05-05T18:45 | 75",
    "LH8 | Lufthansa | London | Berlin | 210 | 1 | 2026-05-06T07:00 | 190",
)
PRODUCTS = table(
    "sku name category price stock rating discontinued",
    "'001' | Desk Lamp | Lighting | 35.5 | 12 | 4.5 | false",
    "'002' | Oak Desk | Furniture | 420 | 3 | 4.8 | false",
    "'003' | Office Chair | Furniture | 189.99 | 0 | 3.9 | false",
    "'004' | Floor Lamp | Lighting | 79 | 7 | - | true",
    "'005' | Notebook | Stationery | 4.2 | 250 | 4.1 | false",
    "'006' | Fountain Pen | Stationery | 59 | 18 | 4.9 | false",
    "'007' | Bookshelf | Furniture | 129 | 5 | 3.2 | true",
    "'008' | Stapler | Stationery | 12.5 | 40 | 2.8 | false",
)
EMPLOYEES = table(
    "employee_id full_name dept annual_salary age hire_date email remote",
    "1 | Ada Stone | Engineering | 98000 | 41 | 2015-04-01 | ada@example.org | true",
    "2 | Ben Marsh | Sales | 52000 | 29 | 2021-09-15 | - | false",
    "3 | Cleo Ford | Engineering | 87000 | 35 | 2019-01-07 | cleo@example.org | false",
    "4 | Dan Hill | Support | 41000 | 23 | 2024-06-03 | dan@example.org | true",
    "5 | Eve Lake | Sales | 61000 | 52 | 2010-11-30 | eve@example.org | false",
    "6 | Fay Reed | Engineering | 120000 | 47 | 2012-02-20 | - | true",
    "7 | Gus Wood | Support | 39000 | 31 | 2022-08-08 | gus@example.org | false",
)
CUSTOMERS = table(
    "id name city signup_date",
    "1 | Anna | Berlin | 2023-05-01",
    "2 | Boris | Vienna | 2024-02-10",
    "3 | Carla | Berlin | 2025-07-19",
    "4 | Dmitri | Zurich | 2022-12-24",
)
ORDERS = table(
    "order_id customer_id amount quantity status ordered_at",
    "101 | 1 | 250 | 2 | shipped | 2026-01-05",
    "102 | 2 | 80 | 1 | pending | 2026-01-20",
    "103 | 1 | 40 | 4 | shipped | 2026-02-02",
    "104 | 3 | 500 | 5 | cancelled | 2026-02-14",
    "105 | 9 | 75 | 3 | pending | 2026-03-01",
    "106 | 2 | 300 | 2 | shipped | 2025-11-11",
)
MOVIES = table(
    "title director genre release_year runtime_min score",
    "Night Train | Ivy Park | Drama | 1998 | 121 | 7.9",
    "Red Harbor | Omar Diaz | Thriller | 2011 | 98 | 6.8",
    "Blue Meadow | Ivy Park | Comedy | 2004 | 104 | 7.1",
    "Iron Sky Line | Lena Koch | Thriller | 2019 | 133 | 8.2",
    "Old Friends | Omar Diaz | Comedy | 2015 | 89 | 5.9",
    "The Long Road | Lena Koch | Drama | 2022 | 152 | 8.2",
)
CITIES = table(
    "city country population area_km2 capital",
    "Vienna | Austria | 1950000 | 414.8 | true",
    "Graz | Austria | 290000 | 127.6 | false",
    "Berlin | Germany | 3700000 | 891.7 | true",
    "Hamburg | Germany | 1850000 | 755.2 | false",
    "Munich | Germany | 1500000 | 310.7 | false",
    "Lyon | France | 520000 | 47.9 | false",
    "Paris | France | 2100000 | 105.4 | true",
)
HOTELS = table(
    "hotelName stars nightlyRate location hasPool guestRating",
    "Sea View | 4 | 140 | Nice | true | 8.7",
    "Old Mill | 3 | 75 | Lyon | false | 8.1",
    "Grand Palace | 5 | 320 | Paris | true | 9.2",
    "City Inn | 2 | 55 | Paris | false | 6.9",
    "Harbor House | 4 | 165 | Nice | false | 8.9",
    "Alpine Lodge | 3 | 99 | Chamonix | true | -",
)
TICKETS = table(
    "ticket_id subject priority assignee opened_on closed_on",
    "T-1 | Printer on fire | high | Mia | 2026-03-01 | 2026-03-02",
    "T-2 | Password reset | low | Noah | 2026-03-03 | -",
    "T-3 | VPN fails | high | Mia | 2026-03-05 | -",
    "T-4 | New laptop | medium | Olga | 2026-02-11 | 2026-02-20",
    "T-5 | Email bounces | medium | Noah | 2026-01-15 | 2026-01-15",
    "T-6 | Printer jam | low | - | 2026-03-09 | -",
)
STUDENTS = table(
    "studentName school grade gpa birthDate",
    "Liam | North | 10 | 3.4 | 2009-03-14",
    "Maya | South | 11 | 3.9 | 2008-07-02",
    "Nora | North | 12 | 2.7 | 2007-11-23",
    "Owen | East | 10 | 3.1 | 2009-12-01",
    "Pia | South | 12 | 3.6 | 2007-01-30",
    "Quinn | East | 11 | 3.9 | 2008-05-05",
)
CARS = table(
    "make model year mileage_km price_eur fuel",
    "Toyota | Corolla | 2018 | 64000 | 14500 | petrol",
    "Toyota | Yaris | 2021 | 21000 | 15900 | hybrid",
    "Volvo | V60 | 2016 | 120000 | 13200 | diesel",
    "Tesla | Model 3 | 2022 | 30000 | 32900 | electric",
    "Volvo | XC40 | 2023 | 9000 | 38500 | hybrid",
    "Fiat | Panda | 2012 | 98000 | 4300 | petrol",
)
SALES = table(
    "sale_id region rep product_line revenue units sold_on",
    "1 | North | Kim | Pumps | 1200.5 | 10 | 2025-10-03",
    "2 | South | Lee | Valves | 640 | 32 | 2025-10-19",
    "3 | North | Kim | Valves | 300 | 15 | 2025-11-02",
    "4 | East | Max | Pumps | 2400 | 20 | 2025-11-23",
    "5 | South | Lee | Pumps | 480 | 4 | 2026-01-08",
    "6 | East | Zoe | Valves | 900 | 45 | 2026-01-30",
    "7 | North | Zoe | Pumps | - | 6 | 2026-02-02",
)
TABLES: dict[str, list[Row]] = {
    "flights": FLIGHTS, "products": PRODUCTS, "employees": EMPLOYEES, "orders": ORDERS,
    "movies": MOVIES, "cities": CITIES, "hotels": HOTELS, "tickets": TICKETS, "students": STUDENTS, "cars": CARS,
    "sales": SALES, "customers": CUSTOMERS,
}  # fmt: skip

RENAMED: dict[str, dict[str, str]] = {
    "flights": {"flight_no": "FlightNumber", "airline": "carrier", "origin": "from", "destination": "to",
                "unit_price_usd": "fare", "stops": "numStops", "dep_time": "departure", "duration_min": "dur_min"},
    "products": {"sku": "item_code", "name": "product_title", "category": "product_type", "price": "unitPrice",
                 "stock": "inventory", "rating": "avg_score", "discontinued": "is_discontinued"},
    "employees": {"employee_id": "emp_no", "full_name": "name", "dept": "department", "annual_salary": "pay",
                  "age": "Age", "hire_date": "hired_on", "email": "mail", "remote": "is_remote"},
    "orders": {"order_id": "OrderNo", "customer_id": "cust_id", "amount": "total_amount", "quantity": "qty",
               "status": "order_status", "ordered_at": "order_date"},
    "movies": {"title": "name", "director": "directed_by", "genre": "category", "release_year": "year",
               "runtime_min": "duration_min", "score": "rating"},
    "cities": {"city": "city_name", "country": "nation", "population": "inhabitants", "area_km2": "area",
               "capital": "is_capital"},
    "hotels": {"hotelName": "name", "stars": "star_count", "nightlyRate": "price_per_night", "location": "city",
               "hasPool": "pool", "guestRating": "guest_score"},
    "tickets": {"ticket_id": "id", "subject": "title", "priority": "prio", "assignee": "assigned_to",
                "opened_on": "created_at", "closed_on": "resolved_at"},
    "students": {"studentName": "name", "school": "school_name", "grade": "class_level", "gpa": "GPA",
                 "birthDate": "dob"},
    "cars": {"make": "brand", "model": "model_name", "year": "model_year", "mileage_km": "odometer_km",
             "price_eur": "asking_price", "fuel": "fuel_type"},
    "sales": {"sale_id": "id", "region": "sales_region", "rep": "sales_rep", "product_line": "line",
              "revenue": "rev_usd", "units": "units_sold", "sold_on": "sale_date"},
    "customers": {"id": "customer_no", "name": "customer_name", "city": "town", "signup_date": "joined_on"},
}  # fmt: skip


def renamed(name: str) -> list[Row]:
    """The table with other names for its columns."""
    return [{RENAMED[name][column]: cell for column, cell in row.items()} for row in TABLES[name]]
