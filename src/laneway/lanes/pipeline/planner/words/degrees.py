"""Adjectives of degree and the dimensions they measure."""

from __future__ import annotations

TIERS: dict[str, tuple[str, ...]] = {
    "price": (
        "price fare",
        "cost fee rent bill",
        "nightly_rate daily_rate hourly_rate room_rate rate",
        "amount total subtotal",
    ),
    "rating": ("rating", "score", "star", "point mark"),
    "length": ("duration runtime length distance page", "night"),
    "shortness": ("duration runtime length distance page height", "night"),
    "size": (
        "size area population volume capacity amount total subtotal revenue headcount quantity value sqft budget"
        " weight",
    ),
    "weight": ("weight",),
    "height": ("height", "elevation altitude"),
    "speed": ("speed",),
    "temperature": ("temperature",),
    "distance": ("distance",),
    "depth": ("depth",),
    "wind": ("wind", "gust"),
    "rain": ("rain rainfall precipitation",),
    "strength": ("abv alcohol strength",),
    "salary": ("salary", "income", "revenue"),
    "sales": ("sold", "sale"),
    "popularity": ("popularity", "vote download view like follower"),
    "profit": ("profit",),
    "wealth": ("worth wealth",),
    "value": ("value worth", "price"),
    "population": ("population",),
    "scoring": ("goal score point",),
    "satisfaction": ("satisfaction csat happiness nps", "rating", "score"),
    "sunshine": ("sunshine sun",),
    "snow": ("snow snowfall",),
    "cloud": ("cloud cloudiness",),
    "delay": ("delay", "late lateness overdue"),
    "noise": ("noise loudness db",),
    "slope": ("slope gradient",),
    "thickness": ("thickness",),
    "difficulty": ("difficulty",),
    "power": ("power", "horsepower", "output"),
    "brightness": ("brightness",),
    "experience": ("experience", "seniority"),
    "stay": ("night", "stay", "duration"),
    "sheer": (),
}
"""The words a column of each dimension goes by; the first line that one column fits decides, two columns never do."""

_SUPERLATIVES = """
cheapest price -|least expensive price -|lowest priced price -|most affordable price -|least costly price -
most expensive price +|priciest price +|dearest price +|costliest price +|most costly price +|highest priced price +
best rated rating +|top rated rating +|highest rated rating +|best reviewed rating +|best rating +
worst rated rating -|lowest rated rating -|worst rating -|least rated rating -|poorest rated rating -
longest length +|lengthiest length +|shortest shortness -|briefest shortness -
biggest size +|largest size +|greatest size +|smallest size -|tiniest size -|widest size +|narrowest size -
heaviest weight +|lightest weight -|tallest height +
hottest temperature +|warmest temperature +|coldest temperature -|coolest temperature -
closest distance -|nearest distance -|farthest distance +|furthest distance +|deepest depth +|shallowest depth -
highest paid salary +|best paid salary +|lowest paid salary -|worst paid salary -|highest earning salary +
top earning salary +|best earning salary +|lowest earning salary -|least paid salary -
best selling sales +|worst selling sales -|most popular popularity +|least popular popularity -|most viewed popularity +
most profitable profit +|least profitable profit -|richest wealth +|wealthiest wealth +|poorest wealth -
most valuable value +|least valuable value -
most populous population +|most populated population +|least populated population -|least populous population -
windiest wind +|calmest wind -|wettest rain +|rainiest rain +|driest rain -|strongest strength +|weakest strength -
sunniest sunshine +|snowiest snow +|cloudiest cloud +|happiest satisfaction +
unhappiest satisfaction -|most satisfied satisfaction +|least satisfied satisfaction -
loudest noise +|quietest noise -
steepest slope +|flattest slope -|thickest thickness +|thinnest thickness -|hardest difficulty +
toughest difficulty +|easiest difficulty -
most difficult difficulty +|most powerful power +|brightest brightness +
most experienced experience +|least experienced experience -
fastest speed +|quickest speed +|slowest speed -
oldest age +|youngest age -|eldest age +
latest time +|newest time +|most recent time +|earliest time -|most recently time +|soonest time -|freshest time +
"""
_COMPARATIVES = """
cheaper price -|less expensive price -|more expensive price +|pricier price +|costlier price +|dearer price +
longer length +|shorter shortness -|bigger size +|larger size +|greater size +|smaller size -|heavier weight +
lighter weight -|taller height +|hotter temperature +|warmer temperature +|colder temperature -|cooler temperature -
closer distance -|nearer distance -|farther distance +|further distance +|older age +|younger age -|faster speed +
slower speed -|stronger strength +|weaker strength -|windier wind +|wetter rain +|drier rain -|deeper depth +
better rated rating +|worse rated rating -|higher rated rating +|lower rated rating -|higher height +
"""


def _table(text: str) -> dict[str, tuple[str, int]]:
    entries = [entry.strip() for line in text.strip().split("\n") for entry in line.split("|")]
    found = {}
    for entry in entries:
        *said, dimension, sign = entry.split()
        found[" ".join(said)] = (dimension, 1 if sign == "+" else -1)
    return found


SUPERLATIVES = _table(_SUPERLATIVES)
COMPARATIVES = _table(_COMPARATIVES)
PLAIN = dict.fromkeys(("most", "highest", "greatest", "maximum", "top"), ("sheer", 1)) | dict.fromkeys(
    ("least", "lowest", "fewest", "minimum"), ("sheer", -1)
)
"""Degrees of any number."""
