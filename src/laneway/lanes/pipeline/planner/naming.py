"""Conditions that name their column: `price under 200`, `status is shipped`, `name contains "air"`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import amount
from laneway.lanes.pipeline.planner.columns import candidates, column_at, only
from laneway.lanes.pipeline.planner.comparing import (
    DATES,
    INVERSE,
    Where,
    against_number,
    between_numbers,
    compared,
    dated,
    operator,
    span_between,
    suffix,
)
from laneway.lanes.pipeline.planner.dimensions import yearly
from laneway.lanes.pipeline.planner.moments import moment
from laneway.lanes.pipeline.planner.phrasing import phrases
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_parts, plural
from laneway.lanes.pipeline.planner.valuing import equals, unknown_value, values_at

_TEXT = {
    "contains": "contains",
    "contain": "contains",
    "containing": "contains",
    "includes": "contains",
    "including": "contains",
    "starts with": "starts_with",
    "start with": "starts_with",
    "starting with": "starts_with",
    "begins with": "starts_with",
    "begin with": "starts_with",
    "beginning with": "starts_with",
    "ends with": "ends_with",
    "ending with": "ends_with",
    "end with": "ends_with",
    "ends in": "ends_with",
    "ending in": "ends_with",
}
_COPULAS = phrases(
    """
    that is | which is | that are | is | are | was | were | of | being | equals | equal to | : | = | ==
    """
)
_EMPTY = phrases(
    """
    missing | empty | blank | null | not set | unset | not given
    """
)
_BOUNDARY = frozenset(("", "and", "or", ",", "but", "sorted", "ordered", "then", "per", "with", "that", ".", ";"))

_NEGATIONS = phrases(
    """
    is not | are not | was not | were not | does not | do not | not
    """
)


def about_column(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """A condition that begins with its column; None if no column with a comparison comes next."""
    found, size = column_at(reader, schema)
    if not found:
        return None
    if len(found) > 1:
        words = " ".join(token.raw for token in reader.tokens[reader.at : reader.at + size])
        reader.at += size
        compared = bool(operator(reader) or reader.takes(*_COPULAS, *_TEXT, *DATES, "between"))
        if compared or possess:
            only(found, words)
        return None
    column = found[0]
    reader.at += size
    mark = reader.at
    told = _told(reader, schema, column)
    if told is not None:
        return told
    reader.at = mark
    if not possess or not (reader.token() is None or reader.word() in _BOUNDARY - {""}):
        return None
    if reader.word() in ("and", "or", ",") and column_at(reader, schema, 1)[0]:
        raise Refused(f"It is not said what {column.name} is to be.", f"Say it of each column: {column.name} over …")
    if column.kind == "number" and (column.zeros or plural(name_parts(column.name)[-1])):
        raise Refused(
            f"`with {column.name}` may mean one, more than none, or any number.", f"Say: {column.name} at least 1."
        )
    return _present(column)


def _present(column: Column) -> Where:
    given = compared(column.name, "not_null")
    return {"and": [given, compared(column.name, "!=", "")]} if column.blanks else given


def _told(reader: Reader, schema: Schema, column: Column) -> Where | None:
    """What is said of the column, now read; None if nothing is."""
    negated = bool(reader.takes(*_NEGATIONS))
    if not negated and reader.takes(*_COPULAS):
        said = True
        negated = bool(reader.takes("not"))
    else:
        said = negated
    if reader.takes(*_EMPTY):
        if negated:
            return _present(column)
        null = compared(column.name, "null")
        return {"or": [null, compared(column.name, "==", "")]} if column.blanks else null
    text = reader.takes(*_TEXT)
    if text:
        return _text(reader, column, _TEXT[text], negated)
    if reader.takes("between", "in the range of", "in the range"):
        return _between(reader, column, negated)
    return (
        _dates(reader, column, negated, said)
        or _numbers(reader, column, negated)
        or _truth_of(reader, column, negated)
        or (_values(reader, schema, column, negated, said))
    )


def text_test(reader: Reader, schema: Schema, lead: str) -> Where | None:
    """`with "air" in the name`: a text before its column."""
    token, mark = reader.token(), reader.at
    if token is None or token.kind != "quote" or lead != "with":
        return None
    reader.at += 1
    if not reader.takes("in the", "in their", "in its", "in"):
        reader.at = mark
        return None
    found, size = column_at(reader, schema)
    if not found:
        reader.at = mark
        return None
    reader.at += size
    return contains(only(found, "it"), "contains", token.text, quoted=True)


def _text(reader: Reader, column: Column, by: str, negated: bool) -> Where:
    reader.takes("the word", "the text", "the letters", "the letter", "the")
    token = reader.token()
    if token is None or token.kind not in ("quote", "word", "number", "date", "month"):
        raise Refused(f"It is not said what {column.name} {by.replace('_', ' ')}.", "Put the text in quotes.")
    reader.at += 1
    following = reader.token()
    if token.kind != "quote" and following is not None and following.text not in _BOUNDARY:
        raise Refused(f"I cannot tell where the text `{token.raw} …` ends.", "Put the text in quotes.")
    if following is not None and following.text == "or":
        after = reader.token(1)
        if after is not None and after.kind == "quote":
            raise Refused(
                "Two texts with `or` between them are too many for one comparison.", f"Say {column.name} twice."
            )
    found = contains(column, by, token.text if token.kind == "quote" else token.raw, quoted=token.kind == "quote")
    if not negated:
        return found
    if column.nulls:
        raise Refused(f"Some rows have no {column.name}, and `not` may or may not mean them.", "Filter them first.")
    return {"not": found}


def contains(column: Column, by: str, text: str, *, quoted: bool) -> Where:
    """The column's text holds this one, in whatever case."""
    if column.kind not in ("text", "numeric text", "empty"):
        raise Refused(f"{column.name} does not hold text.", "Compare it with a number or a date.")
    if quoted and _case_matters(column, by, text):
        raise Refused(
            f"`{text}` fits some of {column.name} only in another case.", "Leave out the quotes to ignore case."
        )
    return compared(column.name, by, text, ignore_case=True)


def _case_matters(column: Column, by: str, text: str) -> bool:
    def test_of(whole: str, part: str) -> bool:
        return {"starts_with": whole.startswith(part), "ends_with": whole.endswith(part)}.get(by, part in whole)

    texts = [form for forms in column.values.values() for form in forms]
    exact = [form for form in texts if test_of(form, text)]
    loose = [form for form in texts if test_of(form.lower(), text.lower())]
    return bool(exact) and len(exact) != len(loose)


def _between(reader: Reader, column: Column, negated: bool) -> Where:
    found: Where | None
    span = span_between(reader) if column.kind == "date" or yearly(column) else None
    found = dated(column, "in", span) if span else between_numbers(reader, column)
    if found is None or (negated and column.nulls):
        raise Refused(f"It is not said between what {column.name} is.", "Write: between 10 and 20.")
    return {"not": found} if negated else found


def _dates(reader: Reader, column: Column, negated: bool, said: bool) -> Where | None:
    if column.kind != "date" and not yearly(column):
        return None
    mark = reader.at
    by = DATES[word] if (word := reader.takes(*DATES)) else ""
    if not by and reader.takes("from"):
        span = span_between(reader)
        by = "in" if span else "since"
    else:
        span = None
    if not by and column.kind != "date":
        return None
    if not by and not said:
        reader.at = mark
        return None
    span = span or moment(reader)
    if span is None:
        reader.at = mark
        return None
    if by == "since" and reader.takes("on", "onwards", "onward"):
        pass
    found = dated(column, by or "in", span)
    if negated:
        raise Refused("I cannot tell which dates `not` leaves.", "Say before, after or since.")
    return found


def _numbers(reader: Reader, column: Column, negated: bool) -> Where | None:
    mark = reader.at
    by = operator(reader)
    given = amount(reader)
    if given is None or (not by and column.kind == "numeric text"):
        reader.at = mark
        return None
    after = suffix(reader)
    if after and by:
        raise Refused("The number is compared twice.", "Say `at least` or `or more`, not both.")
    by = by or after or "=="
    if negated and by in ("==", "!=") and column.nulls:
        raise Refused(f"Some rows have no {column.name}, and `not` may or may not mean them.", "Filter them first.")
    found = against_number(column, INVERSE[by] if negated else by, given)
    return _alternatives(reader, column, found) if found["is"] in ("==", "!=") else found


def _alternatives(reader: Reader, column: Column, found: Where) -> Where:
    """`stars is 4 or 5`: more numbers of the same comparison."""
    values = [found["value"]]
    while reader.word() in ("or", ","):
        mark = reader.at
        reader.at += 1
        more = amount(reader)
        if more is None or suffix(reader) or candidates_follow(reader):
            reader.at = mark
            break
        values.append(more.in_unit(column.unit, column.name))
    if len(values) == 1:
        return found
    return compared(column.name, "in" if found["is"] == "==" else "not_in", values)


def candidates_follow(reader: Reader) -> bool:
    """Whether the number just read belongs to a noun of its own."""
    token = reader.token()
    return token is not None and token.text not in _BOUNDARY


def _truth_of(reader: Reader, column: Column, negated: bool) -> Where | None:
    if column.kind != "bool":
        return None
    said = reader.takes("true", "yes", "false", "no")
    return compared(column.name, "==", (said in ("true", "yes")) is not negated) if said else None


def _values(reader: Reader, schema: Schema, column: Column, negated: bool, said: bool) -> Where | None:
    """`status is shipped or pending`, `city Berlin`, `color not red`."""
    if column.kind not in ("text", "numeric text"):
        return None
    if not said and reader.takes("in", "one of", "either"):
        said = True
    reader.takes("either", "one of", "in", "(")
    read = values_at(reader, schema, within=column)
    if read is not None:
        reader.takes(")")
        return equals(read[0], read[1], negated=negated)
    token = reader.token()
    if not said or token is None:
        return None
    if token.kind == "quote" and not negated:
        reader.at += 1
        return compared(column.name, "==", token.text)
    if token.kind == "word" and candidates((token.text,), schema):
        raise Refused(f"I cannot compare {column.name} with another column.", "Compare it with a value.")
    raise unknown_value(token.raw, column)
