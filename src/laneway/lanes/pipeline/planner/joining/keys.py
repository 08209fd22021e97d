"""By which columns two tables belong together, and what the joined table is like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from laneway.lanes.pipeline.planner.joining.tables import MAIN
from laneway.lanes.pipeline.planner.names.nouns import typical
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import AGAIN, MOST_CLASSES, Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_words


def keys_of(said: Mapping[str, Column] | None, left: Schema, right: Schema) -> tuple[Column, Column]:
    """The key that is said, or the only one that can be meant."""
    if said is None:
        return only_key(left, right)
    ours, theirs = said.get(left.name), said.get(right.name)
    if ours is not None and theirs is None:
        theirs = _id_of(right, ours)
    if theirs is not None and ours is None:
        ours = _id_of(left, theirs)
    if ours is None or theirs is None:
        names = [", ".join(column.name for column in schema.columns[:10]) for schema in (left, right)]
        raise Refused("The key is not a column of both tables.", f"{left.name}: {names[0]}; {right.name}: {names[1]}.")
    return ours, theirs


def _id_of(schema: Schema, column: Column) -> Column | None:
    """`id` of customers, for a `customer_id` elsewhere."""
    if column.words[1:] != ("id",):
        return None
    own = name_words(schema.name)[0]
    told = typical(column.words[0], schema) if schema.name == MAIN else bool(own) and column.words[0] == own[-1]
    return schema.column("id") if told else None


def only_key(left: Schema, right: Schema) -> tuple[Column, Column]:
    """The only pair of columns that can belong together; Refused if there are none or several."""
    named = [(one, two) for one in left.columns for two in right.columns if one.name == two.name]
    shared = [(one, two) for one, two in named if one.identifies and len(one.words) > 1]
    if not shared and len(named) == 1 and (named[0][0].unique or named[0][1].unique):
        shared = named
    pairs = [(one, own) for one in left.columns if (own := _id_of(right, one)) is not None]
    back = [(own, one) for one in right.columns if (own := _id_of(left, one)) is not None]
    found = shared + pairs + back
    if len(found) != 1:
        raise Refused(
            "It is not said by which column the tables belong together.",
            f"Say: on …; {right.name} has {', '.join(column.name for column in right.columns[:10])}.",
        )
    return found[0]


def put_together(left: Schema, right: Schema, ours: Column, theirs: Column, *, left_join: bool = False) -> Schema:
    """The table as it is after the join."""
    names = {column.name for column in left.columns}
    more = [column for column in right.columns if not (ours.name == theirs.name and column.name == theirs.name)]
    beside = [
        replace(one, name=f"{right.name}_{one.name}" if one.name in names else one.name, unique=False, owner=right.name,
                nulls=one.nulls + left_join, classes=one.classes or (theirs.unique and _repeated(one, left, right)))
        for one in more
    ]  # fmt: skip
    # A partner that is there once repeats none of our rows.
    stay = [replace(one, unique=one.unique and theirs.unique, owner=left.name) for one in left.columns]
    return replace(left, columns=(*stay, *beside), others=(right.name,), memo={})


def _repeated(column: Column, left: Schema, right: Schema) -> bool:
    """Whether its few whole numbers come again and again beside our rows: zones of ports beside crates."""
    whole = column.kind == "number" and type(column.low) is int and type(column.high) is int
    return whole and right.rows <= MOST_CLASSES and right.rows * AGAIN <= left.rows
