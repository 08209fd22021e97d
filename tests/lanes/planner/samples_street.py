"""Nine more tables: a cinema, a clinic, a gym, a bank, projects, houses, cars, donations and hosts."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

FILMS = table(
    "film_id name director genre minutes release_year imdb_score box_office",
    "1 | Iron Coast | Vega | Action | 128 | 2019 | 7.1 | 310",
    "2 | Paper Moons | Okafor | Drama | 104 | 2021 | 8.2 | 45",
    "3 | Last Orchard | Vega | Drama | 117 | 2015 | 7.8 | 62",
    "4 | Loud Neighbors | Brandt | Comedy | 95 | 2022 | 6.3 | 120",
    "5 | Deep Signal | Okafor | Sci-Fi | 141 | 2023 | 7.9 | 415",
    "6 | Tin Hearts | Ito | Comedy | 99 | 2018 | 6.9 | 38",
    "7 | Red Harbor | Brandt | Action | 133 | 2021 | - | 205",
)
SHOWINGS = table(
    "showing_id film_id screen starts seats_sold ticket_price",
    "90 | 1 | A | 2025-09-01T18:00 | 80 | 12",
    "91 | 2 | B | 2025-09-01T20:30 | 35 | 10",
    "92 | 5 | A | 2025-09-02T21:00 | 140 | 14",
    "93 | 5 | B | 2025-09-03T18:30 | 60 | 11",
    "94 | 4 | B | 2025-09-03T20:45 | 22 | 10",
    "95 | 2 | A | 2025-09-04T19:00 | 64 | 12",
)
VISITS = table(
    "visit_id patient doctor reason visit_date cost insured notes",
    "1 | Amara | Dr. Frost | checkup | 2025-02-03 | 80 | true | -",
    "2 | Boris | Dr. Haile | flu | 2025-02-10 | 120 | false | rest two days",
    "3 | Carla | Dr. Frost | back pain | 2025-03-02 | 150 | true | follow up needed",
    "4 | Amara | Dr. Haile | flu | 2025-03-15 | 110 | true | -",
    "5 | Dmitri | Dr. Frost | checkup | 2025-04-01 | 80 | false | follow up in May",
    "6 | Boris | Dr. Ngo | x-ray | 2025-04-20 | 260 | false | -",
)
ACCOUNTS = table(
    "account_no holder type balance opened branch",
    "A1 | Nadia | savings | 5200 | 2017-05-02 | North",
    "A2 | Oskar | checking | 830.5 | 2020-10-11 | South",
    "A3 | Petra | savings | 15000 | 2012-01-30 | North",
    "A4 | Quentin | checking | -120 | 2022-06-19 | East",
    "A5 | Nadia | checking | 2400 | 2019-03-08 | North",
    "A6 | Rhea | business | 48000 | 2015-11-23 | South",
)
TRANSFERS = table(
    "transfer_id account_no amount direction made_on",
    "1 | A1 | 200 | in | 2025-05-01",
    "2 | A1 | 50 | out | 2025-05-03",
    "3 | A3 | 1200 | in | 2025-05-03",
    "4 | A2 | 75 | out | 2025-05-09",
    "5 | A6 | 9000 | out | 2025-06-02",
    "6 | A6 | 4000 | in | 2025-06-12",
)
PROJECTS = table(
    "project owner budget spent start_date end_date state",
    "Atlas | Uma | 50000 | 42000 | 2024-01-15 | 2024-09-30 | done",
    "Beacon | Viktor | 120000 | 131000 | 2024-03-01 | - | running",
    "Comet | Uma | 20000 | 5000 | 2024-11-20 | - | running",
    "Drift | Wanda | 75000 | 75000 | 2023-06-10 | 2024-05-31 | done",
    "Ember | Viktor | 30000 | 0 | 2025-02-01 | - | planned",
)
HOUSES = table(
    "address city bedrooms bathrooms area_sqm price listed_on garage",
    "1 Elm St | Leeds | 3 | 2 | 110 | 320000 | 2025-01-10 | true",
    "22 Oak Rd | York | 2 | 1 | 70 | 210000 | 2025-02-18 | false",
    "5 Hill Ln | Leeds | 4 | 3 | 165 | 540000 | 2025-02-02 | true",
    "9 Mill Way | Hull | 3 | 1 | 95 | 185000 | 2024-12-12 | false",
    "14 Park Av | York | 5 | 3 | 210 | 690000 | 2025-03-05 | true",
    "3 Low Row | Hull | 2 | 1 | 60 | 140000 | 2025-03-20 | false",
)
CARS = table(
    "make model year mileage color price fuel",
    "Toyo | Lark | 2019 | 45000 | red | 13500 | petrol",
    "Toyo | Finch | 2022 | 12000 | white | 21900 | hybrid",
    "Brandt | K5 | 2016 | 98000 | black | 7400 | diesel",
    "Brandt | K7 | 2021 | 30500 | red | 18800 | petrol",
    "Volta | One | 2023 | 8000 | blue | 32000 | electric",
    "Volta | Mini | 2020 | 41000 | white | 17250 | electric",
)
DONATIONS = table(
    "donor campaign amount method donated_at anonymous",
    "Ines | Clean Water | 50 | card | 2024-10-02 | false",
    "Jude | Clean Water | 500 | bank | 2024-10-05 | false",
    "Kofi | Schools | 120 | card | 2024-11-11 | true",
    "Ines | Schools | 75 | paypal | 2024-11-20 | false",
    "Lena | Forests | 20 | card | 2024-12-01 | false",
    "Kofi | Forests | 300 | bank | 2024-12-24 | true",
    "Ines | Forests | 60 | card | 2025-01-03 | false",
)
STREET_TABLES: dict[str, list[Row]] = {
    "films": FILMS, "showings": SHOWINGS, "visits": VISITS, "accounts": ACCOUNTS, "transfers": TRANSFERS,
    "projects": PROJECTS, "houses": HOUSES, "cars": CARS, "donations": DONATIONS,
}  # fmt: skip
