"""The price of one piece where rows are of several: an order of four chairs costs more than its unit_price."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.words.kinds import KIN

_DEALS = frozenset[str]().union(*(kin for kin in KIN if "sale" in kin))
_ONE = words("unit each piece")
_MANY = words("quantity unit piece")


def of_whole_rows(column: Column, schema: Schema) -> Column:
    """The column, unless it is the price of one piece and the rows are deals of several; Refused then."""
    if _ONE.isdisjoint(column.words) or _DEALS.isdisjoint(row_nouns(schema)):
        return column
    many = next((one for one in schema.columns if one is not column and _counts(one)), None)
    if many is not None:
        raise Refused(
            f"It may be meant by {column.name}, or by all of the {many.name} together.",
            f"Name the column: {column.name}; or: {column.name} * {many.name}.",
        )
    return column


def _counts(column: Column) -> bool:
    """Whether the column says of how many pieces a row is."""
    several = column.measure and column.high is not None and column.high > 1
    return several and column.words[0] in _MANY and not column.unit and "price" not in column.words
