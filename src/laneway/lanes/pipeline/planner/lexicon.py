"""What words mean about any table: abbreviations, units, synonyms, and the small words that mean nothing here."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.phrasing import words


def _pairs(text: str) -> dict[str, str]:
    """`word=meaning` pairs divided by `;`."""
    return {left.strip(): right.strip() for left, right in (pair.split("=") for pair in text.split(";") if "=" in pair)}


CONTRACTIONS = _pairs(
    "what's=what is; who's=who is; where's=where is; that's=that is; there's=there is; isn't=is not; aren't=are not;"
    "don't=do not; doesn't=does not; didn't=did not; wasn't=was not; weren't=were not; haven't=have not;"
    "hasn't=has not; i'd=i would; i'm=i am; let's=let us; can't=can not; who're=who are; they're=they are"
)
IRREGULAR = _pairs(
    "people=person; men=man; women=woman; children=child; movies=movie; cookies=cookie; series=series; news=news;"
    "prices=price; houses=house; purchases=purchase; courses=course; expenses=expense; invoices=invoice;"
    "employees=employee; addresses=address; statuses=status; classes=class; buses=bus; diagnoses=diagnosis;"
    "countries=country; cities=city; categories=category; companies=company; salaries=salary; entries=entry;"
    "gas=gas; bus=bus; sales=sale; wages=wage; warehouses=warehouse; nurses=nurse; horses=horse; licenses=license;"
    "responses=response; databases=database; leases=lease; cases=case; releases=release; universities=university;"
    "stories=story; batteries=battery; deliveries=delivery; parties=party; libraries=library; sizes=size; ties=tie;"
    "zombies=zombie; calories=calorie; species=species; vehicles=vehicle; ids=id; devices=device; services=service"
)
ABBREVIATIONS = _pairs(
    "dep=departure; dept=department; arr=arrival; qty=quantity; amt=amount; cust=customer; emp=employee;"
    "prod=product; cat=category; num=number; no=number; nr=number; nbr=number; addr=address; tel=phone; dob=birth date;"
    "avg=average; org=organization; mgr=manager; loc=location; dest=destination; dst=destination; orig=origin;"
    "temp=temperature; dur=duration; len=length; wt=weight; ht=height; pop=population; yr=year; mo=month; sal=salary;"
    "rev=revenue; inv=inventory; bal=balance; lang=language; ctry=country; cntry=country; fname=first name;"
    "lname=last name; tot=total; ts=timestamp; dt=date; prc=price; rtg=rating; cnt=count; ord=order; mfr=manufacturer;"
    "desc=description; descr=description; birthdate=birth date; birthday=birth date; signup=sign up;"
    "firstname=first name; lastname=last name; fullname=full name; timestamp=timestamp; datetime=datetime;"
    "ship=ship; bday=birth date; acct=account; cntr=counter; dist=distance; lat=latitude; lon=longitude;"
    "zipcode=zip code; headcount=headcount; networth=net worth; stk=stock; sz=size; clr=color; colour=color;"
    "favourite=favorite; centre=center; mail=email; cellphone=phone; mobile=phone; telephone=phone; instock=in stock;"
    "flightno=flight number; orderno=order number; orderid=order id; customerid=customer id; productid=product id;"
    "userid=user id; employeeid=employee id; unitprice=unit price; pub=published; prio=priority; pos=position"
)
UNITS = _pairs(
    "usd=usd; dollar=usd; dollars=usd; eur=eur; euro=eur; euros=eur; gbp=gbp; pound=gbp; pounds=gbp; cents=cent;"
    "kg=kg; kgs=kg; kilo=kg; kilos=kg; kilograms=kg; g=g; gram=g; grams=g; lb=lb; lbs=lb; km=km; kms=km; kilometers=km;"
    "kilometres=km; mi=mi; mile=mi; miles=mi; m=m; meters=m; metres=m; cm=cm; mm=mm; ft=ft; feet=ft; min=min; mins=min;"
    "minute=min; minutes=min; hr=h; hrs=h; h=h; hour=h; hours=h; sec=s; secs=s; second=s; seconds=s; s=s; ms=ms;"
    "millisecond=ms; milliseconds=ms; days=day; percent=%; pct=%; perc=%; celsius=c; c=c; km2=km2; sqm=m2; m2=m2;"
    "gb=gb; mb=mb; kb=kb; tb=tb; l=l; liter=l; liters=l; ml=ml; kwh=kwh; mph=mph; kmh=kmh; kph=kmh; sqft=ft2; hp=hp"
)
"""The last word of a column's name, or the word behind a number, as a unit of measure."""
CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp"}
CONVERSIONS = {
    ("h", "min"): 60, ("h", "s"): 3600, ("min", "s"): 60, ("s", "ms"): 1000, ("h", "ms"): 3_600_000,
    ("min", "ms"): 60_000, ("kg", "g"): 1000, ("km", "m"): 1000, ("m", "cm"): 100, ("m", "mm"): 1000,
    ("cm", "mm"): 10, ("usd", "cent"): 100, ("day", "h"): 24, ("day", "min"): 1440,
}  # fmt: skip
"""How many of the second unit one of the first is; only whole factors, so that nothing is rounded."""

_CONCEPTS = """
price cost fare fee charge
rating score star
duration runtime
departure departs leaves takeoff
arrival arrives landing
origin source
destination
quantity unit_count pieces
city town
country nation
salary pay wage compensation earnings income
email mail
phone telephone mobile
category type kind genre

revenue sale turnover
birth born birthday
stock inventory
weight mass
population inhabitant resident
customer client buyer shopper
employee staff worker colleague
airline carrier operator
department division
product item article
name title
manufacturer maker brand make
author writer
director directed
assignee assigned
supplier vendor
location place
color shade
hire hired
create created
join joined sign signed register registered registration
release released publish published publication
depart departure
arrive arrival
warehouse depot
language tongue
student pupil
teacher instructor
doctor physician
user account member
distance
speed velocity
height tall
size
manager boss supervisor
job position role occupation
company firm employer organization business

zip postcode postal
bedroom bed
mileage odometer
temperature
"""
CONCEPTS: dict[str, frozenset[int]] = {}
for _number, _line in enumerate(_CONCEPTS.split("\n")):
    for _word in _line.split():
        CONCEPTS[_word] = CONCEPTS.get(_word, frozenset()) | {_number}
"""Words that name the same thing share a number."""

MODIFIERS_THAT_MATTER = words(
    "old previous prior former last next competitor discount discounted tax shipping delivery target estimated expected"
    " budget planned forecast refund original min max minimum maximum lowest highest second secondary alternate backup"
    " parent child spouse emergency billing handling late extra insurance other net gross returned cancelled"
    " change growth rank percent ratio manager supervisor"
)
"""In front of a column's noun these make it another thing: a `discount_price` is not the price."""
ENTITY_TAILS = words("name id code title label number key text description to by count")
EVENT_TAILS = words("date time at on day datetime timestamp when year")
MEASURE_TAILS = words("value amount total sold")
EVENTS = words(
    "departure depart arrival arrive created create signed sign registered register joined join hired hire born birth"
    " shipped ship ordered order delivered delivery released release published publish updated update opened open"
    " closed close founded found started start ended end due expiry expire purchase purchased invoice booking booked"
    " payment paid visit login admission admitted discharged event transaction checkin checkout landing takeoff sold"
    " bought modified completed finished placed filed submitted manufactured built launched launch seen"
)
MEASURES = words("price cost fare fee salary revenue weight rating score discount tax amount balance unit")

FILLERS = words(
    "the a an all of me please my our us that which who are is were was be there do does did it its them they"
    " their these those currently now every whole full entire exist exists available_ here you i we so"
)
"""Words that change no table wherever they stand; never a negation, a number or a comparison."""
ROW_WORDS = words("row record entry result line datum datapoint one")
GENERIC = words("row record entry result line one thing item element observation data dataset table list everything")
VAGUE = words(
    "cheap expensive recent new old young good bad great nice popular big small large high low long short few several"
    " many some other similar nearby interesting important weird unusual outlier typical common rare late early fast"
    " slow affordable reasonable decent modern fresh heavy light tall busy hot cold warm rich poor strong weak close"
    " far favorite favourite relevant related similar suspicious odd normal abnormal valid invalid"
)
ARTICLES = words("the a an any their its his her each")
WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
} | {
    word: 10 * number
    for number, word in enumerate(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 3)
}
SCALES = {"hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "m": 10**6, "mn": 10**6, "billion": 10**9,
          "bn": 10**9, "b": 10**9}  # fmt: skip
ORDINALS = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "6th": 6, "7th": 7, "8th": 8, "9th": 9, "10th": 10,
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ],
        1,
    )
    for name in names.split()
}
