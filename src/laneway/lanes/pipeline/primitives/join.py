"""`join`: rows of another table put beside ours where the keys are equal."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from operator import or_
from typing import Any, ClassVar, Self

from laneway.lanes.pipeline.fields import Fields, nearest
from laneway.lanes.pipeline.keys import cell_keys, combined
from laneway.lanes.pipeline.step import Step, Surroundings, Table
from laneway.lanes.pipeline.values import KINDS, NULL, Row

HOW = {
    "inner": "", "left": ", keeping rows without a match", "right": ", keeping its rows without a match",
    "full": ", keeping the rows of both without a match", "semi": "with", "anti": "without",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Join(Step):
    """Puts another table's columns beside ours where keys are equal; `semi` and `anti` only choose among our rows."""

    DO: ClassVar[str] = "join"
    SCHEMA: ClassVar[dict[str, Any]] = {
        "table": {"type": "string"},
        "on": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Key columns that both tables call the same",
        },
        "left_on": {"type": "array", "items": {"type": "string"}},
        "right_on": {"type": "array", "items": {"type": "string"}},
        "how": {"enum": list(HOW), "description": "semi, anti: only our rows that have, or lack, a match"},
    }

    table: str
    left_on: tuple[str, ...]
    right_on: tuple[str, ...]
    how: str = "inner"

    @classmethod
    def read(cls, fields: Fields) -> Self:
        table = fields.text("table", '"table": "customers"')
        if fields.has("on"):
            left = right = fields.names("on", '"on": ["customer_id"]')
            if fields.has("left_on") or fields.has("right_on"):
                raise fields.wrong("`on` and `left_on`, `right_on` exclude each other.", "Keep one of the two.")
        else:
            left, right = (fields.names(side, f'"{side}": ["id"]') for side in ("left_on", "right_on"))
        if len(left) != len(right):
            raise fields.wrong(f"{len(left)} keys cannot be compared with {len(right)}.", "Name as many on each side.")
        return cls(table, left, right, fields.choice("how", HOW, "inner"))

    def document(self) -> dict[str, Any]:
        keys = {"on": list(self.left_on)} if self.left_on == self.right_on else {
            "left_on": list(self.left_on), "right_on": list(self.right_on)}  # fmt: skip
        return {"table": self.table, **keys, "how": self.how}

    def phrase(self) -> str:
        pairs = zip(self.left_on, self.right_on, strict=True)
        keys = " and ".join(left if left == right else f"{left} = {right}" for left, right in pairs)
        if self.how in ("semi", "anti"):
            return f"keep the rows {HOW[self.how]} a match in {self.table} by {keys}"
        return f"join {self.table} by {keys}{HOW[self.how]}"

    def run(self, table: Table, around: Surroundings) -> Table:
        right = around.tables.get(self.table)
        if right is None:
            raise around.wrong(f"there is no table {self.table}.", nearest(self.table, around.tables))
        around.need(table, self.left_on)
        around.need(right, self.right_on, f"the table {self.table}")
        left_keys, right_keys = self._keys(table, right, around)
        if self.how in ("semi", "anti"):
            known, has = {key for key in right_keys if not _empty(key)}, self.how == "semi"
            return table.of([row for row, key in zip(table.rows, left_keys, strict=True) if (key in known) is has])
        names = self._names(table, right, around)
        partners = _partners(right, right_keys, names)
        alone: list[Row] = []
        if self.how in ("right", "full"):
            ours, met = dict.fromkeys(table.columns), set(left_keys)
            alone = [
                ours | {names.get(column, column): row.get(column) for column in right.columns}
                for row, key in zip(right.rows, right_keys, strict=True)
                if _empty(key) or key not in met
            ]
        nobody = dict.fromkeys(names.values()) if self.how in ("left", "full") else None
        around.room(_size(left_keys, partners, keeps=nobody is not None) + len(alone))
        rows = _joined(table.rows, left_keys, partners, nobody) + alone
        return table.of(rows, more=names.values())

    def _keys(self, left: Table, right: Table, around: Surroundings) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
        """The keys of both sides, made in the same way so that they can be compared."""
        lefts, rights = [], []
        for ours, theirs in zip(self.left_on, self.right_on, strict=True):
            here, there = left.cells(ours), right.cells(theirs)
            types = set(map(type, here)), set(map(type, there))
            lefts.append(cell_keys(here, types[1]))
            rights.append(cell_keys(there, types[0]))
            kinds = [{KINDS[of] for of in side - {NULL}} for side in types]
            if all(kinds) and kinds[0].isdisjoint(kinds[1]):
                around.note(f"{ours} holds {min(kinds[0])}s here and {min(kinds[1])}s in {self.table}: none are equal.")
        return combined(lefts), combined(rights)

    def _names(self, left: Table, right: Table, around: Surroundings) -> dict[str, str]:
        """What each column of the other table is called in the result."""
        shared = {theirs for ours, theirs in zip(self.left_on, self.right_on, strict=True) if ours == theirs}
        names: dict[str, str] = {}
        for column in right.columns:
            if column in shared:
                continue
            names[column] = f"{self.table}_{column}" if left.knows(column) else column
        for column, name in names.items():
            if column != name and (left.knows(name) or list(names.values()).count(name) > 1):
                raise around.wrong(f"both tables have {column}, and {name} is taken.", "Rename one of them first.")
        return names


def _empty(key: Hashable) -> bool:
    return key is None or (type(key) is tuple and None in key)


def _partners(right: Table, keys: Sequence[Hashable], names: Mapping[str, str]) -> dict[Hashable, list[Row]]:
    """The rows of the other table by key, under the names they will have; a key with a null in it finds nobody."""
    partners: dict[Hashable, list[Row]] = {}
    for row, key in zip(right.rows, keys, strict=True):
        if not _empty(key):
            partners.setdefault(key, []).append({name: row.get(column) for column, name in names.items()})
    return partners


def _size(keys: Sequence[Hashable], partners: Mapping[Hashable, list[Row]], *, keeps: bool) -> int:
    """How many rows a join will have at most, known before one of them is made."""
    if _single(partners):
        return len(keys)
    least = 1 if keeps else 0
    return sum(max(least, len(partners.get(key, ()))) for key in keys)


def _single(partners: Mapping[Hashable, list[Row]]) -> bool:
    return all(len(found) == 1 for found in partners.values())


def _joined(
    rows: Sequence[Row], keys: Sequence[Hashable], partners: Mapping[Hashable, list[Row]], nobody: Row | None
) -> list[Row]:
    if not _single(partners):
        none: list[Row] = [] if nobody is None else [nobody]
        return [row | partner for row, key in zip(rows, keys, strict=True) for partner in partners.get(key, none)]
    only = {key: found[0] for key, found in partners.items()}
    if nobody is not None:
        return list(map(or_, rows, map(only.get, keys, repeat(nobody))))
    # Looked up and put together without a line of Python for each row.
    found = list(map(only.__contains__, keys))
    if all(found):
        return list(map(or_, rows, map(only.__getitem__, keys)))
    return list(map(or_, compress(rows, found), map(only.__getitem__, compress(keys, found))))
