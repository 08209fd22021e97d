"""`sort`: by one column or many, nulls last unless said otherwise; rows that are equal keep their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import NUMBERS, Row, rank

ORDERS = ("asc", "desc")


@dataclass(frozen=True, slots=True)
class Key:
    """One column to sort by."""

    column: str
    order: str = "asc"
    nulls: str = "last"

    def document(self) -> dict[str, str]:
        """The key as a plan has it."""
        return {"column": self.column, "order": self.order, "nulls": self.nulls}


@dataclass(frozen=True, slots=True)
class Sort(Step):
    """Puts the rows in order."""

    DO: ClassVar[str] = "sort"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "by": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "column": {"type": "string"},
                    "order": {"enum": list(ORDERS)},
                    "nulls": {"enum": ["last", "first"]},
                },
                "required": ["column"],
            },
        },
        "order": {"enum": list(ORDERS), "description": "For every key that says none itself"},
    }

    by: tuple[Key, ...]

    @classmethod
    def read(cls, fields: Fields) -> Self:
        order = fields.choice("order", ORDERS, "asc")
        by = fields.need("by", '"by": [{"column": "price", "order": "asc"}]')
        return cls(fields.each("by", by, lambda given: _key(fields, given, order)))

    def document(self) -> dict[str, Any]:
        return {"by": [key.document() for key in self.by]}

    def phrase(self) -> str:
        said = [f"{key.column} ({'lowest' if key.order == 'asc' else 'highest'} first)" for key in self.by]
        return f"sort by {', then by '.join(said)}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, (key.column for key in self.by))
        rows = table.rows
        # The last key first: each later sort keeps the order of the earlier ones among equals.
        for key in reversed(self.by):
            rows = ordered(table.of(rows), key)
        return table.of(rows)


def _key(fields: Fields, given: Any, order: str) -> Key:
    if isinstance(given, str):
        return Key(fields.name("by", given), order)
    if not isinstance(given, Mapping) or "column" not in given or set(given) - {"column", "order", "nulls"}:
        raise fields.wrong("`by` must name columns.", 'Write {"column": "price", "order": "asc", "nulls": "last"}.')
    key = Key(fields.name("by", given["column"]), given.get("order", order), given.get("nulls", "last"))
    if key.order not in ORDERS or key.nulls not in ("last", "first"):
        raise fields.wrong(f"`by` has a wrong order for {key.column}.", "Order is asc or desc, nulls last or first.")
    return key


def ordered(table: Table, key: Key) -> Sequence[Row]:
    """The rows in the order of one key."""
    types, descending = table.types(key.column), key.order == "desc"
    if types <= NUMBERS or types == {str}:
        return sorted(table.rows, key=itemgetter(key.column), reverse=descending)
    full, empty = parted(table.rows, key.column)
    full.sort(key=lambda row: rank(row[key.column]), reverse=descending)
    return full + empty if key.nulls == "last" else empty + full


def parted(rows: Sequence[Row], column: str) -> tuple[list[Row], list[Row]]:
    """The rows that have a value in the column, and those that have none."""
    full = [row for row in rows if row.get(column) is not None]
    empty = [row for row in rows if row.get(column) is None] if len(full) < len(rows) else []
    return full, empty
