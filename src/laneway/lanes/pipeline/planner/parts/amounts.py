"""Numbers as people write them: digits, words, thousands, currency signs and units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from laneway.lanes.pipeline.planner.grammar import Chart, Edge, Rules
from laneway.lanes.pipeline.planner.reading import Reader, Token
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.words.naming import CONVERSIONS, CURRENCIES, MONEY, THOUSANDS, UNITS
from laneway.lanes.pipeline.planner.words.small import SCALES, WORD_NUMBERS

RULES = Rules()
Number = int | float
_SINGLE = frozenset(
    ("hour", "minute", "day", "kilo", "mile", "second", "week", "month", "year", "kilometre", "kilogram")
)
"""`an hour` is one of them."""
_TIMES = frozenset(("second", "minute", "hour", "day", "night", "week", "month", "year"))
_SPEEDS = ("km / h", "km / hr", "kilometers per hour", "kilometres per hour", "km per hour")


@dataclass(frozen=True)
class Amount:
    """A number and the unit it is given in, '' if none; `scaled` if thousands or millions were said with it."""

    value: Number
    unit: str = ""
    scaled: bool = False

    def within(self, column: Column) -> Number:
        """The number in the unit of the column; Refused if the one cannot be said in the other."""
        unit = column.unit
        if unit in THOUSANDS:
            return self._scaled_down(column)
        if unit == "cent" and self.unit in ("", "cent"):
            if not self.unit:
                raise Refused(
                    f"{column.name} counts cents, and the request does not say what its number counts.", "Say it."
                )
            return self.value
        if not self.unit or self.unit == unit or self._fits_plain(column) or (self.unit == "money" and column.money):
            return self.value
        return self._converted(unit, column)

    def _fits_plain(self, column: Column) -> bool:
        """Money beside a column whose name says no currency; days beside one that is called days."""
        if self.unit in MONEY and not column.unit:
            # 120 euros a night are no 120 nights.
            return column.words[-1] not in _TIMES or "per" in column.parts
        return not column.unit and any(UNITS.get(word, UNITS.get(f"{word}s")) == self.unit for word in column.spelled)

    def _scaled_down(self, column: Column) -> Number:
        """`8 million` beside a column that counts millions is 8."""
        money, factor = THOUSANDS[column.unit]
        if self.unit and money and self.unit != money:
            raise Refused(f"The column {column.name} is not known to be in {self.unit}.", "Give the number alone.")
        if not self.scaled and abs(self.value) < factor and not self.of_ones(column):
            return self._near(column)
        if not self.scaled and isinstance(column.high, int | float) and abs(self.value) <= 2 * column.high:
            raise Refused(
                f"{self.value} may be so many of what {column.name} counts, or of ones.", "Say thousand, or million."
            )
        value = self.value / factor
        return int(value) if value.is_integer() else value

    def _near(self, column: Column) -> Number:
        """The number as it is; Refused where the column holds nothing near it, and it may be written out."""
        if isinstance(column.high, int | float) and self.value > max(100, 10 * column.high):
            raise Refused(f"{column.name} counts thousands or millions.", "Say so: 2 million, or 900k.")
        return self.value

    def of_ones(self, column: Column) -> bool:
        """Whether the number is written out: 500,000 beside a column of millions that goes up to 6 is half of one."""
        return isinstance(column.high, int | float) and abs(self.value) >= max(1000, 100 * column.high)

    def _converted(self, unit: str, column: Column) -> Number:
        factor = CONVERSIONS.get((self.unit, unit))
        if factor is not None:
            return self.value * factor
        back = CONVERSIONS.get((unit, self.unit))
        if back is None:
            raise Refused(
                f"The column {column.name} is not known to be in {self.unit}.", "Give the number without a unit."
            )
        value = self.value / back
        return int(value) if value.is_integer() else value


def units_of(column: Column) -> frozenset[str]:
    """Every unit that the column's name speaks of: its own, and words like days in `days_off`."""
    units = {column.unit, column.unit.split("/")[0]} | {UNITS.get(part, "") for part in column.parts if len(part) > 2}
    units |= {THOUSANDS[unit][0] for unit in units if unit in THOUSANDS}
    return frozenset(units) - {""}


def fits_unit(given: Amount, column: Column) -> bool:
    """Whether the amount's unit is the column's, or can be said in it."""
    units = units_of(column)
    if given.unit == "money":
        return column.money
    return any(given.unit == unit or {(given.unit, unit), (unit, given.unit)} & CONVERSIONS.keys() for unit in units)


def plain_number(text: str) -> Number:
    """The number these digits are."""
    digits = text.replace(",", "").lstrip("+$€£")
    for sign in CURRENCIES:
        digits = digits.replace(sign, "")
    value = float(digits)
    return int(value) if value.is_integer() and "." not in digits else value


@RULES.finder("count")
def count(chart: Chart, at: int) -> Iterator[Edge]:
    """A whole number: how many rows somebody wants."""
    reader = Reader(chart.tokens, at)
    token = reader.token()
    found = _number(reader)
    if isinstance(found, int) and found > 0 and token is not None and not set(token.text) & set("$€£-+"):
        yield Edge(reader.at, found)


@RULES.finder("amount")
def amount(chart: Chart, at: int) -> Iterator[Edge]:
    """An amount with its unit, and without, where the unit may be the name of a column."""
    reader = Reader(chart.tokens, at)
    token = reader.token()
    sign = next((CURRENCIES[s] for s in CURRENCIES if token and token.kind == "number" and s in token.text), "")
    value = _number(reader)
    if value is None:
        return
    scaled = any(token.text in SCALES for token in chart.tokens[at + 1 : reader.at])
    # `the five lightest`: behind an article a number counts rows.
    cost = 1.0 if chart.text(at - 1) == "the" else 0.0
    yield Edge(reader.at, Amount(value, sign, scaled), cost if sign else cost + 0.02)
    unit = "" if sign else _unit(reader)
    if unit:
        yield Edge(reader.at, Amount(value, unit, scaled), cost)
    elif sign and reader.word() in UNITS and UNITS[reader.word()] == sign:
        yield Edge(reader.at + 1, Amount(value, sign, scaled))


def _unit(reader: Reader) -> str:
    """The unit behind a number, now read."""
    if reader.word() == "%":
        reader.at += 1
        return "%"
    if reader.takes(*_SPEEDS):
        return "kmh"
    if reader.takes("miles per hour"):
        return "mph"
    if reader.takes("years old", "years of age"):
        return "yr"
    if reader.takes("square meters", "square metres", "sq m"):
        return "m2"
    if reader.takes("us dollars", "us $"):
        return "usd"
    if reader.takes("bucks", "quid"):
        return "money"
    if reader.takes("°", "degrees celsius", "degrees c"):
        return "c"
    word = reader.word()
    if word in CURRENCIES:
        reader.at += 1
        return CURRENCIES[word]
    if word in UNITS:
        reader.at += 1
        return UNITS[word]
    return ""


def _number(reader: Reader) -> Number | None:
    token = reader.token()
    if token is None:
        return None
    if token.kind == "number":
        reader.at += 1
        value = _scaled(reader, plain_number(token.text))
        after = reader.token()
        # `9A` is a name, and `16gb` an amount.
        glued = after is not None and after.glued and after.kind == "word" and after.text not in UNITS
        return None if glued and not CURRENCIES.keys() & {token.text, after.text if after else ""} else value
    if reader.word() in CURRENCIES and (after := reader.token(1)) is not None and after.kind == "number":
        reader.at += 2
        return _scaled(reader, plain_number(after.text))
    if token.kind == "word" and token.text in WORD_NUMBERS:
        return _worded(reader)
    if reader.takes("half a million"):
        return 500_000
    if token.text == "a" and reader.word(1) in ("hundred", "thousand", "million", "billion"):
        reader.at += 1
        return _scaled(reader, 1)
    if reader.takes("a dozen", "one dozen", "dozen"):
        return 12
    if reader.takes("half an", "half a") and reader.word() in _SINGLE:
        return 0.5
    if token.text in ("a", "an") and reader.word(1) in _SINGLE:
        reader.at += 1
        return 1
    return None


def _worded(reader: Reader) -> Number:
    """Words for a number: `five`, `twenty five`, `two hundred`."""
    value = WORD_NUMBERS[reader.word()]
    reader.at += 1
    if value >= 20 and WORD_NUMBERS.get(reader.word(), 99) < 10:
        value += WORD_NUMBERS[reader.word()]
        reader.at += 1
    return _scaled(reader, value)


def _scaled(reader: Reader, value: Number) -> Number:
    """The number with the hundreds, thousands and millions that follow it."""
    while (token := reader.token()) is not None and token.text in SCALES and _scales(token):
        reader.at += 1
        scaled = round(value * SCALES[token.text], 6)
        value = int(scaled) if float(scaled).is_integer() else scaled
    return value


def _scales(token: Token) -> bool:
    """A letter multiplies only the digits it is written to: `5k`, but `5 m` may be metres."""
    return token.kind == "word" and (len(token.text) > 2 or (token.glued and token.text != "m") or token.raw == "M")
