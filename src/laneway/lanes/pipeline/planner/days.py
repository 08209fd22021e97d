"""Dates that are said by their distance from today, written out as dates before anything else is read.

`today` becomes `on 2026-03-05`, `last week` becomes `between 2026-02-23 and 2026-03-01`. What is a word of the
tables, as a column's name or as a value, stays what it is, and what is left over is refused where dates are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from laneway.lanes.pipeline.planner.parts.dates import DATES
from laneway.lanes.pipeline.planner.parts.moments import Span
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema

_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LAST, _THIS = ("last", "past"), "this"
_MOST_DAYS = 3660
_WITHIN = ("in", "within", "during", "over", "for")
"""What may stand before `the last 7 days` without saying anything."""
_JOINS = ("and", "to", "through", "until", "till", "-")


def on_the_day(tokens: list[Token], schemas: Iterable[Schema], today: date) -> list[Token]:
    """The request with every such date written out, as it is said on this day."""
    known = _known(schemas)
    made: list[Token] = []
    at = spans = 0
    while at < len(tokens):
        found = _span(tokens, at, today)
        said = [token.text for token in tokens[at : at + found[1]]] if found else []
        if found is None or _spoken_for(said, known) or _possessive(tokens, at + found[1]):
            made.append(tokens[at])
            at += 1
            continue
        at += found[1]
        _put(made, found[0], spans, tokens[at].text if at < len(tokens) else "")
        spans += 1
    return made


def _known(schemas: Iterable[Schema]) -> set[str]:
    """How columns and values of the tables are spoken."""
    found: set[str] = set()
    for schema in schemas:
        found |= {" ".join(column.words) for column in schema.columns} | set(schema.vocabulary)
    return found


def _spoken_for(said: list[str], known: set[str]) -> bool:
    words = " ".join(word for word in said if word not in ("the", *_WITHIN))
    return any(f" {words} " in f" {one} " for one in known)


def _possessive(tokens: list[Token], at: int) -> bool:
    """`last month's`, `this week of 2025`: more than a date on its own."""
    return at < len(tokens) and tokens[at].text in ("'s", "of", "before", "after", "ago")


def _span(tokens: list[Token], at: int, today: date) -> tuple[Span, int] | None:
    """The days that these words mean, and how many words they are."""
    words = [token.text if token.kind in ("word", "number") else "" for token in tokens[at : at + 5]] + [""] * 5
    if words[0] in _DAYS:
        first = today + timedelta(days=_DAYS[words[0]])
        return Span(first, first + timedelta(days=1)), 1
    if words[0] in _WEEKDAYS and at and tokens[at - 1].text == "since":
        return _since(words[0], today), 1
    if words[0] in (_THIS, "last"):
        found = _calendar(words[1], -1 if words[0] == "last" else 0, today)
        if found is not None and at and tokens[at - 1].text == "the":
            raise Refused(f"`the {words[0]} {words[1]}` may be one of the calendar or the days up to today.",
                          f"Say `{words[0]} {words[1]}`, or `in the last 7 days`.")  # fmt: skip
        if found is not None:
            return found, 2
    return _last_days(words, today)


def _since(weekday: str, today: date) -> Span:
    """The last such day before today."""
    back = (today.weekday() - _WEEKDAYS.index(weekday)) % 7
    if not back:
        raise Refused(f"Today is {weekday.title()}: it may be today or a week ago.", "Say `today`, or name the date.")
    first = today - timedelta(days=back)
    return Span(first, first + timedelta(days=1))


def _calendar(unit: str, back: int, today: date) -> Span | None:
    """This week, month or year, or the one before it; a week begins on Monday."""
    if unit == "week":
        first = today - timedelta(days=today.weekday() - 7 * back)
        return Span(first, first + timedelta(days=7))
    if unit == "month":
        months = today.year * 12 + today.month - 1 + back
        return Span(date(months // 12, months % 12 + 1, 1), date((months + 1) // 12, (months + 1) % 12 + 1, 1))
    if unit == "year":
        return Span(date(today.year + back, 1, 1), date(today.year + back + 1, 1, 1))
    return None


def _last_days(words: list[str], today: date) -> tuple[Span, int] | None:
    """`in the last 7 days`: today and the six days before it."""
    skipped = 1 if words[0] in _WITHIN else 0
    skipped += 1 if words[skipped] == "the" else 0
    last, number, unit = words[skipped : skipped + 3]
    if last not in _LAST or unit not in ("day", "days") or not number.isdigit():
        return None
    if not 1 <= int(number) <= _MOST_DAYS:
        raise Refused(f"`{last} {number} days` is no span I count.", f"Say 1 to {_MOST_DAYS} days.")
    return Span(today - timedelta(days=int(number) - 1), today + timedelta(days=1)), skipped + 3


def _put(made: list[Token], span: Span, earlier: int, follows: str) -> None:
    """The span is written behind what was read so far: as one day, or from its first to its last."""
    before = made[-1].text if made and made[-1].kind in ("word", "op") else ""
    last = span.after - timedelta(days=1)
    by = next((DATES[said] for said in DATES if _ends_with(made, said)), "")
    if before in ("between", "from") and follows not in _JOINS:
        raise Refused(f"`{before}` needs two dates here.", "Say `since`, `on`, or `between … and …`.")
    if before in ("between", "from"):
        made.append(_date(span.first))
    elif before in _JOINS and _opened(made):
        made.append(_date(last))
    elif before == "and" and earlier and made[-2].kind == "date":
        raise Refused("No row has two dates at once.", "Say `or`, or `between … and …`.")
    elif by in ("before", "since"):
        made.append(_date(span.first))
    elif by in ("after", "through"):
        made.append(_date(last))
    else:
        del made[len(made) - (1 if by else 0) :]
        made.extend(_between(span, last))


def _between(span: Span, last: date) -> list[Token]:
    if span.first == last:
        return [Token("word", "on", "on"), _date(last)]
    return [Token("word", "between", "between"), _date(span.first), Token("word", "and", "and"), _date(last)]


def _opened(made: list[Token]) -> bool:
    """Whether `between DATE and` or `from DATE to` stands before."""
    return len(made) > 2 and made[-2].kind in ("date", "month", "number") and made[-3].text in ("between", "from")


def _ends_with(made: list[Token], phrase: str) -> bool:
    said = phrase.split()
    return [token.text for token in made[-len(said) :]] == said


def _date(day: date) -> Token:
    return Token("date", day.isoformat(), day.isoformat())
