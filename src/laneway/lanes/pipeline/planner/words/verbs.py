"""Verbs that say something of a column: what is measured, when it happened, and who does such things."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.phrasing import meanings, pairs, phrases, words

MEASURING = meanings(
    """
    price: cost | costs | costing | priced | paying | pay | pays | charging | charge | charges | sells for |
        selling for | sell for | going for | priced at
    stay: stayed | stay | stays | staying
    revenue: bring in | brings in | brought in | bringing in | generated | generates | grossed
    rating: rated | scoring an average
    score: scored | scoring | score | scores
    weight: weigh | weighs | weighing | weighed
    duration: lasts | lasting | last | lasted | take | takes | taking | took | run for | runs for | running | run | runs
    yield: produced | produces | produce | yielded | yields | gave
    salary revenue income: earn | earns | earning | earned | make | makes | making | paid
    age: aged
    value: worth | valued at | is worth | are worth
    size: sized | measuring
    capacity: seating | holding | holds | hold | carrying
    distance: covering | covered
    """
)
"""What a number behind such a verb is about."""
DATED_BY = {
    "bought": ("purchased",), "purchased": ("bought", "ordered"), "born": ("birth",), "ordered": ("purchased",
    "placed"),
    "departing": ("departure",), "leaving": ("departure",), "leaves": ("departure",), "leave": ("departure",),
    "departs": ("departure",), "depart": ("departure",), "arriving": ("arrival",), "arrives": ("arrival",),
    "arrive": ("arrival",), "landing": ("arrival",), "landed": ("arrival",), "dispatched": ("shipped", "sent"),
    "sent": ("shipped", "dispatched"), "returned": ("return",), "logged": ("login",), "billed": ("invoiced", "issued"),
    "invoiced": ("issued",), "seen": ("visit",), "resolved": ("closed",), "finished": ("completed", "ended"),
    "completed": ("finished", "ended"), "established": ("founded",), "founded": ("established",), "hired": ("start",
    "joined"),
    "employed": ("hired", "start"), "borrowed": ("loaned", "checkout"), "harvested": ("harvest",),
    "maintained": ("service",),
    "serviced": ("service",), "released": ("published",), "published": ("released",), "bred": ("birth",),
    "picked": ("pickup",), "taken": ("pickup",), "rented": ("pickup", "start"), "dropped": ("return",),
    "acquired": ("purchased", "bought"), "added": ("created",), "registered": ("signup", "sign"),
    "opened": ("created",),
    "installed": ("install",), "moved": ("start", "checkin"), "arrived": ("arrival", "delivered"),
    "played": ("match", "game"), "held": ("event", "exam"), "taking": ("event",), "sat": ("exam",),
    "due": ("deadline",), "died": ("death",), "joined": ("signup",), "signed": ("signup", "registered"),
    "made": ("created",),
}  # fmt: skip
"""Where no column is called after the verb itself, it may be called after one of these."""
BEGUN = words(
    "made placed submitted filed raised reported posted added logged lodged taken recorded measured conducted performed"
)
"""What is placed, filed or taken is created on that day, where no column says more."""
ALIKE = {"hir": ("start", "joined"), "join": ("hired", "start"), "start": ("hired", "joined")}
"""Where nothing is said of the one, the other is the same day."""
ORIGINS = (
    "built",
    "installed",
    "founded",
    "established",
    "created",
    "made",
    "manufactured",
    "born",
    "opened",
    "launched",
    "planted",
    "published",
    "released",
    "ordered",
    "placed",
    "issued",
    "booked",
    "signed",
)
"""Dates of these are those of the thing itself: its age is counted from there."""
LATER = words("next due follow expiry until end return renewal deadline")
"""Dates of these are other days than the thing's own."""
ENDS = phrases("ends | end | ending | expires | expire | expiring | expired | runs out | run out | running out |"
               " finishes"
               " | finish | finishing | is up | are up | lapses | lapse | ended | terminates")  # fmt: skip
STARTS = phrases("starts | start | starting | begins | begin | beginning | started | began")
DOERS = {
    verb: words(doers)
    for verb, doers in pairs(
        "treated=doctor physician surgeon nurse vet; seen=doctor physician vet observer; checked=inspector doctor"
        " vet; examined=doctor physician vet; taught=teacher instructor lecturer;"
        "teach=teacher instructor lecturer; led=lead leader manager head; headed=head manager; driven=driver;"
        "flown=pilot captain airline carrier; sung=artist singer; performed=artist performer; recorded=artist;"
        "painted=painter artist; cooked=chef cook; prepared=chef cook; handled=agent assignee employee clerk adjuster"
        " handler rep caseworker;"
        "captained=captain; developed=developer studio; employed=employer company department; grown=grower farm;"
        "operated=operator airline carrier; made=maker make manufacturer brand company; written=author writer;"
        "sold=seller vendor store shop rep salesperson agent; produced=producer manufacturer maker brand studio;"
        "published=publisher; owned=owner; directed=director; paid=payment pay method; sponsored=sponsor;"
        " insured=insurer;"
        "refereed=referee; born=birthplace; sent=carrier courier shipper sender; shipped=carrier courier shipper;"
        "delivered=carrier courier driver; carried=carrier courier; transported=carrier courier;"
        "billed=vendor supplier biller; bill=vendor supplier; invoiced=vendor supplier; charged=vendor supplier;"
        "supplied=supplier vendor; delivered=carrier courier supplier; bought=customer buyer client;"
        "ordered=customer buyer client; purchased=customer buyer client; placed=customer buyer client;"
        "booked=customer guest client patient; rented=customer client renter tenant; hired=customer client;"
        "requested=requester; reported=reporter requester; raised=requester reporter; submitted=requester author;"
        "opened=requester; solved=assignee agent; resolved=assignee agent; fixed=assignee agent; closed=assignee agent;"
        "worked=assignee agent; looked=assignee; booked=customer guest client patient; borrowed=borrower member;"
        "loaned=borrower member; played=team club artist; coached=coach trainer; trained=trainer coach;"
        "represented=agency agent representative manager label;"
        "advised=advisor adviser; mentored=mentor; supervised=supervisor manager; managed=manager;"
        "brewed=brewery brewer; bottled=winery; designed=designer architect; built=builder manufacturer shipyard;"
        "manufactured=manufacturer maker brand; hosted=host; organized=organizer; organised=organiser; donated=donor;"
        "given=donor; give=donor; gave=donor; funded=funder sponsor; invented=inventor; discovered=discoverer;"
        "serviced=technician mechanic; repaired=technician mechanic; inspected=inspector; audited=auditor;"
        "reviewed=reviewer; rated=reviewer; approved=approver; signed=signatory; translated=translator;"
        "narrated=narrator; illustrated=illustrator; composed=composer; edited=editor; drawn=artist illustrator"
    ).items()
}
"""Who does what, where the doer's name does not come from the verb."""
PLACED = words(
    "played held located based kept stored stationed docked seen found parked living situated moored housed staying"
    " working enrolled filed listed registered placed shown"
)
"""Verbs that only say that something is somewhere."""
ABOVE = words("manager supervisor boss lead")
