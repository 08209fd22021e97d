"""Requests of a small town, and what comes of them: averages, shares, days between dates, ways to say how many."""

from __future__ import annotations

from datetime import date
from typing import Any

from tests.lanes.planner.asking import Case
from tests.lanes.planner.requests_easy import by, groups, mean, only, per, top
from tests.lanes.planner.requests_everyday import Expected, askers, beside, best, down, keep, lacking, total
from tests.lanes.planner.samples_town import PETS, VISITS

be, beo, bm, bmo, bh, bho = askers("berths")
re, reo, rm, rmo, rh, rho = askers("repairs")
ce, ceo, cm, cmo, ch, cho = askers("courses")
pe, peo, pm, pmo, ph, pho = askers("pets")
ve, veo, vm, vmo, vh, vho = askers("visits")
REFUSED: Expected = lambda rows: []  # noqa: E731 - as the requests are written


def days(row: Any, first: str, last: str) -> Any:
    """How many days lie between two dates of a row; None where one is missing."""
    return (date.fromisoformat(row[last]) - date.fromisoformat(row[first])).days if row[last] else None


def above(rows: Any, column: str, norm: Any) -> list[Any]:
    """The rows with more than the norm of all rows."""
    return [x for x in rows if x[column] is not None and x[column] > norm([y[column] for y in rows])]


def per_three(rows: Any) -> list[Any]:
    """Of each brand the highest and the lowest quote, and how far they lie apart."""
    ends = [
        (k, max(x["quoted_eur"] for x in m), min(x["quoted_eur"] for x in m)) for k, m in groups(rows, "brand").items()
    ]
    return [(brand, high, low, high - low) for brand, high, low in ends]


TOWN: list[Case] = [
    # The harbour.
    be("boats longer than average", lambda r: above(r, "length_m", mean)),
    be("berths with a fee above average", lambda r: above(r, "fee_per_month_eur", mean)),
    bm(
        "berths whose fee is higher than the average of their own pier",
        lambda r: [
            x for x in r if x["fee_per_month_eur"] > mean([y["fee_per_month_eur"] for y in r if y["pier"] == x["pier"]])
        ],
    ),
    be("berths under 200 a month", keep(lambda x: x["fee_per_month_eur"] < 200)),
    be("berths without power", keep(lambda x: not x["has_power"])),
    be("uninsured boats", keep(lambda x: x["insurer"] is None)),
    be("boats that have no insurer", keep(lambda x: x["insurer"] is None)),
    be("sailing or motor boats on the South pier", REFUSED),
    be(
        "sail or motor boats on the South pier",
        keep(lambda x: x["boat_type"] in ("sail", "motor") and x["pier"] == "South"),
    ),
    be("everything but motor boats", keep(lambda x: x["boat_type"] != "motor")),
    bm("boats booked until 2026", REFUSED),
    be("berths booked since April 2025", REFUSED),
    bm("how many boats lie at each pier, most first", lambda r: best(per(r, "pier", len), 9)),
    bm("owners with more than one boat", lambda r: [p for p in per(r, "owner_name", len) if p[1] > 1]),
    bm(
        "total fee by owner, highest first",
        lambda r: best(per(r, "owner_name", lambda m: total(m, "fee_per_month_eur")), 9),
    ),
    bmo(
        "longest boat per pier",
        lambda r: sorted(
            [max(m, key=lambda x: x["length_m"]) for m in groups(r, "pier").values()], key=lambda x: -x["length_m"]
        ),
    ),
    bm(
        "difference between the longest and the shortest boat per pier",
        lambda r: per(r, "pier", lambda m: max(x["length_m"] for x in m) - min(x["length_m"] for x in m)),
    ),
    bm("the percentage of boats with power", lambda r: [(100 * sum(x["has_power"] for x in r) / len(r),)]),
    bm(
        "percentage of boats with power per pier",
        lambda r: per(r, "pier", lambda m: 100 * sum(x["has_power"] for x in m) / len(m)),
    ),
    bm(
        "boat name and fee divided by length as fee_per_metre",
        lambda r: [{"boat_name": x["boat_name"], "fee_per_metre": x["fee_per_month_eur"] / x["length_m"]} for x in r],
    ),
    bho(
        "boat name and fee divided by length (call it rate), highest first",
        lambda r: sorted(
            [{"boat_name": x["boat_name"], "rate": x["fee_per_month_eur"] / x["length_m"]} for x in r],
            key=lambda x: -x["rate"],
        ),
    ),
    be("insurer of the Heron", lambda r: [{"insurer": None}]),
    be("boats named Tern", keep(lambda x: x["boat_name"] == "Tern")),
    be("berth K-03", keep(lambda x: x["berth_no"] == "K-03")),
    bm(
        "for each pier the number of boats, how many of them have power, and the average length",
        lambda r: [
            (k, len(m), sum(x["has_power"] for x in m), mean([x["length_m"] for x in m]))
            for k, m in groups(r, "pier").items()
        ],
    ),
    bm(
        "number of boats for every boat type and pier",
        lambda r: [(k, p, len(n)) for k, m in groups(r, "boat_type").items() for p, n in groups(m, "pier").items()],
    ),
    be("total fee of each berth", REFUSED),
    be("annual fee of each berth", REFUSED),
    be("berths 100 to 200", REFUSED),
    be("boats and their average length", REFUSED),
    be("number of sail and motor boats", REFUSED),
    be("average fee on the North and South pier", REFUSED),
    be("berths per pier, at least 2", REFUSED),
    be("average fee for sail boats and number of motor boats", REFUSED),
    # The workshop.
    re("repairs not finished yet", keep(lambda x: x["finished_on"] is None)),
    re("unfinished repairs", keep(lambda x: x["finished_on"] is None)),
    rm(
        "repairs that took more than 5 days to finish", keep(lambda x: (days(x, "received_on", "finished_on") or 0) > 5)
    ),
    rm(
        "repairs finished within 3 days of being received",
        keep(lambda x: x["finished_on"] and days(x, "received_on", "finished_on") <= 3),
    ),
    rm(
        "repair number and days between received and finished",
        lambda r: [(x["repair_no"], days(x, "received_on", "finished_on")) for x in r],
    ),
    rm(
        "average number of days from received to finished per technician",
        lambda r: per(r, "technician", lambda m: mean([days(x, "received_on", "finished_on") for x in m])),
    ),
    re("repairs received in February", keep(lambda x: x["received_on"][5:7] == "02")),
    re(
        "repairs received in January and finished in January",
        keep(lambda x: x["received_on"][5:7] == "01" and (x["finished_on"] or "")[5:7] == "01"),
    ),
    re("repair 304", keep(lambda x: x["repair_no"] == 304)),
    re("repairs under warranty", keep(lambda x: x["warranty"])),
    re("number of repairs by technician", lambda r: per(r, "technician", len)),
    rm(
        "how many of the Brix repairs are done?",
        lambda r: [(sum(x["brand"] == "Brix" and x["status"] == "done" for x in r),)],
    ),
    rm(
        "What percentage of all repairs ended up cancelled?",
        lambda r: [(100 * sum(x["status"] == "cancelled" for x in r) / len(r),)],
    ),
    rm(
        "brands whose labour hours add up to more than 3",
        lambda r: [p for p in per(r, "brand", lambda m: total(m, "labour_hrs")) if p[1] > 3],
    ),
    rm(
        "technicians with at least 3 repairs, and their labour hours added up",
        lambda r: [(k, total(m, "labour_hrs")) for k, m in groups(r, "technician").items() if len(m) >= 3],
    ),
    rm("per brand the highest quote, the lowest quote and the difference between the two", per_three),
    rm(
        "add net as quoted minus the discount percentage",
        lambda r: [{**x, "net": x["quoted_eur"] * (100 - x["discount_pct"]) / 100} for x in r],
    ),
    rm(
        "subtract parts from quoted as margin, for repairs that are done",
        lambda r: [{**x, "margin": x["quoted_eur"] - x["parts_eur"]} for x in r if x["status"] == "done"],
    ),
    rm("Brix repairs that don't have warranty", keep(lambda x: x["brand"] == "Brix" and not x["warranty"])),
    rmo(
        "repairs ignoring cancelled ones, most labour hours first",
        lambda r: down([x for x in r if x["status"] != "cancelled"], "labour_hrs"),
    ),
    re("which device was repaired most often?", REFUSED),
    re(
        "repairs by Mona or Piet that are waiting",
        keep(lambda x: x["technician"] in ("Mona", "Piet") and x["status"] == "waiting"),
    ),
    re("most common device", REFUSED),
    re("which brands were never cancelled", REFUSED),
    re("done repairs and Brix", REFUSED),
    re("who worked the most hours", REFUSED),
    re("add hours as labour_hrs plus parts_eur", REFUSED),
    re("repairs including cancelled ones", REFUSED),
    rm("average quote of repairs done by Mona and total hours", REFUSED),
    # Evening courses.
    ce("courses that are full", REFUSED),
    ce("courses with more than 10 enrolled", keep(lambda x: x["enrolled"] > 10)),
    ce("online courses under 100", keep(lambda x: x["is_online"] and x["fee_eur"] < 100)),
    ce("courses without a room", keep(lambda x: x["room"] is None)),
    ce("courses starting in 2026", keep(lambda x: x["starts_on"] >= "2026")),
    ce("art courses or courses taught by Lindt", keep(lambda x: x["subject"] == "art" or x["teacher"] == "Lindt")),
    ceo("courses, earliest start first", lambda r: by(r, "starts_on")),
    cm(
        "free seats (seats max minus enrolled) per subject",
        lambda r: per(r, "subject", lambda m: sum(x["seats_max"] - x["enrolled"] for x in m)),
    ),
    cmo(
        "course title and seats max minus enrolled as free, most free first",
        lambda r: sorted(
            [{"course_title": x["course_title"], "free": x["seats_max"] - x["enrolled"]} for x in r],
            key=lambda x: -x["free"],
        ),
    ),
    cm(
        "average fee rounded to 1 decimal by subject",
        lambda r: per(r, "subject", lambda m: round(mean([x["fee_eur"] for x in m]), 1)),
    ),
    cm(
        "teachers whose courses have more than 20 enrolled in total",
        lambda r: [p for p in per(r, "teacher", lambda m: total(m, "enrolled")) if p[1] > 20],
    ),
    cm(
        "subjects with an average fee above 100",
        lambda r: [p for p in per(r, "subject", lambda m: mean([x["fee_eur"] for x in m])) if p[1] > 100],
    ),
    cm("how many courses are online and what do they cost on average?", REFUSED),
    ce("courses with Italian in the title", keep(lambda x: "Italian" in x["course_title"])),
    ce("teacher of Websites", lambda r: [{"teacher": "Lindt"}]),
    ce("courses cheaper than average", lambda r: [x for x in r if x["fee_eur"] < mean([y["fee_eur"] for y in r])]),
    cm(
        "share of enrolled per subject in percent",
        lambda r: per(r, "subject", lambda m: 100 * total(m, "enrolled") / total(r, "enrolled")),
    ),
    ce("the second most expensive course", lambda r: top(r, "fee_eur", 2, down=True)[1:]),
    ce(
        "number of courses per teacher and subject",
        lambda r: [(k, s, len(n)) for k, m in groups(r, "teacher").items() for s, n in groups(m, "subject").items()],
    ),
    ce(
        "all columns except room for online courses",
        lambda r: [{k: v for k, v in x.items() if k != "room"} for x in r if x["is_online"]],
    ),
    # The vet's pets and visits.
    vm(
        "visits of dogs",
        lambda r: [x for x in r for p in PETS if p["pet_id"] == x["pet_id"] and p["species"] == "dog"],
        "pets",
    ),
    vm(
        "total fee per species",
        lambda r: per(beside(r, PETS, "pet_id"), "species", lambda m: total(m, "fee_eur")),
        "pets",
    ),
    pm("pets without visits", lambda r: lacking(r, VISITS, "pet_id"), "visits"),
    pm("pets who never had a visit", lambda r: lacking(r, VISITS, "pet_id"), "visits"),
    vm(
        "join visits and pets on pet_id and show visit_no, pet_name and fee_eur",
        lambda r: only(beside(r, PETS, "pet_id"), "visit_no", "pet_name", "fee_eur"),
        "pets",
    ),
    ve("visits with pets", REFUSED, "pets"),
    ve("visits with a fee between 40 and 80", keep(lambda x: 40 <= x["fee_eur"] <= 80)),
    ve("fee by vet in total", lambda r: per(r, "vet", lambda m: total(m, "fee_eur"))),
    veo("the two dearest visits", lambda r: top(r, "fee_eur", 2, down=True)),
    pe("oldest dog", lambda r: top([x for x in r if x["species"] == "dog"], "born_year", 1)),
    # Ways of saying it that came later.
    be("show me every boat longer than 10 m", keep(lambda x: x["length_m"] > 10)),
    be(
        "boats belonging neither to Ida Roth nor to Jon Vik",
        keep(lambda x: x["owner_name"] in ("Lea Marin", "Ole Brun")),
    ),
    be("either longer than 10 m or insured with Seafold on the South pier", REFUSED),
    be("sort the berths by date", REFUSED),
    bm(
        "piers with at least 3 berths and their average length",
        lambda r: [(k, mean([x["length_m"] for x in m])) for k, m in groups(r, "pier").items() if len(m) >= 3],
    ),
    re(
        "repairs received between 7 and 15 January 2025",
        keep(lambda x: "2025-01-07" <= x["received_on"] <= "2025-01-15"),
    ),
    re(
        "repairs received from 2 to 18 February 2025 inclusive",
        keep(lambda x: "2025-02-02" <= x["received_on"] <= "2025-02-18"),
    ),
    re("repairs not done, i.e. status is not done", keep(lambda x: x["status"] != "done")),
    re("how many are waiting", lambda r: [(2,)]),
    re("technicians who finished every one of their repairs", REFUSED),
    re("parts per brand, all added up", lambda r: per(r, "brand", lambda m: total(m, "parts_eur"))),
    rmo(
        "margin is quoted minus parts. the 2 repairs with the highest margin, only repair_no and margin",
        lambda r: sorted(
            ((x["repair_no"], x["quoted_eur"] - x["parts_eur"]) for x in r if x["parts_eur"] is not None),
            key=lambda pair: -pair[1],
        )[:2],
    ),
    rm("add net as quoted minus parts, only repairs above 40 euros", REFUSED),
    rmo(
        "number of repairs per month of received on, oldest month first",
        lambda r: [(k, sum(x["received_on"][:7] == k for x in r)) for k in ("2025-01", "2025-02", "2025-03")],
    ),
    rmo("skip the 2 repairs with the highest quote and give me the next 3", REFUSED),
    cmo("skip the 2 dearest courses and give me the next 3", lambda r: top(r, "fee_eur", 5, down=True)[2:]),
    cmo(
        "courses by weeks, longest first, then by title",
        lambda r: sorted(r, key=lambda x: (-x["weeks"], x["course_title"])),
    ),
    cmo(
        "cheapest first, then by title: title and fee",
        lambda r: only(sorted(r, key=lambda x: (x["fee_eur"], x["course_title"])), "course_title", "fee_eur"),
    ),
    cm("how many courses are online, and how many are not", REFUSED),
    cm("total enrolled over all courses", lambda r: [(total(r, "enrolled"),)]),
    ve("how many visits were vaccinated", lambda r: [(2,)]),
    pm("pets whose pet_id never shows up in the visits", lambda r: lacking(r, VISITS, "pet_id"), "visits"),
    pm("pets that never had a visit (pet_id = pet_id)", lambda r: lacking(r, VISITS, "pet_id"), "visits"),
]
