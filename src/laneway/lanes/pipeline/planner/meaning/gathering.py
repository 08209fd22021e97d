"""The parts of a request, in their order, gathered into clauses; a sequence nobody would say is Unfit."""

from __future__ import annotations

from dataclasses import replace

from laneway.lanes.pipeline.planner.covers import Piece
from laneway.lanes.pipeline.planner.meaning.around import one_or_all
from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.meaning.naming import Naming
from laneway.lanes.pipeline.planner.meaning.showing import Showing
from laneway.lanes.pipeline.planner.meaning.telling import Telling
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.parts.dates import moments_of
from laneway.lanes.pipeline.planner.parts.pieces import (
    Best,
    Distinct,
    Dropped,
    Figure,
    Filler,
    Group,
    Having,
    Listing,
    Made,
    Opener,
    Order,
    Period,
    Pivot,
    Place,
    Renames,
    Rounded,
    Sample,
    Skip,
    Summary,
    Test,
    Tie,
    Wanted,
)
from laneway.lanes.pipeline.planner.parts.remarks import IN_UNIT
from laneway.lanes.pipeline.planner.parts.verbs import about
from laneway.lanes.pipeline.planner.refusal import Doubt, Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import participle, plural

_COUNTED = (Rows, Things, Best, Test, Listing, Sample, Distinct)
"""What a number may stand before."""

_COLUMNS = frozenset(("columns", "column", "fields", "field", "figures", "values"))
"""What a number of rows never stands before, unless the rows are called so."""


class Gathering(Telling, Naming, Showing):
    """Takes every part in its turn."""

    def clauses(self) -> list[Ask]:
        """All clauses; Unfit if the parts do not go together."""
        for at, piece in enumerate(self.pieces):
            self.at = at
            self._take(piece)
        if self.tie not in ("", ","):
            raise Unfit
        return self.asks

    def _take(self, piece: Piece) -> None:
        part = piece.part
        match part:
            case Doubt():
                raise Refused(part.refusal.reason, part.refusal.hint)
            case Filler():
                self._remark(part.said)
                return
            case Opener():
                self.ask.asked = True
                return
            case Tie():
                self._tied(part.word)
                return
            case Test():
                self._test(part, piece)
            case Having() if self.tie == "or" or self.owners:
                raise Unfit
            case Having():
                self._refuse_mere_bound(part, piece)
                self.ask.having.append(part)
            case Rows() if self.tie == "or" and self._again(part):
                return
            case _ if self.tie == "or":
                raise Unfit
            case Rows() | Things():
                self._noun(part)
            case Listing():
                self._listing(part, piece)
            case _:
                self._other(part)
        self.tie = ""

    def _refuse_mere_bound(self, part: Having, piece: Piece) -> None:
        """Returns only if the number is about the figure: `number of players over 30 per club` counts such players."""
        ends = [edge.end for edge in self.chart.edges("figure", piece.start)]
        mere = any(edge.end == piece.end for end in ends for edge in self.chart.edges("bound", end))
        if not mere or self.ask.things is not None or not isinstance(part.figure, Figure):
            return
        if part.figure.do == "count":
            raise Unfit
        raise Refused("It is not plain whether the number is about the rows or the groups.", "Say: … whose total is …")

    def _remark(self, said: str) -> None:
        """Words that only matter for what else is asked."""
        before = self._previous()
        column = isinstance(before, Listing) and isinstance(before.items[-1], Column) and not before.marked
        if said in ("is", "are") and column:
            # `name is …` says something of the name.
            raise Unfit
        self.ask.total = self.ask.total or said == "in total"
        if said == "owners":
            if self.ask.rows is None or self.ask.figures or not isinstance(before, Rows):
                raise Unfit
            self.owners = True
        if said.startswith(IN_UNIT):
            self.ask.unit = said.removeprefix(IN_UNIT)
        self.ask.percent = self.ask.percent or said == "percent"
        self.ask.asked = self.ask.asked or (not self.at and said in ("which", "what", "who"))
        if said == "one figure" and (self._next() is not None or not self._one_figure()):
            raise Unfit
        if said == "one figure":
            # `the longest delay, just the number` is no row.
            self.ask.figures = [replace(one, said="extreme") for one in self.ask.figures]
        if said == "each row" and (isinstance(self._before(), Test) or self._behind("whose")):
            raise one_or_all()
        self.ask.each = self.ask.each or said == "each row"
        lone = column and isinstance(before, Listing) and len(before.items) == 1
        if said == "each row" and lone and self.chart.text(self.pieces[self.at].start) in ("per", "for"):
            raise Refused("It is not said what is to stand beside the column.", "Say: name and salary, for example.")
        different = all(figure.said == "different" for figure in self.ask.figures)
        if said == "ours" and ((self.ask.figures and not different) or self.ask.group):
            # What was sold of each is another number.
            raise Unfit
        if said == "row verb" and any(figure.said == "things" for figure in self.ask.figures):
            raise Refused("How many may mean different ones or all together.", "Say: how many different …, or: total …")

    def _tied(self, word: str) -> None:
        if word == "then" and (self.ask.limited or self.ask.dropped or self.ask.renamed):
            self.asks.append(Ask())
            word = ""
        self.tie = "" if word in (".", "then") else word

    def _other(self, part: object) -> None:
        ask = self.ask
        match part:
            case Wanted():
                self._wanted(part)
            case Place():
                if ask.place is not None or not isinstance(self._next(), Best):
                    raise Unfit
                ask.place = part.number
            case Best():
                self._best(part)
            case Group():
                self._group(self._timed(part))
            case Order():
                if isinstance(self._previous(), Best) and self.chart.text(self.pieces[self.at].start) == "order":
                    # The largest order by amount is no order of rows.
                    raise Unfit
                if ask.keys:
                    raise Refused("The order is said twice.", "Say it once, with `then` between the columns.")
                ask.keys = list(part.keys)
            case Made():
                ask.made.append(part)
            case Dropped():
                if isinstance(self._following(), Test) or ask.figures:
                    # Leaving out brands without a rating drops no column.
                    raise Unfit
                ask.dropped += part.columns
            case Renames():
                ask.renamed |= dict(part.names)
            case Distinct():
                self._distinct(part)
            case Skip():
                if ask.offset:
                    raise Refused("Rows are left out twice.", "Say once how many.")
                ask.offset = part.offset
                if part.count is not None:
                    self._want(part.count)
            case Sample():
                ask.sample = True
            case Summary():
                ask.summary = part
            case Pivot():
                ask.pivot = part
            case Rounded():
                ask.places = part.places
            case _:
                raise Unfit

    def _wanted(self, part: Wanted) -> None:
        """A bare number stands before what it counts, or behind a superlative: `cheapest 2`."""
        ask = self.ask
        after, before = self._next(), self._before()
        if not part.head and not isinstance(after, _COUNTED) and not isinstance(before, Best):
            raise Unfit
        if not part.head and self._behind("from", "in", "since", "for", "during", "on", "at") and not self._for_best():
            raise Unfit
        end = self.pieces[self.at].end
        if self.chart.text(end) in _COLUMNS and not (self.chart.edges("rows", end) or self.chart.edges("things", end)):
            # Three columns are no three rows.
            raise Unfit
        counted = isinstance(after, Test) and not self.tie and ask.wanted is None
        if part.head == "limit" and (counted or isinstance(after, Listing) or self._linked()):
            # With at most 1 stop is no number of rows.
            raise Unfit
        dated = any(column.dated for column in self.chart.schema.columns)
        if not part.head and dated and 1900 <= part.number <= 2100:
            raise Refused(
                f"{part.number} may be a year or a number of rows.",
                f"Say: in {part.number}, or: the first {part.number} rows.",
            )
        self._want(part.number)
        ask.head = part.head
        ask.implied = part.number == 1 and not part.head

    def _for_best(self) -> bool:
        """Whether columns are shown `for the 3 cities with the highest …`."""
        start = self.pieces[self.at].start
        led = [self.chart.text(start - 2), self.chart.text(start - 1)] == ["for", "the"]
        return led and len(self.ask.columns) > 1 and any(isinstance(one.part, Best) for one in self.pieces[self.at :])

    def _want(self, number: int) -> None:
        if self.ask.wanted is not None:
            raise Refused("How many rows are wanted is said twice.", "Say one number.")
        self.ask.wanted = number

    def _best(self, part: Best) -> None:
        ask = self.ask
        if isinstance(part.by, Column) and not part.linked and not part.said:
            raise Unfit
        plain = isinstance(part.by, Column) and part.unnamed and not part.linked
        after = self._next()
        if plain and ask.wanted is None and not isinstance(after, Rows) and ask.place is None and not ask.rows:
            # `highest price` alone is a figure.
            raise Unfit
        told = ask.rows or ask.things or ask.who or self._names_rows(after) or self._counted_with() or self._whole()
        told = told or (isinstance(after, Group) and after.loose and after.keys == (part.by,))
        bare = plain and not told
        if bare and ask.wanted is not None and len(ask.columns) < 2:
            assert isinstance(part.by, Column)
            raise Refused(f"That many of {part.by.name} may mean rows or values.", "Say: the 3 rows with the highest …")
        ask.valued = bare and ask.place is not None
        if ask.best is not None:
            raise Refused("Two superlatives cannot both decide.", "Say one, and `sorted by` for the other.")
        if (part.said == "earn" and part.plural and ask.wanted is None) or (
            part.said == "earners" and ask.head not in ("top", "bottom")
        ):
            raise Refused("It is not said how many rows.", "Say a number: top 3 earners.")
        ask.best = part

    def _one_figure(self) -> bool:
        """Whether all that was asked for so far is a single figure."""
        ask = self.ask
        return len(ask.figures) + ask.valued == 1 and not (ask.group or ask.loose or ask.things or ask.columns)

    def _names_rows(self, after: object) -> bool:
        """Whether the superlative is one of rows: `highest fare flight`, `largest claim`."""
        if self._row_noun(self.pieces[self.at]):
            return True
        return isinstance(after, Rows | Things) and isinstance(self._following(), Rows | Things)

    def _whole(self) -> bool:
        """Whether `whole rows` or `all columns` are asked for anywhere."""
        said = [set(self.chart.texts[one.start : one.end]) for one in self.pieces if one.part == Filler("closer")]
        return any(words & {"rows", "columns", "details"} or {"whole", "row"} <= words for words in said)

    def _counted_with(self) -> bool:
        """Whether `with` or `has` stands before a number: `with the second highest price` tells rows."""
        before = [piece.part for piece in self.pieces[: self.at]]
        while before and (isinstance(before[-1], Place | Wanted) or before[-1] == Filler("the")):
            before.pop()
        last = before[-1] if before else None
        return isinstance(last, Filler) and last.said in ("with", "having", "has", "have", "had", "whose", "where")

    def _timed(self, part: Group) -> Group:
        """`awarded per year`: a verb before a time says which dates it is of; Refused if none are."""
        verb = self.chart.text(self.pieces[self.at].start - 1)
        if not participle(verb) or not any(isinstance(key, Period) and key.column is None for key in part.keys):
            return part
        dates = [column for column in moments_of(verb, self.chart.schema) if column.kind == "date"]
        if len(dates) != 1:
            raise Refused(f"It is not plain when something was {verb}.", "Name the column of dates.")
        keys = tuple(replace(key, column=dates[0]) if isinstance(key, Period) else key for key in part.keys)
        return replace(part, keys=keys)

    def _group(self, part: Group) -> None:
        ask = self.ask
        piece = self.pieces[self.at]
        if not {"their", "its", "his", "her"}.isdisjoint(self.chart.texts[piece.start + 1 : piece.end]):
            # Per office and their title is no group for each title.
            raise Unfit
        if part.loose:
            said = self.chart.text(piece.start) == "for"
            if said and (isinstance(self._following(), Rows | Things) or participle(self.chart.text(piece.end - 1))):
                # For cancelled ones is no group for each day.
                raise Unfit
            if said and (isinstance(self._next(), Test) or any(one.do == "count" for one in ask.figures)):
                # How many orders for coffee from Kenya is no number for each coffee.
                raise Unfit
            truths = any(isinstance(key, Column) and key.kind == "bool" for key in part.keys)
            if truths and plural(self.chart.text(piece.end - 1)):
                # By students is by those who are.
                raise Unfit
            done = self.chart.text(piece.start) == "by" and participle(self.chart.text(piece.start - 1))
            if ask.loose or ((said or done) and self._row_noun(piece) and plural(self.chart.text(piece.end - 1))):
                # For players, and scored by players, is for no player each.
                raise Unfit
            if done and plural(self.chart.text(piece.end - 1)):
                self._refuse_agents(part, self.chart.text(piece.start - 1))
            ask.loose = list(part.keys)
            return
        if ask.group and isinstance(self._previous(), Group):
            # Per insurer per month.
            ask.group += part.keys
            return
        if ask.group:
            raise Refused("The groups are said twice.", "Say `per` once, with `and` between the columns.")
        ask.group = list(part.keys)

    def _refuse_agents(self, part: Group, verb: str) -> None:
        """`orders placed by customers` may be all of them, or those of each."""
        doers = [key for key in part.keys if isinstance(key, Column) and about(verb, "by", key)]
        if doers:
            raise Refused(f"It is not plain whether that is worked out for each {doers[0].name}.", "Say: for each …")

    def _distinct(self, part: Distinct) -> None:
        if self.ask.distinct is not None and self.ask.distinct.columns and part.columns:
            raise Unfit
        self.ask.distinct = part if part.columns or self.ask.distinct is None else self.ask.distinct
