"""`compute`: a column worked out from the others, row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline import expressions
from laneway.lanes.pipeline.evaluating import function_of
from laneway.lanes.pipeline.expressions import Expression, ExpressionFault
from laneway.lanes.pipeline.fields import Fields
from laneway.lanes.pipeline.functions import TAKES, CellFault
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import Row

AT_ONCE = 1000
MOST_LETTERS = 200_000_000
"""Letters of one computed column, all rows together."""
EXAMPLE = '"expression": "price * quantity"'


@dataclass(frozen=True, slots=True)
class Compute(Step):
    """Sets a column of each row to the value of an expression over the others, such as round(price / 3, 2)."""

    DO: ClassVar[str] = "compute"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "column": {"type": "string"},
        "expression": {
            "type": "string",
            "description": "Column names, numbers, 'texts', + - * / // % **, == != < <= > >=, and or not, in (…), "
            f"a if b else c, and these functions: {', '.join(sorted(TAKES))}. Odd column names stand in `…`.",
        },
    }

    column: str
    expression: str
    tree: Expression = field(repr=False)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        column = fields.text("column", '"column": "total"')
        text = fields.need("expression", EXAMPLE)
        if not isinstance(text, str):
            raise fields.wrong("`expression` must be a text.", f"Write, for example, {EXAMPLE}.")
        try:
            return cls(column, text, expressions.parsed(text, TAKES))
        except ExpressionFault as fault:
            raise fields.wrong(fault.what, fault.repair) from fault

    def document(self) -> dict[str, Any]:
        return {"column": self.column, "expression": self.expression}

    def phrase(self) -> str:
        return f"compute {self.column} = {self.expression}"

    def run(self, table: Table, around: Surroundings) -> Table:
        around.need(table, sorted(expressions.columns(self.tree)))
        remarks: Counter[str] = Counter()
        rows = self._rows(table, around, remarks)
        for what, count in sorted(remarks.items()):
            around.note(f"{count:,} {what}.")
        return table.of(rows, more=() if table.knows(self.column) else (self.column,))

    def _rows(self, table: Table, around: Surroundings, remarks: Counter[str]) -> list[Row]:
        value, column = function_of(self.tree, remarks), self.column
        rows: list[Row] = []
        letters = 0
        try:
            for start in range(0, len(table.rows), AT_ONCE):
                rows.extend({**row, column: value(row)} for row in table.rows[start : start + AT_ONCE])
                letters += sum(len(row[column]) for row in rows[start:] if type(row[column]) is str)
                if letters > MOST_LETTERS:
                    # A text that is doubled a few times, in every row, would take all the memory there is.
                    raise around.wrong(f"{column} has more than {MOST_LETTERS:,} letters.", "Take shorter texts.")
        except CellFault as fault:
            repair = "Use number(…), text(…) or coalesce(…), or filter such rows out first."
            raise around.wrong(f"row {len(rows) + 1:,}: {fault}.", repair) from fault
        return rows
