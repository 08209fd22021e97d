"""The ways to put the tables of a request together, each with what is left to read of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from laneway.lanes.pipeline.planner.grammar import Chart, Language
from laneway.lanes.pipeline.planner.joining import lacking, linking, tables
from laneway.lanes.pipeline.planner.joining.keys import keys_of, only_key, put_together
from laneway.lanes.pipeline.planner.joining.tables import MAIN, Link
from laneway.lanes.pipeline.planner.meaning.needs import needed
from laneway.lanes.pipeline.planner.parts.pieces import Step
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema
from laneway.lanes.pipeline.planner.spelling import name_words, stem

LANGUAGE = Language(tables.RULES, linking.RULES, lacking.RULES)
Schemas = Mapping[str, Schema]
_KEY_OPENERS = ("by", "on", "via", "through", "using", "use")
_AFTER = words(", . ; ? ! and { } sorted ordered yet at by - : (")


@dataclass(frozen=True)
class Joined:
    """What is left to read, over which table, and the steps that come first."""

    tokens: list[Token]
    schema: Schema
    steps: list[Step]
    shown: tuple[str, ...] = ()
    """The columns of the answer, where the request names none: those of the rows that were asked for."""


class Unnamed(Refused):
    """Raised where no table is named: then the one that the rest of the request fits is meant."""


def readings(tokens: list[Token], schemas: Schemas, main: str = "") -> Iterator[Joined]:
    """The ways to put the tables together, the plainest first; beginning with `main`, if it is given."""
    chart = Chart(LANGUAGE, tokens, next(iter(schemas.values())), schemas)
    found = _lacking(chart) or _said(chart)
    if found is not None:
        yield _settled(chart, *found)
        return
    main = main or _source(chart, "")
    _refuse_mere_names(chart, main)
    yield Joined(tokens, schemas[main], [])
    _refuse_lacking_some(chart)
    yield from _looked_up(chart, main)


def _refuse_mere_names(chart: Chart, main: str) -> None:
    """Returns only if something is said of the other tables that are named; Refused for `orders with customers`."""
    for at in range(1, chart.size):
        others = [edge for edge in chart.edges("table", at) if edge.value != main and not edge.cost]
        after = chart.text(others[0].end) if others else ""
        if (
            others
            and chart.text(at - 1) in ("with", "and", "plus")
            and (others[0].end == chart.size or after in _AFTER)
        ):
            raise Refused(f"It is not said how {main} and {others[0].value} belong together.", "Say: join … on …")


Stretch = tuple[int, int]


def _said(chart: Chart) -> tuple[Link, list[Stretch]] | None:
    """The words that join the tables, and where they stand: the longest, and of those the first."""
    found = _found(chart, "link", "anti", "added")
    return (found[0][0], [found[0][1]]) if found else None


def _lacking(chart: Chart) -> tuple[Link, list[Stretch]] | None:
    """Rows without a partner, where other words of the request say how that is looked for: both are one join."""
    for lack, (start, end) in _found(chart, "anti")[:1]:
        for link, (begin, over) in _found(chart, "link", "compared", "anti"):
            again = link.how == "anti" and link.right == lack.right
            if (over <= start or end <= begin) and (again or _names_how(chart, link, begin)):
                return _one_join(lack, link), sorted([(start, end), (begin, over)])
    return None


def _names_how(chart: Chart, link: Link, start: int) -> bool:
    """Whether the words can only say how tables belong together: `by customer_id` may be an order."""
    return link.how in ("inner", "compare") and (bool(link.right) or chart.text(start) not in _KEY_OPENERS)


def _one_join(lack: Link, link: Link) -> Link:
    """The rows without a partner, found in the way that the other words say; Refused if they say something else."""
    named = {name for name in (link.left, link.right) if name}
    if (len(named) == 2 and lack.right not in named) or (lack.keys and link.keys and lack.keys != link.keys):
        raise Refused("It is said in two ways how the tables belong together.", "Say it once.")
    left = next((name for name in named if name != lack.right), "") if len(named) == 2 else ""
    return Link("anti", left, lack.right, lack.keys or link.keys)


def _found(chart: Chart, *symbols: str) -> list[tuple[Link, Stretch]]:
    """Every stretch of words that is one of the symbols: the longest first, and of those the first."""
    found = [
        (edge.value, (at, edge.end))
        for at in range(chart.size)
        for symbol in symbols
        for edge in chart.edges(symbol, at)
        if isinstance(edge.value, Link) and _ends(chart, edge.value, at, edge.end)
    ]
    return sorted(found, key=lambda one: (one[1][0] - one[1][1], one[1][0]))


def _ends(chart: Chart, link: Link, start: int, end: int) -> bool:
    """Whether the words end there: nothing more is said of partners that are missing, and a key begins a clause."""
    if link.right == link.left and link.right:
        return False
    if link.how == "anti":
        return chart.token(end) is None or chart.text(end) in _AFTER or chart.text(end - 1) == "}"
    if link.keys is None or link.right or chart.text(start) not in _KEY_OPENERS:
        return True
    # By amount is no key.
    tells = any(column.identifies or not column.measure for column in link.keys.values())
    over = chart.token(end) is None or chart.text(end) in (",", ":", ".", ";") or chart.text(start - 1) == ","
    return tells and over


def _source(chart: Chart, other: str) -> str:
    """The table the request starts from: the first it names, or the one without a name; Refused if it names none."""
    for at in range(chart.size):
        named = [edge.value for edge in chart.edges("table", at) if edge.value != other]
        before = chart.text(at - 1)
        if named and before not in ("per", "each", "by", "no", "without") and chart.text(at + 1) != "'s":
            return str(named[0])
    if MAIN in chart.tables:
        return MAIN
    left = [name for name in chart.tables if name != other]
    if other and len(left) == 1:
        return left[0]
    raise Unnamed("It is not said which table is meant.", f"Name one of: {', '.join(chart.tables)}.")


def _first(chart: Chart) -> str:
    """The table a join starts from where the request names none: the one without a name, or the first."""
    return MAIN if MAIN in chart.tables else next(iter(chart.tables))


def _settled(chart: Chart, link: Link, stretches: list[Stretch]) -> Joined:
    """The join that was said, and the rest of the request."""
    tables = chart.tables
    left = link.left or _left(chart, link)
    right = link.right or next((name for name in tables if name != left), "")
    if len(tables) > 2 and not link.right:
        raise Refused("It is not said which tables belong together.", f"Name two of: {', '.join(tables)}.")
    ours, theirs = keys_of(link.keys, tables[left], tables[right])
    step: Step = {"do": "join", "table": right, "how": link.how}
    step |= {"on": [ours.name]} if ours.name == theirs.name else {"left_on": [ours.name], "right_on": [theirs.name]}
    if ours.kind != theirs.kind:
        raise Refused(
            f"{ours.name} and {right}.{theirs.name} hold different kinds of values.", "Join by another column."
        )
    rest = chart.tokens
    for start, end in reversed(stretches):
        rest = _rest(rest, start, end)
    if link.how == "anti":
        _refuse_theirs(rest, tables[left], tables[right])
        return Joined(rest, tables[left], [step])
    _refuse_lacking_some(chart)
    schema = put_together(tables[left], tables[right], ours, theirs, left_join=link.how == "left")
    if not link.shown:
        return Joined(rest, schema, [step])
    kept = [c for c in schema.columns if tables[left].column(c.name) or _origin(c.name, tables[right]) in link.shown]
    steps = [step, {"do": "select", "columns": [column.name for column in kept]}]
    return Joined(rest, schema.with_columns(kept), steps)


def _refuse_theirs(rest: list[Token], left: Schema, right: Schema) -> None:
    """Returns only if no column is named that only the lacking partners have: `titles never borrowed`, of members."""
    theirs = {column.words[0] for column in right.columns if len(column.words) == 1} - left.words
    theirs -= {word for schema in (left, right) for word in name_words(schema.name)[0]}
    for token in rest:
        if token.kind == "word" and stem(token.text) in theirs:
            raise Refused(f"{left.name} has no {token.text}; only {right.name} has.", f"Ask for rows of {left.name}.")


def _refuse_lacking_some(chart: Chart) -> None:
    """Returns unless partners of some kind are lacking, as in `without open orders`: joined rows all have a partner."""
    for at in range(chart.size):
        for edge in chart.edges("none", at):
            some = [near for near in range(edge.end, edge.end + 3) if chart.edges("table", near)]
            if some and not _AFTER.intersection(chart.texts[edge.end : some[0]]):
                raise Refused("It is not plain whose partners are lacking.", "Say: without any …, and join by what.")


def _left(chart: Chart, link: Link) -> str:
    """The table that the request is about: the one without a name beside one that has one, or the first it names."""
    others = [name for name in chart.tables if name != link.right]
    if link.right and len(others) == 1:
        return others[0]
    try:
        return _source(chart, link.right)
    except Refused:
        return _first(chart)


def _origin(name: str, other: Schema) -> str:
    return name.removeprefix(f"{other.name}_") if other.column(name) is None else name


_SEAM = (",", ";", ".", "and", "then", ":", "-", "?", "!")


def _rest(tokens: list[Token], start: int, end: int) -> list[Token]:
    """The request without the words that join: at the seam one comma is enough."""
    before, after = tokens[:start], tokens[end:]
    for said in (", only where both have it", "only where both have it", ", where they match", "where they match",
                 "that match",
                 ", only where both match", ", only matching rows", ", keeping only matches",
                 ", only where they match"):  # fmt: skip
        size = len(said.split())
        if [token.text for token in after[:size]] == said.split():
            after = after[size:]
    while after and after[0].text in _SEAM:
        after = after[1:]
    while before and before[-1].text in (*_SEAM, "(", "after", "by", "when"):
        before = before[:-1]
    if before and after:
        return [*before, Token("mark", ",", ","), *after]
    return before or after


def _looked_up(chart: Chart, main: str) -> Iterator[Joined]:
    """The table with another one beside it, where each row has just one partner there and all have one."""
    for name, other in chart.tables.items():
        if name == main:
            continue
        try:
            ours, theirs = only_key(chart.tables[main], other)
        except Refused:
            continue
        if theirs.unique and not ours.nulls and ours.kind == theirs.kind:
            step: Step = {"do": "join", "table": name, "how": "inner"}
            step |= (
                {"on": [ours.name]} if ours.name == theirs.name else {"left_on": [ours.name], "right_on": [theirs.name]}
            )
            schema = put_together(chart.tables[main], other, ours, theirs)
            yield Joined(chart.tokens, schema, [step], tuple(column.name for column in chart.tables[main].columns))


def looked_up(document: dict[str, Any], joined: Joined, tables: Mapping[str, Any]) -> bool:
    """Whether the plan needs the other table, and no row is lost for having no partner there unless it is asked for."""
    step = joined.steps[0]
    theirs = {column.name for column in joined.schema.columns if column.owner == step["table"]}
    steps = document["steps"][1:]
    if theirs.isdisjoint(name for one in steps for name in needed(one)):
        return False
    asked = {name for one in steps if one["do"] == "filter" for name in positive(one["where"])}
    left, right = (step.get("on") or step["left_on"])[0], (step.get("on") or step["right_on"])[0]
    known = {row.get(right) for row in tables[step["table"]]}
    return not theirs.isdisjoint(asked) or all(row.get(left) in known for row in tables[joined.schema.name])


def positive(where: dict[str, Any]) -> set[str]:
    """The columns that must hold something for the condition to be met."""
    if "and" in where:
        return {name for part in where["and"] for name in positive(part)}
    if "column" not in where or where["is"] in ("null", "!=", "not_in"):
        return set()
    return {where["column"]}
