"""What one clause of a request asks for, gathered while it is read, and the steps it comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laneway.lanes.pipeline.planner.comparing import Where, compared
from laneway.lanes.pipeline.planner.dimensions import Direction
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema

Step = dict[str, Any]
NAMES = {
    "mean": "average",
    "sum": "total",
    "min": "min",
    "max": "max",
    "median": "median",
    "count_distinct": "distinct",
}


@dataclass
class Measure:
    """One aggregate: what is done, to which column, and what the result is called."""

    do: str
    column: Column | None
    name: str = ""

    def called(self) -> str:
        if self.name:
            return self.name
        return "count" if self.column is None else f"{NAMES.get(self.do, self.do)}_{self.column.name}"


@dataclass
class Ask:
    """One clause: rows, a count, aggregates or a listing, of which rows, in which order, how many."""

    opener: str = ""
    counts: bool = False
    measures: list[Measure] = field(default_factory=list)
    before: list[Where] = field(default_factory=list)
    """Conditions that stand before the noun: they hold whatever `or` comes later."""
    tests: list[tuple[str, Where]] = field(default_factory=list)
    """Conditions and how each is tied to the one before: and, or, or by nothing."""
    group: list[Column] = field(default_factory=list)
    made: list[tuple[str, str]] = field(default_factory=list)
    """Columns to compute first: name and expression."""
    having: list[Where] = field(default_factory=list)
    superlative: Direction | None = None
    wanted: int | None = None
    implied: bool = False
    """One row is wanted though no number was said: then no second may be as good."""
    place: int | None = None
    """`second cheapest`: the place in the order, from 1."""
    firsts: bool = False
    """The number was said with top or first, which alone means the rows as they stand."""
    bottom: bool = False
    offset: int = 0
    keys: list[tuple[Column, str]] = field(default_factory=list)
    columns: list[tuple[Column, str]] = field(default_factory=list)
    """What is shown, each with the name it gets."""
    dropped: list[Column] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    distinct: list[Column] | None = None
    sample: bool = False
    summary: list[Column] | None = None
    excepted: bool = False
    """The last condition took rows away by `except`, and what follows may belong to it."""
    measured_at: int = 0
    """Where the last aggregate ended in the request."""
    noun: str = ""
    plural: bool = True
    valued: bool = False
    """The rows are named after what they measure: prices, temperatures."""
    ties: bool = False
    """All rows as good as the best one are wanted."""
    entity: Column | None = None
    joins: list[Step] = field(default_factory=list)

    @property
    def grouped(self) -> bool:
        return self.counts or bool(self.measures)

    def measured(self, schema: Schema) -> Schema:
        """The table as it is after the grouping."""
        made = [Column(one.called(), "number") for one in self.all_measures()]
        return schema.with_columns([*self.group, *made])

    def all_measures(self) -> list[Measure]:
        """The aggregates, the count of rows among them."""
        return ([Measure("count", None)] if self.counts else []) + self.measures


def where_of(ask: Ask) -> Where | None:
    """All conditions as one; Refused if `and` and `or` are mixed so that both readings make sense."""
    groups: list[list[Where]] = []
    ties: set[str] = set()
    for tie, one in ask.tests:
        same = groups and tie == "or" and _column(one) is not None and _column(one) == _column(groups[-1][-1])
        if same:
            groups[-1].append(one)
        else:
            if groups:
                ties.add(tie or "and")
            groups.append([one])
    parts = [group[0] if len(group) == 1 else {"or": group} for group in groups]
    if len(ties) > 1:
        raise Refused("`and` and `or` are mixed, and it is not plain which belongs together.", "Ask in two steps.")
    tied: list[Where] = [{"or": parts}] if ties == {"or"} else parts
    every = [part for one in (*ask.before, *tied) for part in one.get("and", [one])]
    _refuse_contradictions(every)
    if not every:
        return None
    return every[0] if len(every) == 1 else {"and": every}


def _refuse_contradictions(every: list[Where]) -> None:
    """Nobody asks for rows that cannot exist: then the words meant something else."""
    for place, one in enumerate(every):
        for other in every[:place]:
            if one.get("column") != other.get("column") or "column" not in one:
                continue
            pair = (other, one)
            values = [two.get("value") for two in pair]
            same = all(two["is"] in ("==", "in") for two in pair) and not set(map(str, _listed(values[0]))) & set(
                map(str, _listed(values[1]))
            )
            low = next((two["value"] for two in pair if two["is"] in (">", ">=")), None)
            high = next((two["value"] for two in pair if two["is"] in ("<", "<=")), None)
            apart = isinstance(low, int | float) and isinstance(high, int | float) and low > high
            if same or apart:
                raise Refused(f"No row can be both as far as {one['column']} goes.", "Say `or` if either will do.")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _column(where: Where) -> str | None:
    if "column" in where:
        return str(where["column"])
    parts: list[Where] = where.get("and") or where.get("or") or []
    inner = {_column(part) for part in parts}
    return inner.pop() if len(inner) == 1 else None


def steps_of(ask: Ask, schema: Schema) -> tuple[list[Step], Schema]:
    """The steps of the clause without what it shows, and the table as it is after them."""
    steps: list[Step] = list(ask.joins)
    where = where_of(ask)
    made = [{"do": "compute", "column": name, "expression": text} for name, text in ask.made]
    mentions = where is not None and not {name for name, _ in ask.made}.isdisjoint(mentioned(where))
    filters = [{"do": "filter", "where": where}] if where is not None else []
    steps += made + filters if mentions else filters + made
    if ask.entity is not None and ask.grouped and not ask.group:
        ask.group = [ask.entity]
    if ask.grouped:
        schema = _grouped(ask, schema, steps)
        known = {column.name for column in schema.columns}
        asked = [column.name for column, _ in ask.keys] + ([ask.superlative.column.name] if ask.superlative else [])
        if not known.issuperset(asked):
            raise Refused(
                f"There is no {(set(asked) - known).pop()} of a whole group.", "Order groups by what is worked out."
            )
    if ask.having:
        steps.append({"do": "filter", "where": ask.having[0] if len(ask.having) == 1 else {"and": ask.having}})
    if ask.summary is not None:
        steps.append({"do": "summarize"} | ({"columns": [one.name for one in ask.summary]} if ask.summary else {}))
    _ordered(ask, steps)
    _distinct(ask, steps)
    if ask.renamed:
        steps.append({"do": "rename", "columns": dict(ask.renamed)})
        schema = schema.with_columns([_as(one, ask.renamed.get(one.name, one.name)) for one in schema.columns])
    return steps, schema


def mentioned(where: Where) -> set[str]:
    """Every column the condition looks at."""
    if "column" in where:
        return {where["column"]}
    inner = where.get("and") or where.get("or") or [where["not"]]
    return {name for part in inner for name in mentioned(part)}


def _as(column: Column, name: str) -> Column:
    from dataclasses import replace

    return replace(column, name=name)


def _grouped(ask: Ask, schema: Schema, steps: list[Step]) -> Schema:
    values: dict[str, Mapping[str, str]] = {}
    for one in ask.all_measures():
        name = one.called()
        if name in values or name in {column.name for column in ask.group}:
            raise Refused(f"Two columns of the answer would be called {name}.", "Ask for them one after the other.")
        values[name] = {"do": one.do} | ({"column": one.column.name} if one.column else {})
    steps.append({"do": "group_by", "by": [column.name for column in ask.group], "values": values})
    return ask.measured(schema)


def _ordered(ask: Ask, steps: list[Step]) -> None:
    """Top, sort and limit in the order in which they are meant."""
    best = ask.superlative
    if best is not None:
        if best.column.nulls:
            steps.append({"do": "filter", "where": compared(best.column.name, "not_null")})
        by = {"column": best.column.name, "order": best.order, "nulls": "last"}
        if ask.place is not None:
            steps.append({"do": "sort", "by": [by]})
            steps.append({"do": "limit", "count": ask.wanted or 1, "offset": ask.place - 1})
        elif ask.group and not ask.grouped:
            steps.append({"do": "sort", "by": [by]})
            steps.append({"do": "distinct", "columns": [column.name for column in ask.group]})
        elif ask.wanted is None:
            steps.append({"do": "sort", "by": [by]})
        else:
            ties = {"ties": "all"} if ask.ties else {}
            steps.append({"do": "top_k", "k": ask.wanted, "by": best.column.name, "order": best.order} | ties)
    if ask.keys:
        keys = [{"column": column.name, "order": order, "nulls": "last"} for column, order in ask.keys]
        steps.append({"do": "sort", "by": keys})
    if ask.sample:
        steps.append({"do": "sample", "count": ask.wanted or 1, "seed": 0})
    elif best is None and (ask.wanted is not None or ask.offset):
        steps.append({"do": "limit", "count": ask.wanted if ask.wanted is not None else 10**9, "offset": ask.offset})


def _distinct(ask: Ask, steps: list[Step]) -> None:
    if ask.distinct is None:
        return
    if ask.distinct:
        names = [column.name for column in ask.distinct]
        place = next((n for n, one in enumerate(steps) if one["do"] in ("sort", "limit", "top_k")), len(steps))
        steps[place:place] = [{"do": "select", "columns": names}, {"do": "distinct"}]
    else:
        steps.append({"do": "distinct"})
