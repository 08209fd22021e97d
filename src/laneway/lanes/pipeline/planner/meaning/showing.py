"""What is shown, as it is gathered: columns, figures, and what was worked out before."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.covers import Piece
from laneway.lanes.pipeline.planner.meaning.around import Around
from laneway.lanes.pipeline.planner.names.nouns import Rows
from laneway.lanes.pipeline.planner.parts.degrees import directed
from laneway.lanes.pipeline.planner.parts.pieces import (
    Degree,
    Figure,
    Filler,
    Group,
    Listing,
    Made,
    Opener,
    Order,
    Period,
    Renamed,
    Test,
    That,
)
from laneway.lanes.pipeline.planner.parts.suited import siblings
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import participle, plural, stem
from laneway.lanes.pipeline.planner.words.naming import HAPPENINGS

_BESIDE = ("and", "with", "plus", "their", "its", "including", "along", "together")
"""What is listed behind these stands beside what was named before."""

_WORKED = {"average": "mean", "averages": "mean", "total": "sum", "totals": "sum", "sum": "sum"}


_BEHIND_NOUNS = frozenset(("in", "on", "we", "they", "i", "you", "anyone", "anybody"))
"""Before these stands the noun of a figure: `the lowest fee anyone pays`."""
_ENDS = frozenset(("maximum", "minimum"))


class Showing(Around):
    """Takes lists of what is shown."""

    def _listing(self, part: Listing, piece: Piece) -> None:
        """The clause shows these columns, figures and sums over a row."""
        if self._named_again(part, piece):
            return
        self._refuse_single(part, piece)
        self._refuse_ends(part, piece)
        self._refer(part)
        self._refuse_both(part, piece)
        self._refuse_beside(part, piece)
        ask = self.ask
        columns = [item for item in part.items if isinstance(item, Column | Renamed | Made)]
        if columns and (ask.columns or ask.shown) and not part.marked:
            raise Unfit
        if columns and ask.figures and not part.marked and not self.tie and not (ask.group or ask.loose):
            # `how many lattes were sold` counts nothing for each day they were.
            raise Unfit
        for item in part.items:
            self._item(item)
        ask.marked = ask.marked or part.marked

    def _named_again(self, part: Listing, piece: Piece) -> bool:
        """Whether brackets only name the column of the figure before them: `total sales (amount_eur)`."""
        before = self._previous()
        figure = before.items[-1] if isinstance(before, Listing) else None
        bracketed = self.chart.text(piece.start) == "{" and self.chart.text(piece.end - 1) == "}"
        if bracketed and isinstance(before, Rows) and not before.plural:
            self._refuse_undecided(part)
            return True
        return bracketed and isinstance(figure, Figure) and part.items == (figure.column,)

    def _refuse_undecided(self, part: Listing) -> None:
        """Returns only if brackets name what the superlative is about: `lowest paid employee (base salary)`."""
        best = self.ask.best
        if best is None:
            raise Unfit
        found = directed(best.by, self.chart.schema)[0] if isinstance(best.by, Degree) else best.by
        if part.items != (found,):
            raise Unfit

    def _refuse_single(self, part: Listing, piece: Piece) -> None:
        """Returns only if what is listed is to be shown; Unfit if it rather means rows, or says something of them."""
        one = part.items[0] if len(part.items) == 1 else None
        if isinstance(one, Column) and not self._alone(part, one, piece):
            raise Unfit
        if isinstance(one, Figure) and one.said in ("extreme", "degree") and self._row_noun(piece):
            # The largest claim is a row.
            raise Unfit
        extreme = isinstance(one, Figure) and one.said in ("extreme", "degree")
        after = self._following()
        dated = isinstance(one, Figure) and one.column is not None and one.column.kind == "date"
        if extreme and dated and isinstance(after, Rows) and not after.plural:
            # The earliest borrowed loan is a loan, and no day.
            raise Unfit
        if extreme and self.chart.text(piece.start) == "with" and not self._grouped():
            # The report with the most pages is a row, too.
            raise Unfit
        if isinstance(one, Figure) and extreme:
            self._refuse_several(one, piece)
        if isinstance(one, Renamed) and self._starts_rows(piece):
            # Students called Silva have that name.
            raise Unfit
        if isinstance(part.items[-1], Column) and not part.marked and isinstance(self._following(), Rows):
            # Active and cancelled subscriptions are rows.
            raise Unfit
        named = isinstance(one, Made) and one.given and not self._grouped()
        if not part.marked and (named or self._linked()):
            raise Unfit

    def _refuse_ends(self, part: Listing, piece: Piece) -> None:
        """Returns unless `maximum temperature`, beside a minimum, may be that column or the highest of it."""
        columns = [one for one in part.items if isinstance(one, Column)]
        ended = all(_ENDS & set(one.words) and siblings(self.chart.schema, one) for one in columns)
        if not columns or part.marked or not ended or len(columns) < len(part.items):
            return
        if self.chart.text(piece.start) not in ("max", "maximum", "min", "minimum"):
            return
        if self._grouped() or self.chart.text(piece.start - 1) in ("is", "was", "'s"):
            raise Unfit
        raise Refused(
            f"That may be {columns[0].name} of each row or one figure.", f"Say: only the column {columns[0].name}."
        )

    def _refuse_several(self, figure: Figure, piece: Piece) -> None:
        """Returns only if one value is asked for; Refused for `the highest prices`, which say no number."""
        said, column = self.chart.texts[piece.start : piece.end], figure.column
        word = said[next((n for n, one in enumerate(said) if one in _BEHIND_NOUNS), 0) - 1]
        if column is not None and plural(word) and not any(map(plural, column.parts)) and not self._grouped():
            raise Refused("It is not said how many are wanted.", f"Say: the highest {column.name}, or: top 3 by …")

    def _refuse_beside(self, part: Listing, piece: Piece) -> None:
        """Returns only if it is plain of which rows a figure is that stands beside something else."""
        figures = [one for one in part.items if isinstance(one, Figure)]
        text, ask = self.chart.text, self.ask
        tied = text(piece.start) in _BESIDE
        meant = text(piece.end) == "of" and text(piece.end + 1) in ("those", "them", "these")
        if (tied or self.tie) and not meant and ask.figures and figures and self._tested_since():
            raise Refused(
                "It is not plain whether the condition holds for both figures.", "Ask for them one after the other."
            )
        before = self._before() if text(piece.start) == "and" else None
        if self.tie == "and":
            before = self.pieces[self.at - 2].part
        if isinstance(before, Rows) and figures and self._grouped():
            raise Refused(f"It is not plain whether the {before.word}s are counted.", f"Say: number of {before.word}s.")
        told = ask.rows is not None and not ask.figures and ask.things is None and not self._grouped()
        if told and figures and (tied or self.tie == "and" or self._behind("with", "their", "its")):
            if any(one.said in ("extreme", "degree") for one in figures):
                raise Unfit
            raise Refused("It is not said for which groups that is worked out.", "Say: average price per airline.")

    def _refuse_both(self, part: Listing, piece: Piece) -> None:
        """`number of open and closed tickets` may be one number or two; Refused, unless groups are asked for."""
        only = [item.only for item in part.items if isinstance(item, Figure) and item.only is not None]
        said = self.chart.texts[piece.start : piece.end]
        if len(part.items) == 1 and only and only[0].where.get("is") == "in" and "and" in said and not self._grouped():
            raise Refused("It is not plain whether they are counted together.", "Say `or`, or: for each …")

    def _tested_since(self) -> bool:
        """Whether a condition stands between this figure and the one before."""
        for piece in reversed(self.pieces[: self.at]):
            if isinstance(piece.part, Listing | Group):
                return False
            if isinstance(piece.part, Test):
                return True
        return False

    def _refer(self, part: Listing) -> None:
        """`that average`, `how many it has`: only where something was worked out before."""
        ask = self.ask
        worked = [one.figure for one in ask.having] + ask.figures + ([ask.best.by] if ask.best is not None else [])
        for item in part.items:
            if not isinstance(item, That) or item.word == "name":
                continue
            counted = item.word.startswith(("how many", "how often", "in how many")) or "count" in item.word
            if counted and not any(isinstance(one, Figure) and one.do.startswith("count") for one in worked):
                raise Unfit
            if not (worked or ask.made):
                raise Unfit
            kind = next((_WORKED[word] for word in item.word.split() if word in _WORKED), "")
            done = {one.do for one in worked if isinstance(one, Figure)}
            if kind and not ask.made and not done & {kind, "formula"}:
                # The average is none where things were counted.
                raise Unfit

    def _item(self, item: object) -> None:
        ask = self.ask
        match item:
            case Column() if any(getattr(one.figure, "column", None) == item for one in ask.having):
                # `counties with more than 60 ha, and the hectares`
                ask.shown.append("")
            case Column():
                ask.columns.append((item, item.name))
                ask.shown.append(item.name)
            case Renamed():
                ask.columns.append((item.column, item.name))
                ask.shown.append(item.name)
            case Made() if item.expression in [one.expression for one in ask.made]:
                # Named twice: first what it is, then where it is shown.
                name = next(one.name for one in ask.made if one.expression == item.expression)
                ask.shown = [*(one for one in ask.shown if one != name), name]
            case Made():
                ask.made.append(item)
                ask.shown.append(item.name)
            case Figure():
                ask.figures.append(item)
            case That():
                ask.shown.append("")
                ask.by_name = ask.by_name or item.word == "name"

    def _alone(self, part: Listing, column: Column, piece: Piece) -> bool:
        """Whether a single column is to be shown, rather than being compared, counted or listed once each."""
        rows = any(isinstance(piece.part, Rows) for piece in self.pieces)
        if part.marked:
            meant = self._row_noun(piece) and (rows or self._next() is not None or plural(self.chart.text(piece.start)))
            return column.kind != "bool" and not meant
        if column.kind == "date" and piece.end == piece.start + 1 and participle(self.chart.text(piece.start)):
            # Who left is no date.
            return False
        worked = [one.figure for one in self.ask.having] + self.ask.figures
        if any(isinstance(one, Figure) and one.column == column for one in worked):
            return True
        if self.ask.wanted is not None and column.measure and self.ask.best is None:
            raise Refused(
                f"That many of {column.name} may mean rows or values.",
                "Say: the 3 rows with the highest …, for example.",
            )
        told = self._owned_column(column, piece)
        return self._unowned_column(column, piece) if told is None else told

    def _owned_column(self, column: Column, piece: Piece) -> bool | None:
        """Whether the column is one of something that follows: `the price of …`; None if nothing tells."""
        after, behind = self._following(), self._next()
        rows = self._row_noun(piece)
        if isinstance(after, Test) and after.texts and self.chart.text(piece.end) == "of" and not rows:
            # The manager of Tomasz Nowak; but a total is worked out, and patients of somebody are no column.
            shown = column.measure or not plural(self.chart.text(piece.end - 1))
            return True if shown and column.words != ("total",) else None
        if self.ask.rows is not None and self._led("of", "for", "by", "from", "in", "on", "at"):
            # Orders for coffee from Kenya are orders.
            return False
        if isinstance(after, Filler) and after.said in ("of", "for", "from", "in") and behind is not None:
            if rows and column.words != (stem(self.chart.text(piece.end - 1)),):
                return False
            return not isinstance(behind, Listing) and (after.said != "in" or column.measure)
        return False if rows else None

    def _unowned_column(self, column: Column, piece: Piece) -> bool:
        """Whether the column is shown by itself, or with groups or an order behind it."""
        ask, behind, text = self.ask, self._next(), self.chart.text
        if "of" in self.chart.texts[piece.start + 1 : piece.end - 1] and ask.rows is None:
            # The names of the pets are a column.
            return True
        if isinstance(behind, Group) and column.measure and self._flows(column, behind):
            return True
        if isinstance(behind, Order) and column.unique and column.kind == "text":
            return True
        if column.kind == "bool" or text(piece.start - 1) == "'s":
            return column.kind != "bool"
        if ask.rows is not None or ask.best is not None or ask.wanted is not None or ask.tests or ask.before:
            return False
        several = plural(text(piece.end - 1)) and not column.measure
        return behind is None and not several and isinstance(self._previous(), Opener | Filler | None)

    def _flows(self, column: Column, group: Group) -> bool:
        """Whether the column is added up over what is grouped by."""
        total = any(isinstance(piece.part, Filler) and piece.part.said == "in total" for piece in self.pieces)
        timed = any(isinstance(key, Period) for key in group.keys)
        return total or timed or not HAPPENINGS.isdisjoint(column.words)
