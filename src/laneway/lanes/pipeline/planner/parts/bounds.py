"""What a number is compared with: `over 200`, `at least 4`, `10 or more`, `between 10 and 20`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Rules
from laneway.lanes.pipeline.planner.parts.amounts import Amount
from laneway.lanes.pipeline.planner.parts.pieces import Test, compared
from laneway.lanes.pipeline.planner.phrasing import meanings, words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column

RULES = Rules()
OPERATORS = meanings(
    """
    >=: greater than or equal to | more than or equal to | no less than | not less than | no fewer than |
        no lower than |
        not under | not below | at least | reaches | reaching | reach | reached | hits | hitting | at minimum |
        a minimum of | minimum of | min | >= | not fewer than
    <=: less than or equal to | no more than | not more than | no higher than | no greater than | not over | not above |
        at most | at maximum | a maximum of | maximum of | up to | max | <= | not exceeding | no longer than |
        no bigger than | no larger than | no older than
    >: more than | greater than | higher than | bigger than | larger than | over | above | exceeding | exceeds |
        exceed |
        beyond | > | upwards of | tops | topping | topped | beats | beating | surpasses | surpassing | surpass |
        went over | goes over | in excess of | well over | better than | longer than | taller than | heavier than |
        older than
    <: less than | fewer than | lower than | smaller than | cheaper than | under | below | beneath | < | shorter than |
        lighter than | younger than | worse than | falls below | falling below | drops below | stays under |
        stays below | staying below | falls short of
    ==: equal to | equals | exactly | == | = | precisely
    !=: != | not equal to | other than
    """
)
SUFFIXES = meanings(
    """
    >=: or more | or higher | or above | or greater | or over | or better | and up | and above | or up | and over |
        and higher | or older | or longer | plus | + | or heavier | or bigger | and more | upwards | or larger |
        minimum | at least
    <=: or less | or lower | or below | or under | or fewer | and below | and under | or cheaper | or younger |
        or shorter |
        and less | and lower | or smaller | or worse | tops | max | or lighter | at most | maximum
    """
)
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_OWN = words("better longer taller heavier older cheaper shorter lighter younger worse max min just")
"""A comparison that begins so is about a column of its own, unless one is named."""
RULES.words("than", {phrase: (by, phrase) for phrase, by in OPERATORS.items()})
RULES.words("suffix", SUFFIXES)
_RHYTHMS = {
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "year": "yearly",
    "night": "nightly",
    "hour": "hourly",
}
RULES.words("rhythm", {f"{each} {unit}": unit for unit in _RHYTHMS for each in ("a", "an", "per", "each", "every")})
RULES.words("often", {f"{each} {unit}": unit for unit in _RHYTHMS for each in ("a", "an", "per")})
RULES.words("rhythm", {often: unit for unit, often in _RHYTHMS.items()} | {"annually": "year", "per annum": "year"})
RULES.words("rhythm", dict.fromkeys(("each", "apiece"), ""))
RULES.words(
    "copula",
    (*["is", "are", "was", "were", "of", "being", ":", "=", "at", "has", "have"], "that is", "which is", "that are"),
)


@dataclass(frozen=True)
class Bound:
    """A comparison and the amount it is with, or the two ends of a range."""

    by: str
    low: Amount
    high: Amount | None = None
    said: str = ""

    @property
    def last(self) -> Amount:
        """The amount that tells most: the upper end of a range has the unit of both."""
        return self.high or self.low

    @property
    def bare(self) -> bool:
        """Whether it may stand without a column."""
        return self.said.split(" ")[0] not in _OWN

    def value(self, column: Column | None) -> Any:
        """What the column is compared with, in its own unit."""
        ends = [self.low] if self.high is None else [self.low, self.high]
        values = [end.value if column is None else end.within(column) for end in ends]
        return values[0] if self.high is None else values


@RULES.rule("bound", "<than> <amount>")
def above(chart: Chart, said: tuple[str, str], given: Amount) -> Bound:
    return Bound(said[0], given, said=said[1])


@RULES.rule("bound", "<amount> <suffix>")
def or_more(chart: Chart, given: Amount, by: str) -> Bound:
    return Bound(by, given)


@RULES.rule(
    "bound",
    "between <amount> and <amount> ; from <amount> to <amount> ; in range [of] <amount> (to|and|-) <amount>",
)
def between(chart: Chart, low: Amount, high: Amount) -> Bound:
    """`between 10 and 20`; Refused if only the second says that it counts thousands or millions."""
    if high.scaled and not low.scaled and low.value != 0:
        raise Refused("It is not plain whether the first number counts thousands or millions too.", "Say it with both.")
    low = Amount(low.value, low.unit or high.unit, low.scaled)
    high = Amount(high.value, high.unit or low.unit, high.scaled)
    if low.value > high.value:
        raise Refused(f"Nothing is between {low.value} and {high.value}.", "Give the smaller number first.")
    return Bound("between", low, high)


@RULES.rule("bound", "<amount> to <amount> ; <amount> - <amount>")
def from_to(chart: Chart, low: Amount, high: Amount) -> Bound:
    """`price 10 to 20`; without a unit it says nothing of its own."""
    bound = between(chart, low, high)
    return bound if bound.last.unit else replace(bound, said="just to")


def against(column: Column, bound: Bound) -> Test:
    """The column compared with the amount, in the column's own unit."""
    if column.kind == "numeric text":
        raise Refused(f"{column.name} holds numbers written as text.", "Turn them into numbers first.")
    if column.kind != "number" or (bound.said.startswith(("older", "younger")) and "age" not in column.words):
        raise Unfit
    return Test(compared(column.name, bound.by, bound.value(column)))


def equal(given: Amount) -> Bound:
    """Just so much."""
    return Bound("==", given)


def plausible(column: Column, value: float) -> bool:
    """Whether somebody may compare the column with this number: it is not far from what the column holds."""
    if column.low is None or isinstance(column.low, str):
        return True
    width = max(column.high - column.low, 1)
    return bool(column.low - width <= value <= column.high + width)


def refuse_rhythm(column: Column, rhythm: str = "") -> None:
    """Returns only if the column may count so much a day, a month or a year: a yearly salary is none of a month."""
    if not rhythm:
        return
    own = {_RHYTHMS.get(word, {"annual": "yearly"}.get(word, word)) for word in column.spelled} & set(_RHYTHMS.values())
    if (own and _RHYTHMS[rhythm] not in own) or (not own and column.money):
        raise Refused(f"{column.name} is not known to be by the {rhythm}.", f"Name the column: {column.name} over …")


def refuse_far(column: Column, bound: Bound) -> None:
    """Returns only if the number may be one of the column: four stars are no four points of a hundred."""
    if not bound.low.unit and not plausible(column, bound.low.within(column)):
        raise Refused(f"{bound.low.value} is far from what {column.name} holds.", f"Name the column: {column.name}.")
