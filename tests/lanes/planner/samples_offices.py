"""Eight tables as offices keep them: camel case, codes, units in names, gaps, flags, two dates a row."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

FLATS = table(
    "listingId addr hood monthlyRent sq_m beds floorNo hasBalcony availFrom petsOk",
    "L1 | 12 Elm St | Northside | 950 | 48 | 1 | 2 | false | 2026-03-01 | true",
    "L2 | 3 Oak Ave | Old Town | 1400 | 75 | 2 | 4 | true | 2026-02-15 | false",
    "L3 | 88 Pine Rd | Northside | 1100 | 60 | 2 | 1 | true | 2026-04-01 | true",
    "L4 | 5 Quay | Harbour | 2100 | 110 | 3 | 9 | true | 2026-03-15 | false",
    "L5 | 41 Mill Ln | Old Town | 780 | 31 | 1 | 0 | false | - | true",
    "L6 | 9 Dock Way | Harbour | 1750 | 92 | 3 | 6 | false | 2026-05-01 | true",
)
GRANTS = table(
    "grantRef applicant_org field_of_study amtAwarded awardDt endDt pi_surname renewed",
    "G-01 | Uni Lund | Biology | 250000 | 2023-01-15 | 2026-01-14 | Holm | true",
    "G-02 | ETH | Physics | 480000 | 2024-06-01 | 2027-05-31 | Keller | false",
    "G-03 | Uni Lund | Chemistry | 120000 | 2022-09-10 | 2024-09-09 | Berg | false",
    "G-04 | Sorbonne | Biology | 310000 | 2024-02-20 | - | Petit | false",
    "G-05 | ETH | Biology | 95000 | 2025-03-03 | 2026-03-02 | Roth | true",
    "G-06 | Sorbonne | Physics | 640000 | 2021-11-11 | 2025-11-10 | Petit | true",
)
HOSTS = table(
    "hostname dc_code cpu_pct mem_gb disk_used_pct os_family last_boot env_tag",
    "web-01 | FRA | 34 | 16 | 61 | linux | 2026-01-04 | prod",
    "web-02 | FRA | 78 | 16 | 70 | linux | 2026-02-11 | prod",
    "db-01 | AMS | 55 | 128 | 88 | linux | 2025-08-30 | prod",
    "db-02 | AMS | 12 | 128 | 43 | linux | 2025-10-02 | staging",
    "win-01 | FRA | 91 | 32 | 95 | windows | 2026-02-20 | prod",
    "ci-01 | LON | - | 64 | 77 | linux | 2026-02-27 | dev",
)
DISHES = table(
    "dish cuisine kcal prep_min servings is_vegan chef spice_lvl price_eur",
    "Dal | Indian | 320 | 40 | 4 | true | Anand | 3 | 8.5",
    "Paella | Spanish | 610 | 70 | 6 | false | Ruiz | 1 | 16",
    "Pho | Vietnamese | 420 | 90 | 2 | false | Linh | 2 | 11.5",
    "Gazpacho | Spanish | 180 | 20 | 4 | true | Ruiz | 1 | 7",
    "Vindaloo | Indian | 540 | 60 | 4 | false | Anand | 5 | 13.9",
    "Bun Cha | Vietnamese | 480 | 45 | 2 | false | Linh | 2 | 12",
)
EXAMS = table(
    "cand_no cand_name school subject_cd marks max_marks sat_on passed",
    "501 | Iris | Hilltop | MAT | 81 | 100 | 2025-06-10 | true",
    "502 | Jack | Hilltop | PHY | 47 | 90 | 2025-06-12 | false",
    "503 | Kira | Lakeside | MAT | 92 | 100 | 2025-06-10 | true",
    "504 | Liam | Lakeside | PHY | 66 | 90 | 2025-06-12 | true",
    "505 | Mona | Hilltop | MAT | 38 | 100 | 2025-06-10 | false",
    "506 | Nils | Riverton | CHE | - | 80 | 2025-06-17 | false",
    "507 | Olga | Riverton | PHY | 71 | 90 | 2025-06-12 | true",
)
SUBJECTS = table(
    "subject_cd subject_nm teacher",
    "MAT | Mathematics | Mrs Dunn",
    "PHY | Physics | Mr Osei",
    "BIO | Biology | Ms Lark",
)
CALLS = table(
    "call_id agent_nm queue wait_sec talk_sec csat call_ts transferred",
    "1 | Bo | billing | 35 | 310 | 5 | 2026-02-02T09:01:00 | false",
    "2 | Cy | tech | 120 | 900 | 2 | 2026-02-02T09:14:00 | true",
    "3 | Bo | billing | 12 | 150 | 4 | 2026-02-02T10:40:00 | false",
    "4 | Di | sales | 60 | 425 | - | 2026-02-03T11:05:00 | false",
    "5 | Cy | tech | 240 | 1260 | 1 | 2026-02-03T15:22:00 | true",
    "6 | Di | billing | 75 | 200 | 3 | 2026-02-04T08:30:00 | false",
)
HARVEST = table(
    "plot cultivar yield_t_ha sown_on harvested_on irrigated soil_ph agronomist",
    "N1 | Aurora | 6.2 | 2025-03-20 | 2025-08-11 | true | 6.8 | Weiss",
    "N2 | Benita | 5.1 | 2025-03-25 | 2025-08-19 | false | 6.1 | Weiss",
    "S1 | Aurora | 7.4 | 2025-03-18 | 2025-08-09 | true | 7 | Moreau",
    "S2 | Corsa | 4.8 | 2025-04-02 | - | false | 5.9 | Moreau",
    "W1 | Benita | 5.9 | 2025-03-28 | 2025-08-22 | true | 6.5 | Weiss",
)
OFFICE_TABLES: dict[str, list[Row]] = {
    "flats": FLATS,
    "grants": GRANTS,
    "hosts": HOSTS,
    "dishes": DISHES,
    "exams": EXAMS,
    "subjects": SUBJECTS,
    "calls": CALLS,
    "harvest": HARVEST,
}
