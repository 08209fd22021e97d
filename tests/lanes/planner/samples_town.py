"""Five tables of a small town: a harbour, a workshop, evening courses, and a vet's pets and visits."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

BERTHS = table(
    "berth_no boat_name boat_type owner_name pier length_m fee_per_month_eur crew has_power booked_from booked_until"
    " insurer",
    "K-01 | Merle | sail | Ida Roth | North | 9.5 | 180 | 0 | true | 2025-03-01 | 2025-10-31 | Seafold",
    "K-02 | Tern | motor | Jon Vik | North | 12 | 260 | 2 | true | 2025-02-15 | 2026-01-31 | -",
    "K-03 | Puffin | sail | Ida Roth | South | 7.2 | 120 | 0 | false | 2025-04-10 | 2025-09-30 | Seafold",
    "K-04 | Osprey | catamaran | Lea Marin | South | 14.1 | 340 | 3 | true | 2024-11-01 | 2026-03-31 | Nordkap",
    "K-05 | Curlew | motor | Ole Brun | East | 8.8 | 165 | 1 | false | 2025-05-05 | 2025-08-31 | Nordkap",
    "K-06 | Heron | sail | Lea Marin | East | 10.4 | 210 | 0 | true | 2025-01-20 | - | -",
    "K-07 | Plover | motor | Jon Vik | South | 6.5 | 95 | 0 | false | 2025-06-01 | 2025-09-15 | Seafold",
)
REPAIRS = table(
    "repair_no device brand technician received_on finished_on labour_hrs parts_eur quoted_eur discount_pct warranty"
    " status",
    "301 | kettle | Brix | Mona | 2025-01-07 | 2025-01-09 | 0.5 | 8.5 | 30 | 10 | true | done",
    "302 | toaster | Volta | Piet | 2025-01-08 | 2025-01-20 | 1.5 | 12 | 55 | 0 | false | done",
    "303 | radio | Brix | Mona | 2025-01-15 | - | 2 | - | 80 | 5 | false | waiting",
    "304 | mixer | Volta | Mona | 2025-02-02 | 2025-02-05 | 1 | 21 | 60 | 20 | true | done",
    "305 | kettle | Aquila | Sven | 2025-02-10 | 2025-02-11 | 0.5 | 5 | 25 | 0 | false | done",
    "306 | lamp | Brix | Piet | 2025-02-18 | - | 0.25 | - | 20 | 0 | false | cancelled",
    "307 | radio | Aquila | Sven | 2025-03-01 | 2025-03-14 | 3.5 | 44 | 120 | 10 | true | done",
    "308 | toaster | Brix | Piet | 2025-03-03 | - | 1 | 9 | 40 | 0 | false | waiting",
)
COURSES = table(
    "course_code course_title subject teacher seats_max enrolled fee_eur starts_on weeks is_online room",
    "C1 | Italian for Travellers | language | Bianchi | 16 | 14 | 90 | 2025-09-08 | 10 | false | R2",
    "C2 | Watercolour Basics | art | Osei | 12 | 12 | 140 | 2025-09-15 | 8 | false | R5",
    "C3 | Spreadsheets | computing | Lindt | 20 | 9 | 75 | 2025-10-01 | 6 | true | -",
    "C4 | Portrait Drawing | art | Osei | 10 | 6 | 160 | 2025-10-06 | 10 | false | R5",
    "C5 | Spanish Evenings | language | Vega | 16 | 16 | 95 | 2026-01-12 | 12 | false | R1",
    "C6 | Websites | computing | Lindt | 18 | 11 | 120 | 2026-01-19 | 8 | true | -",
    "C7 | Italian Cinema | language | Bianchi | 25 | 8 | 60 | 2026-02-02 | 5 | true | -",
)
PETS = table(
    "pet_id pet_name species keeper born_year",
    "1 | Bello | dog | Adler | 2018",
    "2 | Mimi | cat | Adler | 2021",
    "3 | Hops | rabbit | Costa | 2023",
    "4 | Rex | dog | Duval | 2015",
    "5 | Luna | cat | Evans | 2022",
)
VISITS = table(
    "visit_no pet_id visit_date vet fee_eur vaccinated",
    "V1 | 1 | 2025-02-03 | Kern | 45 | true",
    "V2 | 2 | 2025-02-10 | Kern | 60 | false",
    "V3 | 1 | 2025-03-12 | Sato | 38 | false",
    "V4 | 4 | 2025-03-15 | Sato | 120 | false",
    "V5 | 3 | 2025-04-02 | Kern | 45 | true",
    "V6 | 1 | 2025-04-20 | Kern | 80 | false",
)
TOWN_TABLES: dict[str, list[Row]] = {
    "berths": BERTHS,
    "repairs": REPAIRS,
    "courses": COURSES,
    "pets": PETS,
    "visits": VISITS,
}
