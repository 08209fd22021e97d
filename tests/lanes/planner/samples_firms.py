"""Six tables of a firm and a school, named in the short way of databases."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

STAFF = table(
    "emp_no fullName dept_nm base_pay_usd start_dt mgr_id perf_rating is_remote office_city",
    "1 | Ana Ruiz | Engineering | 120000 | 2018-04-02 | - | 4.6 | true | Madrid",
    "2 | Bob Kent | Sales | 70000 | 2020-01-15 | 1 | 3.9 | false | London",
    "3 | Cho Lee | Engineering | 99000 | 2021-07-19 | 1 | 4.1 | true | Seoul",
    "4 | Dee Wu | Marketing | 64000 | 2019-11-30 | 1 | - | false | London",
    "5 | Eli Roth | Sales | 81000 | 2016-09-05 | 2 | 4.4 | false | Madrid",
    "6 | Flo Gray | Engineering | 88000 | 2023-02-13 | 3 | 3.2 | true | London",
    "7 | Gil Moss | Marketing | 59000 | 2022-05-09 | 4 | 3.7 | true | Seoul",
)
TXNS = table(
    "txn_id sku region qty unit_px txn_dt channel cust_no",
    "T1 | K-1 | North | 3 | 20 | 2025-01-10 | web | C1",
    "T2 | K-2 | South | 1 | 150 | 2025-01-22 | store | C2",
    "T3 | K-1 | North | 10 | 18 | 2025-02-03 | web | C1",
    "T4 | K-3 | West | 2 | 75 | 2025-02-14 | phone | C3",
    "T5 | K-2 | West | 4 | 145 | 2025-03-01 | web | C9",
    "T6 | K-3 | South | 6 | 70 | 2025-03-18 | store | C2",
    "T7 | K-4 | North | 5 | 9.5 | 2025-03-30 | web | -",
)
CLIENTS = table(
    "cust_no company segment country since_yr",
    "C1 | Acme | enterprise | Spain | 2015",
    "C2 | Birch | smb | France | 2019",
    "C3 | Cedar | smb | Spain | 2021",
    "C4 | Delta | enterprise | Italy | 2012",
)
CATALOG = table(
    "sku title category list_px on_hand discontinued weight_g",
    "K-1 | Mug | Kitchen | 22 | 140 | false | 350",
    "K-2 | Kettle | Kitchen | 155 | 12 | false | 1200",
    "K-3 | Lamp | Lighting | 79 | 0 | true | 900",
    "K-4 | Candle | Lighting | 9.9 | 300 | false | 180",
    "K-5 | Rug | Textiles | 210 | 7 | false | 4200",
)
AIR = table(
    "carrier dep_city arr_city fare_usd stops_ct dep_ts dur_min",
    "Iber | Madrid | Paris | 130 | 0 | 2026-06-01T07:10 | 125",
    "Lufta | Berlin | Madrid | 210 | 1 | 2026-06-01T09:00 | 260",
    "Iber | Madrid | Rome | 99 | 0 | 2026-06-02T12:45 | 150",
    "Alba | Paris | Rome | 180 | 2 | 2026-06-03T18:20 | 400",
    "Lufta | Berlin | Paris | 160 | 0 | 2026-06-03T06:30 | 110",
    "Alba | Rome | Madrid | 75 | 1 | 2026-06-04T22:05 | 330",
)
PUPILS = table(
    "sid first_nm last_nm gpa major enroll_yr credits advisor",
    "11 | Amy | Park | 3.8 | Physics | 2021 | 96 | Dr Yates",
    "12 | Ben | Ortiz | 2.9 | History | 2022 | 60 | Dr Zane",
    "13 | Cat | Novak | 3.4 | Physics | 2023 | 33 | Dr Yates",
    "14 | Dan | Quinn | 3.9 | Biology | 2021 | 101 | -",
    "15 | Eva | Stone | 3.1 | History | 2023 | 30 | Dr Zane",
)
FIRM_TABLES: dict[str, list[Row]] = {
    "staff": STAFF, "txns": TXNS, "clients": CLIENTS, "catalog": CATALOG, "air": AIR, "pupils": PUPILS
}  # fmt: skip
