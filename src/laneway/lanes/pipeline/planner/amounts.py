"""Numbers as people write them: digits, words, thousands, currency signs and units."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.lanes.pipeline.planner.lexicon import CONVERSIONS, CURRENCIES, SCALES, UNITS, WORD_NUMBERS
from laneway.lanes.pipeline.planner.reading import Reader, Token
from laneway.lanes.pipeline.planner.refusal import Refused

Number = int | float


@dataclass(frozen=True)
class Amount:
    """A number and the unit it is given in, '' if none."""

    value: Number
    unit: str = ""

    def in_unit(self, unit: str, column: str) -> Number:
        """The number in the unit of the column; Refused if the one cannot be said in the other."""
        if self.unit == unit or not self.unit:
            if unit == "cent":
                raise Refused(f"{column} counts cents, and the request does not say what its number counts.", "Say it.")
            return self.value
        if not unit and self.unit in CURRENCIES.values():
            return self.value
        factor = CONVERSIONS.get((self.unit, unit))
        if factor is None:
            raise Refused(f"The column {column} is not known to be in {self.unit}.", "Give the number without a unit.")
        return self.value * factor


def plain_number(text: str) -> Number:
    """The number these digits are."""
    digits = text.replace(",", "").lstrip("+$€£")
    for sign in CURRENCIES:
        digits = digits.replace(sign, "")
    value = float(digits)
    return int(value) if value.is_integer() and "." not in digits else value


def count(reader: Reader) -> int | None:
    """A whole number that comes next, now read: how many rows somebody wants."""
    start = reader.at
    token = reader.token()
    found = _number(reader)
    whole = isinstance(found, int) and found > 0 and token is not None and not set(token.text) & set("$€£-")
    if not whole:
        reader.at = start
        return None
    assert isinstance(found, int)
    return found


def amount(reader: Reader, columns_word: frozenset[str] = frozenset()) -> Amount | None:
    """The amount that comes next, now read; a unit that is a column's word is left for the column."""
    token = reader.token()
    sign = next((CURRENCIES[s] for s in CURRENCIES if token and token.kind == "number" and s in token.text), "")
    value = _number(reader)
    if value is None:
        return None
    word = reader.word()
    if word == "%":
        reader.at += 1
        return Amount(value, "%")
    if not sign and word in UNITS and word not in columns_word:
        reader.at += 1
        return Amount(value, UNITS[word])
    return Amount(value, sign)


def _number(reader: Reader) -> Number | None:
    token = reader.token()
    if token is None:
        return None
    if token.kind == "number":
        reader.at += 1
        return _scaled(reader, plain_number(token.text))
    if token.kind == "word" and token.text in WORD_NUMBERS:
        reader.at += 1
        value = WORD_NUMBERS[token.text]
        if value >= 20 and WORD_NUMBERS.get(reader.word(), 99) < 10:
            value += WORD_NUMBERS[reader.word()]
            reader.at += 1
        return _scaled(reader, value)
    if token.text == "a" and reader.word(1) in ("hundred", "thousand", "million", "billion"):
        reader.at += 1
        return _scaled(reader, 1)
    if reader.takes("a dozen", "one dozen", "dozen"):
        return 12
    return None


def _scaled(reader: Reader, value: Number) -> Number:
    """The number with the hundreds, thousands and millions that follow it."""
    while True:
        token = reader.token()
        if token is None or token.text not in SCALES or not _scales(token):
            return value
        reader.at += 1
        scaled = round(value * SCALES[token.text], 6)
        value = int(scaled) if float(scaled).is_integer() else scaled


def _scales(token: Token) -> bool:
    """A letter multiplies only the digits it is written to: `5k`, but `5 m` may be metres."""
    return token.kind == "word" and (len(token.text) > 2 or (token.glued and token.text != "m") or token.raw == "M")
