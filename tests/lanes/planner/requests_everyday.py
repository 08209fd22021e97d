"""Two hundred requests by people who never saw the planner's tests, and what comes out, worked out in plain Python.

Kept as they were written, over tables with the column names of real exports. Those answered wrongly at first, and
those refused though anybody would know what is meant, were mended by rule and stay here as tests.
"""

# ruff: noqa: E501 - a request and what comes of it stand on one line

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

from tests.lanes.planner.asking import Case, Rows
from tests.lanes.planner.requests_easy import by, groups, mean, only, per, top
from tests.lanes.planner.samples_everyday import DRIVERS, PARTS, SUPPLIERS, TRIPS

Expected = Callable[[Rows], list[Any]]


def _case(level: str, table: str, ordered: bool) -> Callable[..., Case]:
    def made(prompt: str, expected: Expected, *more: str) -> Case:
        return Case(level, table, prompt, expected, more, ordered)

    return made


def keep(test: Callable[[Any], Any]) -> Expected:
    return lambda rows: [row for row in rows if test(row)]


def down(rows: Rows, column: str) -> list[Any]:
    full = [row for row in rows if row[column] is not None]
    return sorted(full, key=lambda row: row[column], reverse=True) + [row for row in rows if row[column] is None]


def total(rows: Rows, column: str) -> Any:
    return sum(row[column] for row in rows if row[column] is not None)


def beside(rows: Rows, other: Rows, key: str) -> list[Any]:
    return [{**row, **one} for row in rows for one in other if row[key] is not None and one[key] == row[key]]


def lacking(rows: Rows, other: Rows, key: str) -> list[Any]:
    return [row for row in rows if row[key] not in {one[key] for one in other}]


def best(pairs: list[Any], k: int = 1, *, least: bool = False) -> list[Any]:
    return sorted(pairs, key=lambda pair: pair[-1], reverse=not least)[:k]


Asker = Callable[..., Case]


def askers(table: str) -> tuple[Asker, Asker, Asker, Asker, Asker, Asker]:
    """Easy, medium and hard requests of a table: each with rows in any order, and in theirs."""
    easy, medium, hard = (
        (_case(level, table, False), _case(level, table, True)) for level in ("easy", "medium", "hard")
    )
    return (*easy, *medium, *hard)


ve, veo, vm, vmo, vh, vho = askers("vessels")
pe, peo, pm, pmo, ph, pho = askers("parts")
we, weo, wm, wmo, wh, who = askers("wines")
se, seo, sm, smo, sh, sho = askers("stays")
ee, eeo, em, emo, eh, eho = askers("episodes")
me, meo, mm, mmo, mh, mho = askers("matches")
te, teo, tm, tmo, th, tho = askers("trips")
ne, neo, nm, nmo, nh, nho = askers("stations")

EVERYDAY: list[Case] = [
    # Ships.
    veo("top 3 vessels by dwt", lambda r: top(r, "dwt_tonnes", 3, down=True)),
    veo("the 2 oldest ships", lambda r: top(r, "built_yr", 2)),
    veo("sort the vessels by build year, newest first", lambda r: down(r, "built_yr")),
    ve("vessels built after 2010", keep(lambda x: x["built_yr"] > 2010)),
    ve("ships flying the Panama flag", keep(lambda x: x["flag_state"] == "Panama")),
    ve("show all tankers", keep(lambda x: x["vessel_type"] == "Tanker")),
    ve("how many vessels are there?", lambda r: [(7,)]),
    ve("vessels that are laid up", keep(lambda x: x["laid_up"])),
    ve("vessels that are not laid up", keep(lambda x: not x["laid_up"])),
    ve("average dwt", lambda r: [(mean([x["dwt_tonnes"] for x in r]),)]),
    veo("list vessel names alphabetically", lambda r: only(by(r, "vessel_nm"), "vessel_nm")),
    veo("smallest vessel by dwt", lambda r: top(r, "dwt_tonnes", 1)),
    ve("vessels with no crew count", keep(lambda x: x["crew_cnt"] is None)),
    ve("ships last seen in Rotterdam", keep(lambda x: x["last_port"] == "Rotterdam")),
    vm("tankers under 50,000 dwt", keep(lambda x: x["vessel_type"] == "Tanker" and x["dwt_tonnes"] < 50000)),
    vm("how many vessels per flag state", lambda r: per(r, "flag_state", len)),
    vm("average crew count by vessel type", lambda r: per(r, "vessel_type", lambda m: mean([x["crew_cnt"] for x in m]))),
    vm("vessels built between 2005 and 2012", keep(lambda x: 2005 <= x["built_yr"] <= 2012)),
    vm("vessels from Malta or Norway", keep(lambda x: x["flag_state"] in ("Malta", "Norway"))),
    vm("vessels whose name starts with B", keep(lambda x: x["vessel_nm"].startswith("B"))),
    vmo("names and flags of the 3 biggest vessels by tonnage", lambda r: only(top(r, "dwt_tonnes", 3, down=True), "vessel_nm", "flag_state")),
    vm("how many different flag states are there", lambda r: [(4,)]),
    vm("distinct vessel types", lambda r: [("Tanker",), ("Bulk Carrier",), ("Container",), ("Ro-Ro",)]),
    vm("vessels not flagged in Panama", keep(lambda x: x["flag_state"] != "Panama")),
    vm("container ships with more than 24 crew", keep(lambda x: x["vessel_type"] == "Container" and (x["crew_cnt"] or 0) > 24)),
    vm("median dwt of tankers", lambda r: [(46500,)]),
    vh("which flag state has the most tonnage in total", lambda r: best(per(r, "flag_state", lambda m: total(m, "dwt_tonnes")))),
    vho("active tankers sorted by built year then name", lambda r: []),
    vh("total dwt per flag state for vessels built since 2010", lambda r: per([x for x in r if x["built_yr"] >= 2010], "flag_state", lambda m: total(m, "dwt_tonnes"))),
    vho("number of vessels by vessel type, most common first", lambda r: best(per(r, "vessel_type", len), 9)),
    vh("flag states with at least 2 vessels", lambda r: [p for p in per(r, "flag_state", len) if p[1] >= 2]),
    vho("tankers and container vessels built before 2015, largest dwt first, only name and dwt", lambda r: only(down([x for x in r if x["vessel_type"] in ("Tanker", "Container") and x["built_yr"] < 2015], "dwt_tonnes"), "vessel_nm", "dwt_tonnes")),
    vh("the newest vessel of each flag state", lambda r: [max(m, key=lambda x: x["built_yr"]) for m in groups(r, "flag_state").values()]),
    vh("min and max dwt for each vessel type", lambda r: [(k, min(x["dwt_tonnes"] for x in m), max(x["dwt_tonnes"] for x in m)) for k, m in groups(r, "vessel_type").items()]),
    # A store room.
    peo("5 most expensive parts", lambda r: top(r, "unit_cost", 5, down=True)),
    peo("cheapest part", lambda r: top(r, "unit_cost", 1)),
    pe("parts in bin C4", keep(lambda x: x["bin_loc"] == "C4")),
    pe("parts costing more than 10", keep(lambda x: x["unit_cost"] > 10)),
    pe("parts that cost less than 1 euro", keep(lambda x: x["unit_cost"] < 1)),
    pe("parts without a supplier", keep(lambda x: x["supplier_code"] is None)),
    pe("parts where qoh is 0", keep(lambda x: x["qoh"] == 0)),
    pe('parts whose description contains "belt"', keep(lambda x: "belt" in x["descr"].lower())),
    peo("parts ordered by unit cost descending", lambda r: down(r, "unit_cost")),
    peo("first 3 parts", lambda r: list(r)[:3]),
    pe("part number and description of all parts", lambda r: only(r, "part_no", "descr")),
    pe("total qoh", lambda r: [(3683,)]),
    pe("parts counted in 2026", keep(lambda x: (x["last_counted"] or "").startswith("2026"))),
    pe("parts from supplier S03", keep(lambda x: x["supplier_code"] == "S03")),
    pm("parts with qoh below 50 and unit cost above 20", keep(lambda x: x["qoh"] < 50 and x["unit_cost"] > 20)),
    pm("how many parts does each supplier have", lambda r: per(r, "supplier_code", len)),
    pm("average unit cost per bin", lambda r: per(r, "bin_loc", lambda m: mean([x["unit_cost"] for x in m]))),
    pm("parts not in bin A1", keep(lambda x: x["bin_loc"] != "A1")),
    pm("parts in A1, A2 or B1", keep(lambda x: x["bin_loc"] in ("A1", "A2", "B1"))),
    pm("parts last counted before 2026", keep(lambda x: x["last_counted"] and x["last_counted"] < "2026")),
    pm("parts counted since February 2026", keep(lambda x: x["last_counted"] and x["last_counted"] >= "2026-02-01")),
    pm("parts that have never been counted", keep(lambda x: x["last_counted"] is None)),
    pm("parts where last_counted is null", keep(lambda x: x["last_counted"] is None)),
    pm("parts with a unit cost between 10 and 40", keep(lambda x: 10 <= x["unit_cost"] <= 40)),
    pm("rename qoh to on_hand", lambda r: [{("on_hand" if k == "qoh" else k): v for k, v in x.items()} for x in r]),
    pmo("descr as name and unit_cost as price, cheapest first", lambda r: [{"name": x["descr"], "price": x["unit_cost"]} for x in by(r, "unit_cost")]),
    pm("add a column value = qoh * unit_cost", lambda r: [{**x, "value": x["qoh"] * x["unit_cost"]} for x in r]),
    pm("parts with qoh under their reorder point", keep(lambda x: x["qoh"] < x["reorder_pt"])),
    pm("hex bolts and hex nuts", keep(lambda x: x["descr"].startswith("Hex"))),
    pm("unique bins", lambda r: [("A1",), ("A2",), ("B1",), ("C4",), ("D2",)]),
    pho("compute qoh times unit_cost as stock_value, then show the 3 highest by stock_value", lambda r: sorted([{**x, "stock_value": x["qoh"] * x["unit_cost"]} for x in r], key=lambda x: -x["stock_value"])[:3]),
    ph("join parts with suppliers on supplier_code", lambda r: beside(r, SUPPLIERS, "supplier_code"), "suppliers"),
    ph("parts with the supplier's country", lambda r: [{**x, "country": next((s["country"] for s in SUPPLIERS if s["supplier_code"] == x["supplier_code"]), None)} for x in r], "suppliers"),
    ph("join with suppliers on supplier_code and show part_no, supplier_nm and lead_days", lambda r: only(beside(r, SUPPLIERS, "supplier_code"), "part_no", "supplier_nm", "lead_days"), "suppliers"),
    ph("join parts and suppliers by supplier_code, then count parts per country", lambda r: per(beside(r, SUPPLIERS, "supplier_code"), "country", len), "suppliers"),
    ph("join suppliers on supplier_code and keep the parts with lead_days over 10", lambda r: [x for x in beside(r, SUPPLIERS, "supplier_code") if x["lead_days"] > 10], "suppliers"),
    ph("parts with no matching supplier", lambda r: lacking(r, SUPPLIERS, "supplier_code"), "suppliers"),
    Case("hard", "suppliers", "suppliers who have no parts", lambda r: lacking(r, PARTS, "supplier_code"), ("parts",), False),
    ph("total qoh and average unit cost per bin", lambda r: [(k, total(m, "qoh"), mean([x["unit_cost"] for x in m])) for k, m in groups(r, "bin_loc").items()]),
    pho("bins with more than one part, sorted by count descending", lambda r: [p for p in best(per(r, "bin_loc", len), 9) if p[1] > 1]),
    pho("the 3 cheapest parts that are in stock by unit cost", lambda r: top([x for x in r if x["qoh"] > 0], "unit_cost", 3)),
    # Wine.
    weo("the 3 cheapest wines", lambda r: top(r, "bottle_price_eur", 3)),
    weo("wines sorted by score, best first", lambda r: down(r, "score_pts")),
    we("wines from Rioja", keep(lambda x: x["region"] == "Rioja")),
    we("wines under 20 euros", keep(lambda x: x["bottle_price_eur"] < 20)),
    we("wines over €30", keep(lambda x: x["bottle_price_eur"] > 30)),
    we("chardonnays", keep(lambda x: x["grape"] == "Chardonnay")),
    we("wines in the cellar", keep(lambda x: x["in_cellar"])),
    we("wines that are not in the cellar", keep(lambda x: not x["in_cellar"])),
    weo("highest scoring wine", lambda r: top(r, "score_pts", 1, down=True)),
    weo("most expensive wine", lambda r: top(r, "bottle_price_eur", 1, down=True)),
    we("wines with a score of at least 92", keep(lambda x: (x["score_pts"] or 0) >= 92)),
    we("wines with no score", keep(lambda x: x["score_pts"] is None)),
    we("average bottle price", lambda r: [(mean([x["bottle_price_eur"] for x in r]),)]),
    we("wines from 2018", keep(lambda x: x["vintage"] == 2018)),
    weo("bottom 2 wines by score", lambda r: top(r, "score_pts", 2)),
    we("what regions are there?", lambda r: [("Rioja",), ("Burgundy",), ("Tuscany",), ("Douro",), ("Mosel",)]),
    wm("average score per region", lambda r: per(r, "region", lambda m: mean([x["score_pts"] for x in m]))),
    wm("cheapest Chardonnay", lambda r: top([x for x in r if x["grape"] == "Chardonnay"], "bottle_price_eur", 1)),
    wm("wines stronger than 13.5 percent", keep(lambda x: x["abv_pct"] > 13.5)),
    wm("wines with abv between 12 and 13.5", keep(lambda x: 12 <= x["abv_pct"] <= 13.5)),
    wm("labels of wines from Tuscany or Rioja", lambda r: only([x for x in r if x["region"] in ("Tuscany", "Rioja")], "label")),
    wm("wines in the cellar priced above 20", keep(lambda x: x["in_cellar"] and x["bottle_price_eur"] > 20)),
    wm("how many wines per grape are in the cellar", lambda r: per([x for x in r if x["in_cellar"]], "grape", len)),
    wm("count distinct grapes per region", lambda r: per(r, "region", lambda m: len({x["grape"] for x in m}))),
    wm("everything except Rioja", keep(lambda x: x["region"] != "Rioja")),
    wmo("wines sorted by region then price descending", lambda r: sorted(r, key=lambda x: (x["region"], -x["bottle_price_eur"]))),
    wm("wines older than 2018", keep(lambda x: x["vintage"] < 2018)),
    wm("wines from 2019 or later", keep(lambda x: x["vintage"] >= 2019)),
    wm("median bottle price per grape", lambda r: per(r, "grape", lambda m: median(x["bottle_price_eur"] for x in m))),
    wm("wines whose label includes the word villa", keep(lambda x: "villa" in x["label"].lower())),
    wmo("top 2 wines from Burgundy or Tuscany by score", lambda r: top([x for x in r if x["region"] in ("Burgundy", "Tuscany")], "score_pts", 2, down=True)),
    wm("total bottle price of wines in the cellar", lambda r: [(total([x for x in r if x["in_cellar"]], "bottle_price_eur"),)]),
    wh("which region has the highest average price", lambda r: best(per(r, "region", lambda m: mean([x["bottle_price_eur"] for x in m])))),
    wh("regions where the average score is above 90", lambda r: [p for p in per(r, "region", lambda m: mean([x["score_pts"] for x in m])) if p[1] > 90]),
    wh("best wine per region by score", lambda r: [max(m, key=lambda x: x["score_pts"] or 0) for m in groups(r, "region").values()]),
    who("wines under 40 with a score over 88, sorted by score descending, only label and price", lambda r: only(down([x for x in r if x["bottle_price_eur"] < 40 and (x["score_pts"] or 0) > 88], "score_pts"), "label", "bottle_price_eur")),
    wh("add a column half = bottle_price_eur / 2 and keep wines where half is under 10", lambda r: [{**x, "half": x["bottle_price_eur"] / 2} for x in r if x["bottle_price_eur"] / 2 < 10]),
    who("the 3 regions with the highest total bottle price", lambda r: best(per(r, "region", lambda m: total(m, "bottle_price_eur")), 3)),
    # A hospital.
    seo("the 3 oldest patients", lambda r: top(r, "age_yrs", 3, down=True)),
    seo("patients sorted by age", lambda r: by(r, "age_yrs")),
    se("patients in Cardiology", keep(lambda x: x["ward"] == "Cardiology")),
    se("patients older than 60", keep(lambda x: x["age_yrs"] > 60)),
    se("patients without a discharge date", keep(lambda x: x["disch_dt"] is None)),
    se("patients treated by Dr Kaur", keep(lambda x: x["attending_physician"] == "Dr Kaur")),
    se("how many patients are in Neurology?", lambda r: [(2,)]),
    se("patients with high severity", keep(lambda x: x["severity"] == "high")),
    seo("youngest patient", lambda r: top(r, "age_yrs", 1)),
    se("patients with a temp above 38", keep(lambda x: (x["temp_c"] or 0) > 38)),
    se("patients admitted in February 2026", keep(lambda x: x["adm_dt"].startswith("2026-02"))),
    seo("latest 2 admissions", lambda r: top(r, "adm_dt", 2, down=True)),
    sm("average age per ward", lambda r: per(r, "ward", lambda m: mean([x["age_yrs"] for x in m]))),
    sm("number of patients per attending physician", lambda r: per(r, "attending_physician", len)),
    sm("patients admitted after 2026-02-01 in Cardiology or Neurology", keep(lambda x: x["adm_dt"] > "2026-02-01" and x["ward"] in ("Cardiology", "Neurology"))),
    sm("surnames of patients with critical or high severity", lambda r: only([x for x in r if x["severity"] in ("critical", "high")], "surname")),
    sm("patients whose severity is not low", keep(lambda x: x["severity"] != "low")),
    sm("patients admitted between 2026-01-15 and 2026-02-05", keep(lambda x: "2026-01-15" <= x["adm_dt"] <= "2026-02-05")),
    sm("patients who have been discharged", keep(lambda x: x["disch_dt"] is not None)),
    sm("patients with a known temperature", keep(lambda x: x["temp_c"] is not None)),
    sm("patients aged 40 to 70", keep(lambda x: 40 <= x["age_yrs"] <= 70)),
    sm("maximum temperature by ward", lambda r: per(r, "ward", lambda m: max(x["temp_c"] for x in m if x["temp_c"] is not None))),
    sm("count patients by severity", lambda r: per(r, "severity", len)),
    sh("which physician has the most patients", lambda r: []),
    sho("patients over 50 not in Cardiology, sorted by admission date, newest first", lambda r: down([x for x in r if x["age_yrs"] > 50 and x["ward"] != "Cardiology"], "adm_dt")),
    sh("the oldest patient in each ward", lambda r: [max(m, key=lambda x: x["age_yrs"]) for m in groups(r, "ward").values()]),
    sh("wards with an average age above 50", lambda r: [p for p in per(r, "ward", lambda m: mean([x["age_yrs"] for x in m])) if p[1] > 50]),
    sh("how many patients were admitted per month", lambda r: [(k, len(m)) for k, m in groups([{"k": x["adm_dt"][:7]} for x in r], "k").items()]),
    sho("filter to Cardiology, sort by age descending and show surname and age", lambda r: only(down([x for x in r if x["ward"] == "Cardiology"], "age_yrs"), "surname", "age_yrs")),
    # Podcasts.
    eeo("longest episode", lambda r: top(r, "len_min", 1, down=True)),
    eeo("the 3 shortest episodes", lambda r: top(r, "len_min", 3)),
    eeo("newest episode", lambda r: top(r, "published_on", 1, down=True)),
    eeo("most downloaded episode", lambda r: top(r, "dl_count", 1, down=True)),
    ee("episodes hosted by Mara", keep(lambda x: x["host"] == "Mara")),
    ee("explicit episodes", keep(lambda x: x["explicit"])),
    ee("episodes of Kernel Talk", keep(lambda x: x["show_title"] == "Kernel Talk")),
    ee("episodes longer than an hour", keep(lambda x: x["len_min"] > 60)),
    ee("episodes with a guest", keep(lambda x: x["guest"] is not None)),
    ee("episodes published in 2025", keep(lambda x: x["published_on"].startswith("2025"))),
    ee("total downloads", lambda r: [(100400,)]),
    ee("episodes with over 10k downloads", keep(lambda x: x["dl_count"] > 10000)),
    em("average length per show", lambda r: per(r, "show_title", lambda m: mean([x["len_min"] for x in m]))),
    em("total downloads by host", lambda r: per(r, "host", lambda m: total(m, "dl_count"))),
    em("non-explicit episodes shorter than 45 minutes", keep(lambda x: not x["explicit"] and x["len_min"] < 45)),
    em("episodes without a guest published after October 2025", keep(lambda x: x["guest"] is None and x["published_on"] > "2025-10-31")),
    emo("show title and downloads of the top 3 episodes by downloads", lambda r: only(top(r, "dl_count", 3, down=True), "show_title", "dl_count")),
    em("how many episodes does each host have?", lambda r: per(r, "host", len)),
    em("episodes hosted by Dev or Ines", keep(lambda x: x["host"] in ("Dev", "Ines"))),
    em("number of distinct hosts per show", lambda r: per(r, "show_title", lambda m: len({x["host"] for x in m}))),
    eho("shows ranked by average downloads", lambda r: []),
    eh("which host has the lowest total downloads", lambda r: best(per(r, "host", lambda m: total(m, "dl_count")), least=True)),
    eho("episodes from 2025 sorted by downloads, highest first, limited to 3", lambda r: top([x for x in r if x["published_on"].startswith("2025")], "dl_count", 3, down=True)),
    eh("shows with more than 2 episodes", lambda r: [p for p in per(r, "show_title", len) if p[1] > 2]),
    eho("skip the 2 longest episodes and show the rest by length descending", lambda r: down(r, "len_min")[2:]),
    # Football.
    meo("match with the highest gate", lambda r: top(r, "gate", 1, down=True)),
    me("matches refereed by Hale", keep(lambda x: x["referee"] == "Hale")),
    me("matches played at Riverside", keep(lambda x: x["stadium"] == "Riverside")),
    me("matches in September 2025", keep(lambda x: x["match_day"].startswith("2025-09"))),
    me("matches where home goals is 0", keep(lambda x: x["home_goals"] == 0)),
    me("matches with more than 30000 gate", keep(lambda x: x["gate"] > 30000)),
    meo("matches by gate, biggest first", lambda r: down(r, "gate")),
    me("average gate", lambda r: [(mean([x["gate"] for x in r]),)]),
    mm("average gate per stadium", lambda r: per(r, "stadium", lambda m: mean([x["gate"] for x in m]))),
    mm("matches where home goals are greater than away goals", keep(lambda x: x["home_goals"] > x["away_goals"])),
    mm("total home goals per home side", lambda r: per(r, "home_side", lambda m: total(m, "home_goals"))),
    mm("add a column goals = home_goals + away_goals", lambda r: [{**x, "goals": x["home_goals"] + x["away_goals"]} for x in r]),
    mm("matches on 2025-08-16", keep(lambda x: x["match_day"] == "2025-08-16")),
    mh("home_goals plus away_goals as goals, only the matches with goals over 4", lambda r: [{**x, "goals": x["home_goals"] + x["away_goals"]} for x in r if x["home_goals"] + x["away_goals"] > 4]),
    mh("number of matches per referee with gate above 20000", lambda r: per([x for x in r if x["gate"] > 20000], "referee", len)),
    mho("home side, away side and gate of the 2 best attended matches by gate", lambda r: []),
    # Taxis.
    teo("5 longest trips by distance", lambda r: top(r, "dist_km", 5, down=True)),
    te("trips paid by card", keep(lambda x: x["pay_method"] == "card")),
    te("trips from the airport", keep(lambda x: x["pickup_zone"] == "Airport")),
    te("trips with pickup zone Centre", keep(lambda x: x["pickup_zone"] == "Centre")),
    te("trips with a fare over 20", keep(lambda x: x["fare_amt"] > 20)),
    te("trips without a tip", lambda r: []),
    te("total fares", lambda r: [(total(r, "fare_amt"),)]),
    te("trips longer than 10 km", keep(lambda x: x["dist_km"] > 10)),
    te("trips on 2026-03-02", keep(lambda x: x["started_at"].startswith("2026-03-02"))),
    teo("trips sorted by start time, latest first", lambda r: down(r, "started_at")),
    te("trips with 3 or more pax", keep(lambda x: x["pax"] >= 3)),
    tm("average fare per pay method", lambda r: per(r, "pay_method", lambda m: mean([x["fare_amt"] for x in m]))),
    tm("trips from Centre to Airport", keep(lambda x: x["pickup_zone"] == "Centre" and x["dropoff_zone"] == "Airport")),
    tm("cash or card trips under 15", keep(lambda x: x["pay_method"] in ("cash", "card") and x["fare_amt"] < 15)),
    tm("card trips with fare under 10", keep(lambda x: x["pay_method"] == "card" and x["fare_amt"] < 10)),
    tm("sum of fare and sum of tip per driver", lambda r: [(k, total(m, "fare_amt"), total(m, "tip_amt")) if any(x["tip_amt"] is not None for x in m) else (k, total(m, "fare_amt"), None) for k, m in groups(r, "driver_ref").items()]),
    tm("number of trips per pickup zone", lambda r: per(r, "pickup_zone", len)),
    tm("fare and distance of trips to the University", lambda r: only([x for x in r if x["dropoff_zone"] == "University"], "fare_amt", "dist_km")),
    tm("trips with more than 1 passenger not paid in cash", keep(lambda x: x["pax"] > 1 and x["pay_method"] != "cash")),
    th("join trips with drivers on driver_ref", lambda r: beside(r, DRIVERS, "driver_ref"), "drivers"),
    tho("join with drivers on driver_ref, then total fare per full_nm, highest first", lambda r: best(per(beside(r, DRIVERS, "driver_ref"), "full_nm", lambda m: total(m, "fare_amt")), 9), "drivers"),
    th("left join drivers on driver_ref", lambda r: [{**x, **next((d for d in DRIVERS if d["driver_ref"] == x["driver_ref"]), dict.fromkeys(DRIVERS[0])), "driver_ref": x["driver_ref"]} for x in r], "drivers"),
    th("trips with the driver's full name", lambda r: [{**x, "full_nm": next((d["full_nm"] for d in DRIVERS if d["driver_ref"] == x["driver_ref"]), None)} for x in r], "drivers"),
    Case("hard", "drivers", "drivers with no trips", lambda r: lacking(r, TRIPS, "driver_ref"), ("trips",), False),
    th("fare_amt / dist_km as fare_per_km for each trip", lambda r: [{**x, "fare_per_km": x["fare_amt"] / x["dist_km"]} for x in r]),
    th("add fare_per_km = fare_amt / dist_km and show the trips where fare_per_km is above 2.5", lambda r: [{**x, "fare_per_km": x["fare_amt"] / x["dist_km"]} for x in r if x["fare_amt"] / x["dist_km"] > 2.5]),
    th("which pickup zone has the highest average fare", lambda r: best(per(r, "pickup_zone", lambda m: mean([x["fare_amt"] for x in m])))),
    th("drivers with more than one trip and their total fare", lambda r: [(k, total(m, "fare_amt")) for k, m in groups(r, "driver_ref").items() if len(m) > 1]),
    # Weather.
    neo("windiest day", lambda r: []),
    neo("top 2 by rain_mm", lambda r: top(r, "rain_mm", 2, down=True)),
    ne("days with no rain", lambda r: []),
    ne("readings from Harbour", keep(lambda x: x["stn"] == "Harbour")),
    ne("rows where lo_temp is below 0", keep(lambda x: x["lo_temp"] < 0)),
    ne("rows with wind over 40 km/h", keep(lambda x: x["wind_kmh"] > 40)),
    nm("average rain per station", lambda r: per(r, "stn", lambda m: mean([x["rain_mm"] for x in m]))),
    nm("highest hi_temp per station", lambda r: per(r, "stn", lambda m: max(x["hi_temp"] for x in m))),
    nm("rows where rain is missing", keep(lambda x: x["rain_mm"] is None)),
    nm("stations above 1000 m", lambda r: []),
    nmo("station and wind on 2026-01-02, windiest first", lambda r: only(down([x for x in r if x["obs_date"] == "2026-01-02"], "wind_kmh"), "stn", "wind_kmh")),
    nh("compute hi_temp - lo_temp as spread and sort by spread descending", lambda r: sorted([{**x, "spread": x["hi_temp"] - x["lo_temp"]} for x in r], key=lambda x: -x["spread"])),
    # Slips of the finger.
    weo("the 2 cheepest wines", lambda r: top(r, "bottle_price_eur", 2)),
    wm("avarage bottle price per regoin", lambda r: per(r, "region", lambda m: mean([x["bottle_price_eur"] for x in m]))),
    se("patients in Cardiolgy", lambda r: []),
    veo("vessels sortd by dwt", lambda r: by(r, "dwt_tonnes")),
    ee("episodes publishd in 2026", keep(lambda x: x["published_on"].startswith("2026"))),
    pe("parts with unitcost over 100", keep(lambda x: x["unit_cost"] > 100)),
    tm("averge fare by paymethod", lambda r: per(r, "pay_method", lambda m: mean([x["fare_amt"] for x in m]))),
    mmo("matches sorted by atendance, i mean gate, descending", lambda r: []),
]  # fmt: skip
"""An expected answer of no rows at all stands for a refusal: the words fit two readings, or nothing in the table."""
