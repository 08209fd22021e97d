"""The words of requests about tables; a `|` stands between phrases that say the same."""

from __future__ import annotations

from typing import Final

ARTICLES: Final = frozenset({"the", "a", "an", "their", "its", "our", "'s"})
PHRASES: Final[dict[str, str]] = {
    "verbs": "show|show me|list|give|give me|display|return|find|find me|get|get me|tell me|print|fetch|select|report"
    "|calculate|compute|what is|what are|what was|what|which|which are|which is|who is|who are|who|do|does|did|see"
    "|all|every|any|only show",
    "fillers": "are there|there are|do we have|exist|are listed|in total|in the table|in all|also|then|please|results"
    "|them|they|it|overall|are from|come from|on record|now",
    "rows": "rows|records|entries|row|record|entry|information|info|data|details|everything|ones|one",
    "links": "where|whose|with|having|that|which|who|when|for which|in which|and whose|and that|and who",
    "be": "is|are|was|were|be|has|have|had|been|being|live|lives|living|come|comes|came|belong|belongs|located|based"
    "|occurred|happened|took place|held|made|placed|use|uses|using|do|does|did",
    "places": "from|in|of|for|to|at|on|by|within|into|as|named|called|titled|about|with",
    "joiners": ", and|, as well as|as well as|along with|together with|and|,",
    "count": "how many|number of|total number of|count of|total count of|count|numbers of|count number of",
    "sort": "sorted|sort|ordered|order|arranged|arrange|and sort|and order",
    "group": "per|for each|for every|in each|in every|from each|of each|by each|at each|each|every|grouped by|group by"
    "|for different|of different|with each|across each|of every",
}
SUFFIXES: Final = {
    ">=": "or more|or higher|or above|or older|or over|or greater|and above|and up|or better|or longer|or later",
    "<=": "or less|or fewer|or lower|or below|or under|or younger|and below|and under|or cheaper|or earlier",
}
DISTINCT: Final = "different|distinct|unique|various|possible"
NOT = "not|never|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|!=|<>|other than|except|excluding"
NOT += "|not equal to|different from|all but|everything but|all except|everything except"
FIGURES: Final = {
    "average": "mean", "mean": "mean", "avg": "mean", "minimum": "min", "min": "min", "lowest": "min",
    "smallest": "min", "least": "min", "maximum": "max", "max": "max", "highest": "max", "largest": "max",
    "greatest": "max", "biggest": "max", "total": "sum", "sum": "sum", "median": "median", "combined": "sum",
}  # fmt: skip
_HIGHEST: Final = ("highest", "largest", "greatest", "biggest", "maximum", "max", "most", "best")
_LOWEST: Final = ("lowest", "smallest", "least", "fewest", "minimum", "min", "worst")
BEST: Final = dict.fromkeys(_HIGHEST, "desc") | dict.fromkeys(_LOWEST, "asc")
OPERATORS: Final = {
    ">=": "at least|>=|no less than|not less than|not below|not under|greater than or equal to",
    "<=": "at most|<=|no more than|not more than|not above|not over|up to|less than or equal to|not higher than",
    ">": "more than|greater than|higher than|larger than|bigger than|above|over|exceeding|exceeds|>",
    "<": "less than|lower than|smaller than|fewer than|below|under|<",
    "==": "exactly|equal to|equals|=|==|is equal to|:",
}
TIMES: Final = {">=": "since|starting from", "<=": "until|up to", ">": "after|later than", "<": "before|earlier than"}
TEXTUAL: Final = {
    "contains": "contains|contain|containing|includes|including|has the substring|have the substring|has the word"
    "|with the word|having the word|having",
    "starts_with": "starts with|start with|starting with|begins with|begin with|beginning with",
    "ends_with": "ends with|end with|ending with",
}
_PRICE: Final = "price cost fee fare amount total rate rent value eur usd gbp euro"
ADJECTIVES: Final = {
    "old": ("age", "desc"), "young": ("age", "asc"), "cheap": (_PRICE, "asc"), "expensive": (_PRICE, "desc"),
    "costly": (_PRICE, "desc"), "long": ("length duration distance minutes hours days", "desc"),
    "short": ("length duration distance height", "asc"), "tall": ("height", "desc"), "heavy": ("weight kg", "desc"),
    "light": ("weight kg", "asc"), "fast": ("speed", "desc"), "slow": ("speed", "asc"), "big": ("size", "desc"),
    "large": ("size", "desc"), "small": ("size", "asc"), "new": ("", "desc"), "recent": ("", "desc"),
    "late": ("", "desc"), "early": ("", "asc"), "rated": ("rating score", "desc"), "paid": ("salary pay wage", "desc"),
}  # fmt: skip
"""What an adjective measures, by words of a column's name, and which end of it; no words mean the one date there is."""
AMOUNTS: Final = frozenset({"price", "amount", "cost", "fee", "fare", "total"})
_MONEY: Final = "rate rent deposit salary pay wage value revenue sale budget bonus worth income earning balance tax"
_MONEY_TOO: Final = "profit spent charge discount fine payment net gross tip spend eur usd gbp euro"
MONEY: Final = AMOUNTS | {*_MONEY.split(), *_MONEY_TOO.split()}
_PERSONS = "person people employee worker staff member patient student pupil guest customer client user tenant player"
PERSONS: Final = frozenset(f"{_PERSONS} child man woman teacher doctor singer who".split())
MILESTONES: Final = frozenset({"joi", "hir", "bir", "bor", "add", "due", "end", "exp", "ren", "sig", "reg"})
"""How words begin that date one moment in the life of a row, which is no date of its other figures."""
ORIGINS: Final = {
    "from": frozenset({"from", "origin", "source", "departure", "departs", "start"}),
    "to": frozenset({"to", "destination", "dest", "arrival", "target", "city", "country", "town"}),
}
DIRECTIONS: Final = {
    "asc": "ascending|asc|increasing|lowest first|smallest first|alphabetical|alphabetically|low to high|a to z"
    "|lowest to highest|smallest to largest|youngest to oldest|least to most",
    "desc": "descending|desc|decreasing|highest first|largest first|biggest first|most first|best first|high to low"
    "|highest to lowest|largest to smallest|oldest to youngest|old to young|z to a|reverse alphabetical",
}
ASKING: Final = frozenset({"", "show", "me", "list", "give", "get", "display", "return", "the", "find", "are"})
MEASURES: Final = {_PRICE: "cost|costs|costing|priced", "weight kg": "weigh|weighs|weighing"}
"""Verbs before a number, by words of the column that it is a number of."""
_SMALL: Final = "order|sort|by|for|than|first|last|top|bottom|or|nor|between|us|no|yes|me|i|if|so|from|to|without"
_TABLES: Final = (PHRASES, OPERATORS, TIMES, TEXTUAL, MEASURES)
_LISTS: Final = (_SMALL, DISTINCT, NOT, *(phrases for table in _TABLES for phrases in table.values()))
GRAMMAR: Final = {word for one in _LISTS for word in one.replace("|", " ").split()} | {*FIGURES, *BEST, *ARTICLES}
