"""What a clause leaves open is settled by rule: its groups, its figures, how many rows it wants; or it is refused."""

from __future__ import annotations

from dataclasses import replace

from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.grouping import ABOVE, groups, numbered, only_some
from laneway.lanes.pipeline.planner.meaning.ordering import KINDS, best_column
from laneway.lanes.pipeline.planner.names.owners import row_nouns
from laneway.lanes.pipeline.planner.parts.degrees import agrees
from laneway.lanes.pipeline.planner.parts.expressions import COUNTED
from laneway.lanes.pipeline.planner.parts.figures import of_values
from laneway.lanes.pipeline.planner.parts.pieces import Best, Degree, Distinct, Figure, Having, Key, Period, That
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word
from laneway.lanes.pipeline.planner.words.kinds import DOERS, KIN, PERSONS
from laneway.lanes.pipeline.planner.words.naming import FLOWS, HAPPENINGS, TIMES
from laneway.lanes.pipeline.planner.words.small import GENERIC

_DEALS = frozenset[str]().union(*(kin for kin in KIN if kin & {"sale", "booking", "match"}))
"""Rows that somebody has several of."""


_ADDED = TIMES | {"km", "mi"}
"""Who has several rows of so much has all of it together."""


def settled(ask: Ask, schema: Schema) -> None:
    """The clause means one thing; Refused if it does not, Unfit if it means nothing."""
    _worked_out(ask)
    if not ask.figures and all(isinstance(key, Column) and key.unique for key in ask.group):
        # For each machine, where every row is another one, is for each row.
        if ask.group and ask.made and ask.shown and not ask.columns and ask.best is None:
            ask.columns = [(key, key.name) for key in ask.group if isinstance(key, Column)]
            ask.shown = [name for _, name in ask.columns] + ask.shown
        ask.group = []
    _by(ask, schema)
    groups(ask, schema)
    _who(ask, schema)
    _refuse_doers(ask, schema)
    _place(ask)
    only_some(ask)
    _of_one_day(ask, schema)
    _things(ask)
    _numbers(ask, schema)
    _together(ask)


def _worked_out(ask: Ask) -> None:
    """Figures that groups are chosen by are shown with them, first; where others are asked for, they only choose."""
    chosen = [one.figure for one in ask.having if isinstance(one.figure, Figure)]
    if ask.best is not None and isinstance(ask.best.by, Figure):
        chosen.append(ask.best.by)
    sorted_by = [key.by for key in ask.keys if isinstance(key.by, Figure)]
    if chosen and not (ask.things or ask.group or ask.loose or ask.columns):
        raise Unfit
    if sorted_by and (ask.things or ask.group or ask.loose) and not ask.figures:
        chosen += sorted_by
    known = {_same(one) for one in ask.figures}
    if ask.figures and ask.best is None and "" not in ask.shown and all(_told(key, ask) for key in ask.keys):
        needed = known | {_same(one) for one in sorted_by}
        ask.unshown = [one for one in _once(chosen) if _same(one) not in needed]
    ask.figures = [one for one in _once(chosen) if _same(one) not in known] + ask.figures if chosen else ask.figures
    if len({_same(one) for one in ask.figures}) < len(ask.figures):
        ask.figures = _once(ask.figures)


def _told(key: Key, ask: Ask) -> bool:
    """Whether the key needs no figure but those that are asked for: `cheapest average first`, of an average."""
    if not isinstance(key.by, That):
        return True
    kind = KINDS.get(key.by.word)
    return kind is not None and any(one.do == kind for one in ask.figures)


def _same(figure: Figure) -> tuple[str, str, str, str]:
    """What makes two figures one: not the name, nor the words."""
    of = figure.column.name if figure.column is not None else figure.expression
    only = repr(figure.only.where) if figure.only is not None else ""
    return figure.do + figure.formula + str(figure.share), of, only, "".join(map(repr, map(_same, figure.parts)))


def _once(figures: list[Figure]) -> list[Figure]:
    return list({_same(one): one for one in figures}.values())


def _by(ask: Ask, schema: Schema) -> None:
    """A mere `by` makes groups where something is worked out, and decides who is on top where rows are counted off."""
    if not ask.loose:
        return
    made = ask.made and ask.shown and not ask.columns and ask.wanted is None
    summed = ask.total and len(ask.columns) == 1 and ask.columns[0][0].measure
    if (ask.figures or made or summed) and not ask.group:
        ask.group, ask.loose = ask.loose, []
        return
    column = ask.loose[0]
    if ask.best is not None and ask.loose == [ask.best.by]:
        # The top scorers by goals are the top scorers.
        ask.loose = []
        return
    if ask.best is not None and isinstance(ask.best.by, Degree) and isinstance(column, Column) and len(ask.loose) == 1:
        if not column.ordered and not ask.plural and ask.wanted is None:
            # The longest route by operator is one of each.
            ask.group, ask.loose = [column], []
            return
        sign = agrees(ask.best.by, column, schema)
        if not sign:
            raise Refused(f"{column.name} does not say which is `{ask.best.said}`.", "Leave one of them out.")
        ask.best, ask.loose = replace(ask.best, by=column, sign=sign), []
        return
    counted = ask.wanted is not None and ask.head in ("top", "bottom", "first")
    if ask.head == "limit" and ask.wanted is not None and not ask.figures:
        raise Refused("`limit … by` says no order.", "Say `sorted by`.")
    if not counted or len(ask.loose) > 1 or isinstance(column, Period) or ask.best is not None or ask.group:
        raise Unfit
    if ask.things is not None and not ask.things.unique:
        raise Refused(
            f"`by {column.name}` of a {ask.things.name} may be its one row, its sum or its average.", "Say: by total …"
        )
    if not column.ordered or column.identifies or {"rank", "ranking", "place"} & set(column.words):
        raise Refused(f"{column.name} says nothing about which is on top.", "Name a column of numbers or dates.")
    ask.best, ask.loose = Best(column, 1, said="by"), []


def _place(ask: Ask) -> None:
    """`the second highest price` is that price; Refused for the second of each group, which no step takes."""
    if ask.place is not None and ask.group and not ask.grouped:
        raise Refused("I can take the first of each group, but no later place.", "Ask for one group at a time.")
    if not ask.valued:
        return
    assert ask.best is not None
    if ask.things is not None or ask.shown or ask.grouped:
        raise Refused("It is not plain whether the row or the value is wanted.", "Say: the row with the second …")
    if not of_values(ask.best.said):
        raise Refused("That may mean a row or a value.", "Say: the row with the second highest …")
    if isinstance(ask.best.by, Column):
        ask.columns, ask.shown, ask.wanted = [(ask.best.by, ask.best.by.name)], [ask.best.by.name], 1


def _who(ask: Ask, schema: Schema) -> None:
    """`who spent the most hours` over rows that are nobody: Refused where several are named, or one in several rows."""
    if not ask.who or ask.best is None or ask.figures or ask.group or ask.things is not None:
        return
    named = [column for column in schema.columns if column.kind == "text" and entity_word(column) in PERSONS | DOERS]
    rows = row_nouns(schema)
    if rows & PERSONS or any(column.unique for column in named):
        return
    by = ask.best.by if isinstance(ask.best.by, Column) else None
    adds_up = by is not None and (not (FLOWS | HAPPENINGS | COUNTED).isdisjoint(by.words) or by.unit in _ADDED)
    if adds_up and (named or rows):
        raise Refused("It is not plain who is meant, and by which of their rows.", "Name the column: which customer …")


def _refuse_doers(ask: Ask, schema: Schema) -> None:
    """`top 3 sellers` over rows that are sales: who sells has several of them, and no one row."""
    doers = ask.best is not None and ask.best.said in ("earn", "earners")
    if doers and not row_nouns(schema).isdisjoint(_DEALS):
        raise Refused("It is not plain who is meant, and by which of their rows.", "Say: top 3 … by total …")


def _of_one_day(ask: Ask, schema: Schema) -> None:
    """`latest prices` are those of the last day there is; Refused where a day holds one row, or times part it."""
    plain = ask.wanted is None and ask.place is None and not (ask.grouped or ask.group)
    if ask.best is None or isinstance(ask.best.by, Figure) or not plain or not ask.plural or ask.rows is None:
        return
    named = ask.rows.word
    if not any(column.measure and column.words[-1:] == (named,) for column in schema.columns):
        return
    column, _ = best_column(ask, schema)
    if column.kind != "date":
        return
    if column.unique or column.timed:
        raise Refused(
            f"Every row may have a {column.name} of its own, and it is not said how many rows are wanted.",
            "Say how many: the latest 5, or: sorted by date, newest first.",
        )
    ask.wanted, ask.ties = 1, True


def _things(ask: Ask) -> None:
    """A noun that names a column: its different values, unless something is worked out for each."""
    if ask.things is None or ask.grouped:
        return
    things = ask.things
    if (
        ask.best is not None
        and not things.unique
        and ask.plural is False
        and (ask.tests or ask.before)
        and not ask.group
    ):
        # `on Sunday, which town had the most rain`: if each town has one row then, that row is meant.
        ask.once = True
        return
    if ask.best is not None and not things.unique:
        raise Refused(
            f"`{things.name}` has several rows each, and it is not said which of them decides.",
            "Say: with the highest average …, or ask for the rows.",
        )
    if ask.group or ask.having or ask.rows is not None or (ask.total and numbered(ask)):
        # More than 50 hectares in total are no 50 in one row.
        raise Unfit
    if ask.columns or ask.made:
        if not ask.marked:
            raise Refused(f"It is not plain what is wanted of {things.name}.", "Ask for rows, or for columns.")
        return
    if not ABOVE.isdisjoint(things.words) and (ask.tests or ask.before):
        raise Refused("It is not plain whether that holds for those who are named, or for their rows.", "Ask for rows.")
    if not ask.plural:
        raise Refused(
            f"It is not plain whether {things.name} is to be shown for each row.", "Say: the column …, or distinct …"
        )
    if things.unique and not ask.called and ask.distinct is None and (ask.tests or ask.before or ask.keys):
        # Dog breeds may be the breeds, or the dogs with all that is known of them.
        raise Refused(f"It is not plain whether rows or only {things.name} are wanted.", "Say: rows where …")
    if things.unique:
        ask.columns = [(things, things.name)]
        ask.shown = [things.name]
        return
    if not ask.asked and ask.distinct is None:
        raise Refused(f"{things.name} repeats itself.", f"Say: distinct {things.name}, or: the {things.name} column.")
    _listed_once(ask, things)


def _listed_once(ask: Ask, things: Column) -> None:
    if any(isinstance(key.by, Column) and key.by.name != things.name for key in ask.keys):
        raise Refused(
            f"Each {things.name} stands in several rows, which the order may part.", "Sort by what is listed."
        )
    ask.distinct = Distinct((things,))


def _numbers(ask: Ask, schema: Schema) -> None:
    """How many rows a superlative takes: the number said, one for a singular, all in order for a plural."""
    best = ask.best
    if best is not None and not isinstance(best.by, Column) and best.said == "by" and ask.wanted is None and ask.plural:
        raise Unfit
    if ask.wanted is not None and best is None and ask.figures and ask.head in ("top", "bottom") and not ask.keys:
        if len(ask.figures) != 1 or not ask.group:
            raise Refused("It is not said by which figure the top is meant.", "Say: top 3 by total …")
        best = ask.best = Best(ask.figures[0], 1)
    if best is not None and ask.head == "bottom":
        if best.said not in ("by", "earners", "") or best.sign < 0:
            raise Refused("The direction is said twice.", "Say `bottom` or the direction, not both.")
        best = ask.best = replace(best, sign=-1)
    each = bool(ask.group) and not ask.grouped
    if best is not None and ask.wanted is None and ask.place is None and not each:
        one = not ask.plural or (ask.rows is None and ask.things is None and not (best.plural or ask.several))
        if not one and best.linked and not isinstance(best.by, Figure):
            raise Refused("It is not said how many rows.", "Say a number: the 5 with the highest …")
        if one:
            ask.wanted, ask.implied = 1, True
    if each and best is None and ask.rows is None:
        raise Unfit
    if each and (best is None or (ask.wanted or 1) != 1):
        raise Refused("It is not said what is wanted of each group.", "Say: average price per airline, for example.")
    if ask.place is not None and (best is None or (ask.plural and ask.rows is not None and ask.wanted is None)):
        raise Unfit
    if ask.head == "bottom" and best is None:
        raise Refused("It is not said by which column the bottom is meant.", "Say: bottom 5 by price.")
    if ask.offset and best is not None:
        raise Refused("Leaving out rows and a superlative do not go together.", "Say: sorted by …, skip the first 5.")


def _together(ask: Ask) -> None:
    """Parts that exclude each other; Refused where a person may have meant them, Unfit where nobody does."""
    if ask.sample and (ask.best or ask.offset or ask.grouped):
        raise Refused("Rows by chance have no order.", "Ask for the sample alone.")
    if ask.summary is not None and (ask.grouped or ask.columns or ask.best):
        raise Refused("A summary goes with nothing else.", "Ask for it alone.")
    if ask.grouped and (ask.distinct is not None or ask.sample):
        raise Refused("Rows and what they come to cannot both be shown.", "Ask for one of them.")
    if (
        ask.distinct is not None
        and not ask.distinct.columns
        and not ask.columns
        and ask.rows is not None
        and ask.rows.word not in GENERIC
    ):
        raise Refused(
            f"It is not said by what the {ask.rows.word}s are told apart.", "Say: distinct rows, or name a column."
        )
    if ask.distinct is not None and ask.distinct.columns and (ask.columns or ask.best is not None):
        raise Refused("Different values have no rows to choose among.", "Ask for one of them.")
    if ask.columns and ask.dropped:
        raise Refused("Columns to show and columns to leave out are both named.", "Name one of the two.")
    if ask.pivot is not None and (ask.grouped or ask.columns or ask.best is not None or ask.keys or ask.group):
        raise Unfit
    if any(name == "" for name in ask.shown) and not (ask.figures or ask.made):
        raise Unfit
    for having in ask.having:
        if isinstance(having.figure, That) and not _of_groups(ask, having):
            raise Unfit


def _of_groups(ask: Ask, having: Having) -> bool:
    """Whether a condition on what was worked out before is on the one figure there is, of the groups there are."""
    if len(ask.figures) != 1 or having.things not in (None, *ask.group):
        return False
    figure, bound = ask.figures[0], having.value
    assert isinstance(having.figure, That)
    if having.figure.word == "total" and figure.do != "sum":
        return False
    if figure.column is None and bound.last.unit and not (figure.share or figure.formula):
        # So many orders are no kilograms.
        return False
    return having.measure is None or (figure.column is not None and figure.column.name == having.measure.name)
