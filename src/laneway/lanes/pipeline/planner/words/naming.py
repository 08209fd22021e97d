"""Words of column names: abbreviations, plurals, units of measure, and words that name the same thing."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.phrasing import pairs, words

IRREGULAR = pairs(
    "people=person; men=man; women=woman; children=child; movies=movie; cookies=cookie; series=series; news=news;"
    "prices=price; houses=house; purchases=purchase; courses=course; expenses=expense; invoices=invoice;"
    "employees=employee; addresses=address; statuses=status; classes=class; buses=bus; diagnoses=diagnosis;"
    "countries=country; cities=city; categories=category; companies=company; salaries=salary; entries=entry;"
    "gas=gas; bus=bus; sales=sale; wages=wage; warehouses=warehouse; nurses=nurse; horses=horse; licenses=license;"
    "responses=response; databases=database; leases=lease; cases=case; releases=release; universities=university;"
    "stories=story; batteries=battery; deliveries=delivery; parties=party; libraries=library; sizes=size; ties=tie;"
    "zombies=zombie; calories=calorie; species=species; vehicles=vehicle; ids=id; devices=device; services=service;"
    "halves=half; shelves=shelf; loaves=loaf; wolves=wolf; calves=calf; wives=wife; lives=live; analyses=analysis;"
    "crises=crisis; mice=mouse; geese=goose; feet=feet; teeth=tooth; criteria=criterion; branches=branch;"
    "matches=match; batches=batch; coaches=coach; dishes=dish; boxes=box; taxes=tax; movies=movie; quizzes=quiz;"
    "premises=premise; bases=base; phases=phase; nurseries=nursery; lenses=lens; gases=gas; canvas=canvas"
)
ABBREVIATIONS = pairs(
    "dep=departure; dept=department; arr=arrival; qty=quantity; amt=amount; cust=customer; emp=employee;"
    "prod=product; num=number; nr=number; nbr=number; nmbr=number; addr=address; tel=phone; dob=birth date;"
    "avg=average; org=organization; mgr=manager; loc=location; dest=destination; dst=destination; orig=origin;"
    "temp=temperature; dur=duration; len=length; wt=weight; ht=height; pop=population; yr=year; mo=month; sal=salary;"
    "rev=revenue; bal=balance; lang=language; ctry=country; cntry=country; fname=first name; cat=category;"
    "lname=last name; tot=total; ts=timestamp; dt=date; prc=price; rtg=rating; cnt=count; ord=order; mfr=manufacturer;"
    "desc=description; descr=description; birthdate=birth date; birthday=birth date; signup=signup;"
    "firstname=first name; lastname=last name; fullname=full name; ship=ship; bday=birth date; acct=account;"
    "cntr=counter; dist=distance; lat=latitude; lon=longitude; zipcode=zip code; networth=net worth; stk=stock;"
    "sz=size; clr=color; colour=color; favourite=favorite; centre=center; mail=email; cellphone=phone; mobile=phone;"
    "telephone=phone; instock=in stock; flightno=flight number; orderno=order number; orderid=order id;"
    "customerid=customer id; productid=product id; userid=user id; employeeid=employee id; unitprice=unit price;"
    "pub=published; prio=priority; pos=position; nm=name; ref=reference; stn=station; adm=admission;"
    "disch=discharge; dl=download; pax=passenger; ep=episode; qoh=quantity on hand; elev=elevation; alt=altitude;"
    "promo=promotion;"
    "txn=transaction; trx=transaction; tx=transaction; grp=group; lvl=level; msg=message; vol=volume; wgt=weight;"
    "hgt=height; spd=speed; pwr=power; pmt=payment; pymt=payment; bldg=building; tkt=ticket; sev=severity;"
    "proj=project; mkt=market; src=source; usr=user; cd=code; sts=status; stat=status; flr=floor; px=price; ct=count;"
    "veh=vehicle; pkg=package; svc=service; ctr=center; tmp=temperature; cap=capacity; pts=points; pt=point;"
    "consump=consumption; capac=capacity; lic=license; yob=birth year; doj=join date; eta=arrival; etd=departure;"
    "appt=appointment; repl=replacement; inv=invoice; mfg=manufacturing; maint=maintenance; reg=registration;"
    "cert=certificate; exp=expiry; min=minimum; max=maximum; est=estimated; pct=percent; perc=percent; occ=occupancy;"
    "res=reservation; resp=response; supp=supplier; sup=supplier; vend=vendor; whs=warehouse; wh=warehouse;"
    "ln=line; seq=sequence; sub=subscription; subs=subscribers; tech=technician; insp=inspection; op=operator;"
    "specs=specification; spec=specification; util=utilization; yld=yield; prem=premium; pol=policy; ins=insurance;"
    "disc=discount; comm=commission; cmt=comment; att=attendance; attn=attention; mtg=meeting; sched=scheduled;"
    "bgt=budget; bud=budget; exec=executed; cur=current; prev=previous; curr=currency; cond=condition;"
    "hp=horsepower; dia=diameter;"
    "equip=equipment; instr=instructor; lect=lecturer; stud=student; sem=semester; crs=course; enrol=enrollment;"
    "enr=enrolled; reqd=required; req=request; rcvd=received; recd=received; rec=received; del=delivery; dlv=delivery;"
    "dlvd=delivered; shp=shipped; shpd=shipped; pd=paid; bkg=booking; bk=booking; hrs=hours; hr=hour; mins=minutes;"
    "secs=seconds; yrs=years; mos=months; wks=weeks; wk=week; dy=day; nat=nationality; occup=occupation;"
    "deg=degree; spc=species; hab=habitat; cons=consumption; gen=generation; sess=session; fav=favorite;"
    "lbl=label; pw=password; ver=version; rel=release; auth=author; publ=publisher; ed=edition; pgs=pages; pg=page;"
    "chap=chapter; ctgry=category; typ=type; sku=sku; hcp=handicap; mtr=meter; rdg=reading; tmpl=template;"
    "cal=calories; kcal=kcal; srv=servings; ingr=ingredients; med=medication; diag=diagnosis; pat=patient; doc=doctor;"
    "phys=physician; hosp=hospital; vac=vacation; pto=vacation; ann=annual; qtr=quarter; fy=fiscal year;"
    " mod=modified; upd=updated;"
    "crt=created; avail=available; incl=included; odo=odometer; excl=excluded; qual=quality; obs=observation;"
    " temps=temperature; precip=precipitation; humid=humidity; vel=velocity; alloc=allocated; sugg=suggested;"
    " recom=recommended; attd=attended; regd=registered; submtd=submitted; benef=beneficiary; mkup=markup; sqft=sqft;"
    " nbhd=neighborhood; hood=neighborhood; bedrm=bedroom; bathrm=bathroom; bdrm=bedroom; bth=bathroom;"
    " baths=bathrooms; veg=vegetarian; glut=gluten; kcals=kcal; wgts=weight; grd=grade; maj=major; sect=section;"
    " sec=section; chnl=channel; sess=session; refr=referral; conv=conversion; impr=impressions; clk=clicks; ctr=ctr;"
    " cpc=cpc; roi=roi; tmax=maximum temperature; tmin=minimum temperature; tavg=average temperature; wspd=wind"
    " speed; rh=humidity; chg=changed; cxl=cancelled; canc=cancelled; capex=capex; nps=nps; csat=csat; mrr=monthly"
    " revenue; os=operating system"
)
"""What parts of a name stand for. `no` stands for a number only at the end of one."""
COMPOUNDS = {
    ("check", "in"): "checkin", ("check", "out"): "checkout", ("pick", "up"): "pickup", ("drop", "off"): "dropoff",
    ("log", "in"): "login", ("sign", "up"): "signup", ("head", "count"): "headcount", ("post", "code"): "postcode",
    ("birth", "day"): "birthday", ("on", "hand"): "stock", ("start", "up"): "startup", ("turn",
    "over"): "turnover", ("over", "time"): "overtime",
}  # fmt: skip
"""Two words that are one."""
UNITS = pairs(
    "usd=usd; dollar=usd; dollars=usd; eur=eur; euro=eur; euros=eur; gbp=gbp; pound=gbp; pounds=gbp; chf=chf;"
    "francs=chf; franc=chf; sek=sek; nok=nok; dkk=dkk; jpy=jpy; yen=jpy; inr=inr; cents=cent; cent=cent;"
    "kg=kg; kgs=kg; kilo=kg; kilos=kg; kilogram=kg; kilograms=kg; g=g; gram=g; grams=g; lb=lb; lbs=lb;"
    "km=km; kms=km; kilometer=km; kilometers=km; kilometre=km; kilometres=km; mi=mi; mile=mi; miles=mi; m=m;"
    "meter=m; meters=m; metre=m; metres=m; cm=cm; centimeters=cm; centimetres=cm; mm=mm; millimeters=mm;"
    "millimetres=mm; ft=ft; feet=ft; foot=ft; min=min; mins=min; minute=min; minutes=min; hr=h; hrs=h; h=h; hour=h;"
    "hours=h; sec=s; secs=s; second=s; seconds=s; s=s; ms=ms; millisecond=ms; milliseconds=ms; day=day; days=day;"
    "percent=%; percentage=%; pct=%; perc=%; celsius=c; degc=c; c=c; degrees=c; km2=km2; cm2=cm2; mm2=mm2; m3=m3;"
    " sqm=m2; m2=m2; sqkm=km2;"
    "gb=gb; mb=mb; kb=kb; tb=tb; gigabytes=gb; megabytes=mb; gigs=gb; tonne=t; tonnes=t; ton=t; tons=t; t=t; yrs=yr;"
    "years=yr; pts=pt; points=pt; rpm=rpm; mpg=mpg; v=v; volts=v; months=month; mos=month; weeks=week; wks=week;"
    "ha=ha; hectare=ha; hectares=ha; acre=acre; acres=acre; kw=kw; kilowatts=kw; mw=mw; ghz=ghz; mhz=mhz; psi=psi;"
    "l=l; liter=l; liters=l; litre=l; litres=l; ltr=l; hl=hl; ml=ml; kwh=kwh; mwh=mwh; mph=mph; kmh=kmh; kph=kmh;"
    "kmph=kmh; sqft=ft2; hp=hp; horsepower=hp; kcal=kcal; calories=kcal; meur=meur; keur=keur; musd=musd; kusd=kusd;"
    "mgbp=mgbp;"
    "teur=keur; k=k; mchf=mchf; kchf=kchf; mio=mio; lux=lux; ppm=ppm; db=db; bar=bar; w=w; watts=w; kcals=kcal; oz=oz"
)
"""The last word of a column's name, or the word behind a number, as a unit of measure."""
CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp"}
MONEY = words("money usd eur gbp chf sek nok dkk jpy inr meur keur musd kusd mgbp mchf kchf")
THOUSANDS = {"meur": ("eur", 10**6), "musd": ("usd", 10**6), "mgbp": ("gbp", 10**6), "mchf": ("chf", 10**6),
             "keur": ("eur", 1000), "kusd": ("usd", 1000), "kchf": ("chf", 1000), "mio": ("", 10**6),
             "k": ("", 1000)}  # fmt: skip
"""Units that count thousands or millions of another."""
CONVERSIONS = {
    ("h", "min"): 60, ("h", "s"): 3600, ("min", "s"): 60, ("s", "ms"): 1000, ("h", "ms"): 3_600_000,
    ("min", "ms"): 60_000, ("kg", "g"): 1000, ("km", "m"): 1000, ("m", "cm"): 100, ("m", "mm"): 1000,
    ("cm", "mm"): 10, ("usd", "cent"): 100, ("eur", "cent"): 100, ("day", "h"): 24, ("day", "min"): 1440,
    ("week", "day"): 7, ("t", "kg"): 1000, ("l", "ml"): 1000, ("gb", "mb"): 1024, ("tb", "gb"): 1024,
    ("year", "month"): 12, ("yr", "month"): 12, ("mwh", "kwh"): 1000, ("mw", "kw"): 1000, ("kw", "w"): 1000,
}  # fmt: skip
"""How many of the second unit one of the first is."""
TIMES = words("ms s min h day week month yr")
LENGTHS = words("m km cm mm mi ft")

_CONCEPTS = """
price cost fare fee charge rate
tonnage dwt deadweight
rating score star
score mark result
duration runtime
departure departs leaves takeoff
arrival arrives landing
origin source from sender
destination to target recipient receiver dropoff
origin departure from
origin pickup start
arrival checkin
departure checkout
join signup sign
destination arrival to
quantity unit_count pieces unit
city town
country nation
salary pay wage compensation earnings income
email mail
phone telephone mobile
category type kind genre class
revenue sale turnover
birth born birthday
stock inventory
vacation holiday
sunshine sun
yield harvest harvested output production
party person participant
satisfaction happiness csat
weight mass
population inhabitant resident
customer client buyer shopper
employee staff worker colleague
airline carrier operator
department division
product item article
name title
manufacturer maker brand make producer
author writer
director directed
assignee assigned
supplier vendor seller
location place site
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
teacher instructor lecturer tutor
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
wind gust
rain rainfall precipitation
abv alcohol
attendance crowd spectator visitor
guest visitor
remark note comment
team club side squad
until end expiry expire expiration
since start begin
loan borrow checkout
headcount employee
consumption usage used
issue issued
amount value sum
game match appearance
extension ext
neighborhood neighbourhood hood district quarter
condition state status
occupancy occupied
subject topic
done finished completed complete finish
for scored
against conceded
win won victory
loss lost defeat
draw drawn
"""
CONCEPTS: dict[str, frozenset[int]] = {}
for _number, _line in enumerate(_CONCEPTS.split("\n")):
    for _word in _line.split():
        CONCEPTS[_word] = CONCEPTS.get(_word, frozenset()) | {_number}
"""Words that name the same thing share a number."""

KIND_OF_UNIT = {
    unit: words(said)
    for said, units in (
        ("weight mass load", "kg g lb t oz"), ("distance mileage length range", "km mi"),
        ("length height width depth size", "m cm mm ft"),
        ("price cost amount fee value money", "usd eur gbp chf sek nok dkk jpy inr meur keur musd kusd mgbp mchf kchf"
                                              " cent"),
        ("time duration length", "ms s min h"), ("pace", "min/km"), ("time duration length wait age period",
        "day week month yr"),
        ("consumption usage use", "l kwh mwh l/100km kwh/100km mpg"), ("volume capacity size", "l ml hl m3"),
        ("temperature", "c"),
        ("area size surface", "ha m2 km2 ft2 acre"), ("speed", "kmh mph"), ("power output capacity", "kw mw w hp"),
        ("percentage percent share rate ratio", "%"), ("energy calories", "kcal"), ("memory storage size space",
        "gb mb tb kb"),
        ("score rating points", "pt"), ("voltage", "v"), ("age", "yr"), ("yield", "t/ha kg/ha"),
    )
    for unit in units.split()
}  # fmt: skip
"""What is measured in a unit."""
MODIFIERS_THAT_MATTER = words(
    "old previous prior former last next competitor discount discounted tax shipping delivery target estimated expected"
    " budget planned forecast refund original min max minimum maximum lowest highest second secondary alternate backup"
    " parent child spouse emergency billing handling late extra insurance other net gross returned cancelled"
    " change growth rank percent ratio manager supervisor tip bonus deposit commission interest"
    " scrap reorder peak first paid refunded claimed billed received"
)
"""In front of a column's noun these make it another thing: a `discount_price` is not the price."""
WEAK_MODIFIERS = words(
    "base unit list asking annual monthly weekly daily yearly nightly full display current overall own"
)
"""In front of a column's noun these say nothing that people would say."""
STATS = words("amount value total average mean count quantity number level sum rate points point sold figure size")
"""They say how something is counted, and may be left out: the `stock_qty` is the stock."""
TAILS = words("id code name key reference text description label title date time at on day datetime timestamp when year"
              " until by to since from ext extension type kind variety class group category style state zone area"
              " site location line ytd mtd qtd available tag now field")  # fmt: skip
"""They say what kind of thing a column holds, and may be left out where it holds that."""
DATED = words("date time at on day datetime timestamp when year until since by from expiry deadline")
NAMING = words("name id code title label number key text description reference")
ENTITY_TAILS = words("name id code title label number key text description to by count reference tag serial")
EVENT_TAILS = words("date time at on day datetime timestamp when year")
PREFIXES = words("is has was are can had does did were")
EVENTS = words(
    "departure depart arrival arrive created create signed sign registered register joined join hired hire born birth"
    " shipped ship ordered order delivered delivery released release published publish updated update opened open"
    " closed close founded found started start ended end due expiry expire purchase purchased invoice booking booked"
    " payment paid visit login admission admitted discharged event transaction checkin checkout landing takeoff sold"
    " bought modified completed finished placed filed submitted manufactured built build launched launch seen discharge"
    " counted count checked check inspected inspection serviced tested returned return cancelled sent received approved"
    " signed verified reviewed harvested planted sown picked opened issued renewed collected loaned borrowed resolved"
    " request requested enroll enrolled enrollment graduated leased acquired added listed read recorded installed"
    " serviced"
)
FLOWS = words("cost fee amount revenue sale spend income expense payment donation turnover profit")
"""Money that flows is added up over a time."""
HAPPENINGS = words(
    "goal like play view visit click download loan vote visitor passenger point medal assist sold logged worked spent"
)
"""What happens one by one is added up, too."""
MEASURES = words(
    "price cost fare fee salary revenue weight rating score discount tax amount balance unit tip bonus commission bill"
    " rent deposit premium interest spend profit expense budget wage donation refund sale"
)
