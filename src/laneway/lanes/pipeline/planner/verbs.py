"""Verbs that name a column: `costing under 200`, `rated at least 4`, `born before 1990`, `hired in 2024`."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.amounts import amount
from laneway.lanes.pipeline.planner.columns import candidates, listed
from laneway.lanes.pipeline.planner.comparing import (
    DATES,
    Where,
    against_number,
    between_numbers,
    dated,
    operator,
    span_between,
    suffix,
)
from laneway.lanes.pipeline.planner.dimensions import direction, yearly
from laneway.lanes.pipeline.planner.moments import moment
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.valuing import equals, values_at

MEASURING = {
    "cost": "price",
    "costs": "price",
    "costing": "price",
    "priced": "price",
    "rated": "rating",
    "scored": "score",
    "scoring": "score",
    "weigh": "weight",
    "weighs": "weight",
    "weighing": "weight",
    "lasts": "duration",
    "lasting": "duration",
    "earn": "salary",
    "earns": "salary",
    "earning": "salary",
    "paid": "salary",
    "aged": "age",
    "sized": "size",
}
HAPPENING = {
    "born": "birth",
    "departing": "departure",
    "departs": "departure",
    "depart": "departure",
    "leaving": "departure",
    "leaves": "departure",
    "leave": "departure",
    "arriving": "arrival",
    "arrives": "arrival",
    "arrive": "arrival",
    "landing": "arrival",
    "founded": "founded",
    "released": "release",
    "published": "publish",
    "hired": "hire",
    "joined": "join",
    "signed up": "sign",
    "who signed up": "sign",
    "registered": "register",
    "created": "create",
    "ordered": "order",
    "placed": "order",
    "shipped": "ship",
    "delivered": "delivery",
    "updated": "update",
    "opened": "open",
    "closed": "close",
    "built": "built",
    "bought": "purchase",
    "purchased": "purchase",
    "sold": "sold",
    "due": "due",
    "expiring": "expiry",
    "started": "start",
    "starting": "start",
    "ended": "end",
    "launched": "launch",
    "made": "made",
    "paid": "paid",
    "booked": "booking",
    "admitted": "admission",
    "completed": "completed",
    "modified": "modified",
    "logged": "logged",
    "invoiced": "invoice",
}
_STEMS = {
    "publish": ("publish", "published", "publication", "pub"),
    "ship": ("ship", "shipped", "shipping"),
    "release": ("release", "released"),
    "hire": ("hire", "hired", "hiring"),
    "join": ("join", "joined"),
    "create": ("create", "created", "creation"),
    "sign": ("sign", "signed", "registered", "registration"),
    "register": ("register", "registered", "registration", "sign"),
    "order": ("order", "ordered"),
    "delivery": ("delivery", "delivered"),
    "update": ("update", "updated"),
    "open": ("open", "opened", "opening"),
    "close": ("close", "closed", "closing"),
    "purchase": ("purchase", "purchased", "bought"),
    "founded": ("founded", "founding", "established"),
    "start": ("start", "started"),
    "end": ("end", "ended"),
    "booking": ("booking", "booked"),
    "admission": ("admission", "admitted"),
    "launch": ("launch", "launched"),
    "due": ("due", "deadline"),
    "expiry": ("expiry", "expires", "expiration", "expire"),
}


def verb_test(reader: Reader, schema: Schema, possess: bool) -> Where | None:
    """What the verb that comes next says of its column; None if it is no such verb, or says nothing."""
    return _measuring(reader, schema) or _happening(reader, schema) or _called(reader, schema)


def _measuring(reader: Reader, schema: Schema) -> Where | None:
    word = reader.word()
    if word not in MEASURING:
        return None
    mark = reader.at
    reader.at += 1
    between = bool(reader.takes("between"))
    by = operator(reader)
    ahead = reader.at
    if not between and amount(reader) is None:
        reader.at = mark
        return None
    reader.at = ahead
    column = _numeric(word, schema)
    if between:
        found = between_numbers(reader, column)
        if found is None:
            raise Refused("It is not said between what.", "Write: between 10 and 20.")
        return found
    given = amount(reader)
    assert given is not None
    after = suffix(reader)
    reader.takes("stars", "star", "points", "years old", "in total") if not column.unit else ""
    return against_number(column, by or after or "==", given)


def _numeric(verb: str, schema: Schema) -> Column:
    word = MEASURING[verb]
    found = [column for column in candidates((word,), schema) if column.kind in ("number", "numeric text")]
    if not found and word == "price":
        return direction(verb, "price", 1, schema).column
    if len(found) != 1:
        said = (
            f"`{verb}` may be about {listed(found, ' or ')}." if found else f"No column tells what `{verb}` is about."
        )
        raise Refused(said, f"Name a column: {listed(schema.columns)}.")
    return found[0]


def _happening(reader: Reader, schema: Schema) -> Where | None:
    mark = reader.at
    verb = reader.takes(*HAPPENING)
    if not verb:
        return None
    by = DATES[said] if (said := reader.takes(*DATES)) else ""
    between = not by and bool(reader.takes("between", "from"))
    span = span_between(reader) if between else moment(reader) if by else None
    if span is None:
        reader.at = mark
        return None
    reader.takes("onwards", "onward") if by == "since" else ""
    return dated(_moment_column(verb, schema), by or "in", span)


def _moment_column(verb: str, schema: Schema) -> Column:
    word = HAPPENING[verb]
    words = _STEMS.get(word, (word,))
    found: dict[str, Column] = {}
    for one in words:
        found |= {c.name: c for c in candidates((one,), schema) if c.kind == "date" or yearly(c) or c.kind == "number"}
    dates = {name: column for name, column in found.items() if column.kind == "date" or yearly(column)} or found
    if len(dates) == 1:
        return next(iter(dates.values()))
    years = [column for column in schema.columns if column.words == ("year",) or column.words == ("model", "year")]
    if not dates and len(years) == 1 and word in ("built", "made", "release", "publish", "launch", "founded"):
        return years[0]
    said = f"`{verb}` may be about {' or '.join(dates)}." if dates else f"No column tells when something was {verb}."
    raise Refused(said, f"Name a column: {listed(schema.columns)}.")


def _called(reader: Reader, schema: Schema) -> Where | None:
    """`called Anna`, `named "Blue Lamp"`."""
    if not reader.takes("called", "named", "titled"):
        return None
    found = candidates(("name",), schema) or candidates(("title",), schema)
    if len(found) != 1:
        raise Refused("No single column holds names.", f"Name one: {listed(schema.columns)}.")
    read = values_at(reader, schema, within=found[0])
    if read is None:
        raise Refused(f"{found[0].name} never holds `{reader.rest(2)}`.", "Check the name, or say `name contains`.")
    return equals(read[0], read[1], negated=False)
