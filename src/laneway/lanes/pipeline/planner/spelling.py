"""Words as they are compared: without case, number and abbreviation, and how far one is from another."""

from __future__ import annotations

import re
from functools import lru_cache

from laneway.lanes.pipeline.planner.phrasing import pairs, words
from laneway.lanes.pipeline.planner.words.naming import ABBREVIATIONS, COMPOUNDS, IRREGULAR, UNITS

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LASTING = words(
    """
    duration dur time runtime length len delay wait elapsed distance dist height depth width elevation elev altitude alt
    prep cook talk travel bake commute setup play response reaction handling battery batt volume vol voltage
    temperature temp reading weight yield cargo load capacity cap power size diameter range consumption usage delayed
    late hold work idle visit session call trip ride video watch stay sunshine pace finish race lap swim run walk drive
    sleep hgt ht dia hub wing span rotor wgt
    tank engine bottle cargo payload net gross tmax tmin tavg hi lo air water body dew oven
    """
)
"""`duration_min` counts minutes, `height_m` metres."""
_LIMITED = words(
    """
    price temp temperature salary cost age rating score value fee rent qty quantity stock order wind humidity speed bid
    grade gpa budget level weight height width amount amt bedrooms seats temp_c pressure load size capacity players
    """
)
"""A `price_min` is the smallest price."""
_THOUSANDS = words("revenue salary budget population amount income cost price value turnover profit attendance")
"""What is counted in thousands, beside all that is a plural."""
_MILLIONS = words(
    """
    pop population inhabitants residents people users subscribers viewers listeners followers members customers visitors
    passengers pax readers voters views plays streams downloads clicks likes impressions revenue rev sales turnover
    budget income profit gross funding earnings gdp debt
    """
)
"""People, money and views: a `pop_m` counts millions, for nobody measures them in metres."""
_VOWELS = frozenset("aeiou")
_VERBS = pairs(
    "built=build; paid=pay; sold=sell; bought=buy; sent=send; made=make; seen=see; written=write; driven=drive;"
    "flown=fly; taught=teach; held=hold; kept=keep; sown=sow; grown=grow; taken=take; given=give; won=win; born=birth;"
    "shot=shoot; admitted=admission; admit=admission; discharged=discharge; led=lead; run=run; ran=run; lent=lend;"
    "met=meet; begun=begin; began=begin; caught=catch; sat=sit; available=available; valid=valid; spoken=speak;"
    "drawn=draw; sung=sing; left=leave; took=take; cost=cost; spent=spend; lost=lose; found=found; read=read;"
    "reading=read; chosen=choose; worn=wear; eaten=eat; drunk=drink; published=publish; publication=publish;"
    "acquisition=acquir; registration=register; enrolment=enroll; enrollment=enroll; enrolled=enroll;"
    "subscription=subscribe; description=describe; application=apply; cancellation=cancel; cancelled=cancel;"
    " canceled=cancel; termination=terminate;"
    "expiration=expir; expiry=expir; failure=fail; departure=depart; arrival=arriv; renewal=renew; approval=approv;"
    "growth=grow; purchase=purchased; received=receiv; receipt=receiv; sale=sell; sales=sell; flight=fly; birth=birth;"
    "installation=install; observation=observ; reservation=reserv; confirmation=confirm; inspection=inspect;"
    " rating=rating; rated=rating; rate=rate; named=named; titled=titled; speech=speak; death=die; died=die;"
    " thrown=throw; broken=break; resolution=resolve; solution=solve; closure=close;"
    " availability=available; stolen=steal; hidden=hide; woke=wake; sailed=sail"
)
"""Forms that no ending tells, by what they share with others."""
_PER = frozenset(("t", "kg", "g", "l", "km", "eur", "usd", "kwh"))
_REACHING = words("distance dist range radius reach visibility length")
"""What is itself counted in kilometres, so that its `min` is the least."""
FRONT_UNITS = words("kg km eur usd gbp kwh pct litres liters tonnes")
"""Units that a name may begin with."""
_PERIOD = re.compile(r"(?:l|last|past)?\d+(?:d|days?|w|wks?|weeks?|m|mo|months?|y|yrs?|years?|h|hrs?)$")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The word in the singular."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 5 else word[:-1]
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def plural(word: str) -> bool:
    """Whether the word names more than one thing."""
    return stem(word) != word or word in ("staff", "data", "inventory", "people", "everything", "anything", "stuff")


@lru_cache(maxsize=4096)
def name_parts(name: str) -> tuple[str, ...]:
    """The words a column or table name is made of, as they are written; `12m` of loans12m is a period of its own."""
    return tuple(part.lower() for piece in _CAMEL.split(name) for part in _pieces(piece))


def _pieces(piece: str) -> list[str]:
    found: list[str] = []
    for part in re.split(r"[\W_]+", piece):
        period = re.search(r"(?<=[a-z])\d+(?:d|w|m|mo|y|h)$", part.lower())
        if period:
            found += [part[: period.start()], part[period.start() :]]
        elif _PERIOD.fullmatch(part.lower()):
            found.append(part)
        else:
            found += re.findall(r"(?:km|cm|mm|m|ft)2(?!\d)|m3(?!\d)|[^\W\d_]+|\d+", part)
    return found


def is_period(part: str) -> bool:
    """Whether the part of a name says for how long something was counted: 12m, 30d, ytd."""
    return part in ("ytd", "mtd", "qtd") or bool(_PERIOD.fullmatch(part))


def full(part: str, last: bool = True) -> list[str]:
    """A part of a name written out, in the singular: `txns` are transactions."""
    if part == "no":
        return ["number"] if last else ["no"]
    whole = ABBREVIATIONS.get(part) or ABBREVIATIONS.get(stem(part), part)
    return [stem(word) for word in whole.split()]


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[tuple[str, ...], str]:
    """The words of a name in the singular, abbreviations written out, and its unit of measure or ''."""
    parts = list(name_parts(name))
    unit = ""
    if len(parts) > 1 and parts[0] in FRONT_UNITS and not is_unit(parts):
        # `kgHarvested` counts kilograms, too.
        unit = UNITS[parts.pop(0)]
    if len(parts) > 1 and is_unit(parts):
        unit = unit_of(parts)
        parts.pop()
        if len(parts) > 1 and parts[-1] == "in":
            parts.pop()
        if len(parts) > 1 and parts[-1] == "per":
            parts.pop()
            unit = f"{UNITS.get(parts.pop(), '')}/{unit}" if len(parts) > 1 and parts[-1] in UNITS else f"/{unit}"
        elif len(parts) > 2 and parts[-1].isdigit() and parts[-2] in UNITS:
            # `fuel_l_100km` counts litres to a hundred kilometres.
            number = parts.pop()
            unit = f"{UNITS[parts.pop()]}/{number}{unit}"
        elif len(parts) > 1 and _to_each(parts, unit):
            # `yield_t_ha` counts tonnes to the hectare.
            unit = f"{parts.pop()}/{unit}"
    found: list[str] = []
    for place, part in enumerate(parts):
        found.extend(full(part, place > 0 and place == len(parts) - 1))
    return compounded(tuple(found)), unit


def unit_of(parts: list[str]) -> str:
    """What the last part of a name measures in: `m` are metres, and millions of people, money or views."""
    return "mio" if _millions(parts) else UNITS[parts[-1]]


def _millions(parts: list[str]) -> bool:
    return parts[-1] == "m" and len(parts) > 1 and parts[-2] in _MILLIONS


def _to_each(parts: list[str], unit: str) -> bool:
    """Whether the last part is counted to each of the unit; of a `temp_min_c` it is the lowest, of a pace minutes."""
    if parts[-1] == "min":
        return unit in ("km", "mi") and _REACHING.isdisjoint(parts)
    return parts[-1] in _PER


def compounded(found: tuple[str, ...]) -> tuple[str, ...]:
    """The words with those that are one written as one: check in is a checkin."""
    for place in range(len(found) - 1):
        whole = COMPOUNDS.get((found[place], found[place + 1]))
        if whole:
            return (*found[:place], whole, *found[place + 2 :])
    return found


def is_unit(parts: list[str]) -> bool:
    """Whether the last part of a name is what it is measured in."""
    if parts[-1] in ("day", "days") and parts[-2] in ("match", "pay", "birth", "game", "race", "week", "to", "of"):
        return False
    if parts[-1] not in UNITS or parts[-1] in ("day", "second", "points", "hour", "minute", "pound"):
        return False
    if parts[-1] == "k":
        # `viewers_k` counts thousands; a `vitamin_k` does not.
        return plural(parts[-2]) or parts[-2] in _THOUSANDS
    if parts[-1] == "min":
        # A `price_min` is the smallest price.
        return not _LASTING.isdisjoint(parts) or _LIMITED.isdisjoint(parts)
    return parts[-1] not in ("m", "c", "v", "w", "l", "g") or not _LASTING.isdisjoint(parts) or _millions(parts)


@lru_cache(maxsize=4096)
def spelled(name: str) -> tuple[str, ...]:
    """Every word of a name in the singular, its unit of measure among them."""
    parts = name_parts(name)
    return tuple(word for place, part in enumerate(parts) for word in full(part, 0 < place == len(parts) - 1))


_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "als", "al", "ed", "es", "y", "s")
_LEAST = {"al": 4, "als": 4}
_FIXED = words("rating rate named titled")
"""A rate is no rating, and what is named so is no name."""


@lru_cache(maxsize=8192)
def root(word: str) -> str:
    """What the forms of a verb share: `start` of started and starting, `irrigat` of irrigated and irrigation."""
    word = _VERBS.get(word, word)
    if word in _FIXED:
        return word
    ending = next((one for one in _ENDINGS if word.endswith(one) and len(word) - len(one) >= _LEAST.get(one, 3)), "")
    if ending == "y" and word[-2] in _VOWELS:
        return word
    if ending.startswith("ation"):
        word = word[: -len(ending)] + "at"
    elif ending and not word.endswith("ss"):
        word = word[: -len(ending)]
        if word[-1] == word[-2] and word[-1] not in "lsz":
            word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


def participle(word: str) -> bool:
    """Whether the word may say what was or is being done: hosted, paid, departing."""
    return word in _PARTICIPLES or (len(word) > 4 and word.endswith(("ed", "ing")) and word not in _NO_VERBS)


_NO_VERBS = words(
    "rating reading heating housing parking meeting booking listing training marketing evening red shed bed sled"
    " during evening morning building string spring ceiling wedding need speed breed seed feed hundred"
)
_PARTICIPLES = words(
    "used built paid sold bought sent made seen written driven flown taught held kept sown grown taken given won born"
    " shot led"
    " run lent met begun caught sat available valid spoken drawn sung left took spent lost found read due done gone"
)


@lru_cache(maxsize=8192)
def shortens(short: str, word: str) -> bool:
    """Whether a column's word is most likely this one cut short: `adm` of admission, `bldg` of building."""
    if not 3 <= len(short) <= len(word) - 2 or short[0] != word[0]:
        return False
    if word.startswith(short):
        # An abbreviation ends where a vowel would follow; `count` is no short country.
        return (
            len(short) <= 5 and len(word) - len(short) >= 3 and short[-1] not in _VOWELS and word[len(short)] in _VOWELS
        )
    if any(letter in _VOWELS for letter in short[1:]):
        return False
    rest = iter(word)
    consonants = [letter for letter in word if letter not in _VOWELS]
    return all(letter in rest for letter in short) and bool(consonants) and consonants[-1] == short[-1]


def near(word: str, other: str) -> bool:
    """Whether one is most likely the other with a slip of the finger."""
    if word == other or min(len(word), len(other)) < 5 or word[0] != other[0]:
        return False
    return _distance(word, other) <= (2 if min(len(word), len(other)) >= 9 else 1)


def _distance(left: str, right: str) -> int:
    """Insertions, deletions, replacements and swaps of neighbours between the two."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, older[j - 2] + 1)
            row.append(best)
    return row[-1]
