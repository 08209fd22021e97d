"""Ten tables with column names as real exports have them: abbreviations, units, codes, gaps, flags."""

from __future__ import annotations

from tests.lanes.planner.samples import Row, table

VESSELS = table(
    "imo vessel_nm flag_state vessel_type dwt_tonnes built_yr last_port crew_cnt laid_up",
    "9100001 | Aurora | Panama | Tanker | 81000 | 2009 | Rotterdam | 24 | false",
    "9100002 | Bellwether | Liberia | Bulk Carrier | 56000 | 2014 | Santos | 21 | false",
    "9100003 | Cormorant | Malta | Tanker | 12500 | 1998 | Valletta | 14 | true",
    "9100004 | Dunlin | Panama | Container | 99000 | 2019 | Singapore | 26 | false",
    "9100005 | Egret | Norway | Ro-Ro | 18400 | 2006 | Bergen | 18 | false",
    "9100006 | Fulmar | Liberia | Tanker | 46500 | 2014 | Houston | - | true",
    "9100007 | Gannet | Malta | Container | 67000 | 2011 | Rotterdam | 22 | false",
)
PARTS = table(
    "part_no descr bin_loc qoh reorder_pt unit_cost supplier_code last_counted",
    "P-100 | Hex bolt M8 | A1 | 1200 | 500 | 0.12 | S01 | 2026-01-14",
    "P-101 | Ball bearing 6204 | A2 | 85 | 100 | 3.4 | S02 | 2026-02-03",
    "P-102 | Drive belt | B1 | 0 | 20 | 11.9 | S03 | 2025-11-30",
    "P-103 | Servo motor | C4 | 7 | 5 | 149 | S02 | 2026-02-20",
    "P-104 | Hex nut M8 | A1 | 2300 | 600 | 0.05 | S01 | 2026-01-14",
    "P-105 | Gearbox oil 5L | D2 | 31 | 12 | 27.5 | S04 | 2026-03-02",
    "P-106 | Proximity sensor | C4 | 16 | 10 | 38 | - | -",
    "P-107 | Timing belt | B1 | 44 | 20 | 14.25 | S03 | 2025-12-19",
)
SUPPLIERS = table(
    "supplier_code supplier_nm country lead_days preferred",
    "S01 | Boltworks | Germany | 5 | true",
    "S02 | Kugel AG | Austria | 14 | true",
    "S03 | Beltline | Italy | 21 | false",
    "S05 | Nordic Parts | Sweden | 9 | false",
)
WINES = table(
    "label grape vintage region abv_pct bottle_price_eur score_pts in_cellar",
    "Casa Alta | Tempranillo | 2016 | Rioja | 13.5 | 18.9 | 91 | true",
    "Domaine Vert | Chardonnay | 2020 | Burgundy | 12.5 | 42 | 93 | true",
    "Monte Grigio | Sangiovese | 2018 | Tuscany | 14 | 27.5 | 90 | false",
    "Quinta Velha | Touriga | 2015 | Douro | 14.5 | 33 | 94 | true",
    "Weingut Stein | Riesling | 2021 | Mosel | 11 | 15 | 89 | false",
    "Bodega Sol | Tempranillo | 2019 | Rioja | 14 | 12.4 | 86 | true",
    "Clos Brun | Chardonnay | 2018 | Burgundy | 13 | 65 | 95 | false",
    "Villa Rossa | Sangiovese | 2020 | Tuscany | 13.5 | 21 | - | true",
)
STAYS = table(
    "mrn surname ward adm_dt disch_dt temp_c severity attending_physician age_yrs",
    "4401 | Abbott | Cardiology | 2026-02-01 | 2026-02-06 | 37.2 | high | Dr Kaur | 71",
    "4402 | Brennan | Orthopedics | 2026-02-03 | - | 36.8 | low | Dr Lund | 34",
    "4403 | Castillo | Cardiology | 2026-02-10 | 2026-02-19 | 38.4 | critical | Dr Kaur | 66",
    "4404 | Dvorak | Neurology | 2026-01-22 | 2026-02-02 | - | medium | Dr Moss | 58",
    "4405 | Eriksen | Orthopedics | 2026-01-30 | 2026-02-04 | 36.6 | low | Dr Lund | 45",
    "4406 | Farouk | Neurology | 2026-02-14 | - | 39.1 | high | Dr Moss | 29",
    "4407 | Greene | Cardiology | 2025-12-28 | 2026-01-09 | 37 | medium | Dr Novak | 80",
)
EPISODES = table(
    "ep_no show_title host len_min dl_count published_on explicit guest",
    "1 | Night Shift | Mara | 42 | 12000 | 2025-09-01 | false | Ola",
    "2 | Night Shift | Mara | 55 | 15500 | 2025-09-15 | true | -",
    "3 | Kernel Talk | Dev | 71 | 8700 | 2025-10-02 | false | Priya",
    "4 | Kernel Talk | Dev | 64 | 9100 | 2025-11-06 | false | Sven",
    "5 | Slow News | Ines | 28 | 22000 | 2025-12-24 | false | -",
    "6 | Night Shift | Jonas | 47 | 13300 | 2026-01-12 | true | Ola",
    "7 | Slow News | Ines | 31 | 19800 | 2026-01-20 | false | Marek",
)
MATCHES = table(
    "match_id match_day home_side away_side home_goals away_goals gate referee stadium",
    "1 | 2025-08-16 | Rovers | United | 2 | 1 | 31200 | Hale | Riverside",
    "2 | 2025-08-16 | City | Wanderers | 0 | 0 | 28750 | Ito | The Dell",
    "3 | 2025-08-23 | United | City | 3 | 2 | 41000 | Hale | Old Park",
    "4 | 2025-08-24 | Wanderers | Rovers | 1 | 4 | 17400 | Okoye | Hillside",
    "5 | 2025-09-13 | Rovers | City | 1 | 1 | 30100 | Ito | Riverside",
    "6 | 2025-09-14 | United | Wanderers | 5 | 0 | 39800 | Okoye | Old Park",
)
TRIPS = table(
    "trip_ref driver_ref fare_amt tip_amt dist_km pickup_zone dropoff_zone pax pay_method started_at",
    "T1 | D7 | 14.5 | 2 | 5.2 | Airport | Centre | 1 | card | 2026-03-01T08:15:00",
    "T2 | D9 | 32 | 0 | 14.8 | Centre | Airport | 3 | cash | 2026-03-01T09:40:00",
    "T3 | D7 | 8.2 | 1.5 | 2.1 | Centre | Docks | 2 | card | 2026-03-01T17:05:00",
    "T4 | D3 | 27.4 | 5 | 12 | Docks | Airport | 1 | app | 2026-03-02T06:20:00",
    "T5 | D9 | 11 | - | 3.9 | Centre | University | 1 | cash | 2026-03-02T22:55:00",
    "T6 | D3 | 19.9 | 3 | 8.4 | Airport | University | 4 | app | 2026-03-03T13:30:00",
    "T7 | D12 | 6.5 | 0 | 1.4 | Docks | Centre | 1 | card | 2026-03-03T18:45:00",
)
DRIVERS = table(
    "driver_ref full_nm hired_on stars home_base",
    "D3 | Tariq Aziz | 2021-05-10 | 4.9 | Docks",
    "D7 | Lena Vogt | 2019-11-01 | 4.7 | Centre",
    "D9 | Paulo Reis | 2024-02-19 | 4.2 | Centre",
    "D15 | Mei Tan | 2025-07-07 | 5 | Airport",
)
STATIONS = table(
    "stn obs_date rain_mm wind_kmh hi_temp lo_temp elev_m",
    "Alpine | 2026-01-01 | 0 | 34 | -2 | -11 | 1820",
    "Alpine | 2026-01-02 | 12.4 | 51 | 0 | -7 | 1820",
    "Harbour | 2026-01-01 | 3.1 | 22 | 8 | 4 | 6",
    "Harbour | 2026-01-02 | 18 | 47 | 9 | 5 | 6",
    "Meadow | 2026-01-01 | 1.2 | 9 | 5 | -1 | 240",
    "Meadow | 2026-01-02 | - | 15 | 6 | 0 | 240",
)
EVERYDAY_TABLES: dict[str, list[Row]] = {
    "vessels": VESSELS,
    "parts": PARTS,
    "suppliers": SUPPLIERS,
    "wines": WINES,
    "stays": STAYS,
    "episodes": EPISODES,
    "matches": MATCHES,
    "trips": TRIPS,
    "drivers": DRIVERS,
    "stations": STATIONS,
}
