"""Conditions as they are gathered: what each is tied to, and where it could be meant in two ways."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.covers import Piece
from laneway.lanes.pipeline.planner.meaning.around import Around
from laneway.lanes.pipeline.planner.meaning.conditions import column_of, mentioned
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.parts.dates import moments_of
from laneway.lanes.pipeline.planner.parts.pieces import Group, Having, Listing, Test, That
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import name_parts, plural, stem
from laneway.lanes.pipeline.planner.words.small import GENERIC


def _named(part: object) -> set[str]:
    """The columns that a part names, as things or to be shown."""
    if isinstance(part, Things):
        return {part.column.name}
    return {one.name for one in part.items if isinstance(one, Column)} if isinstance(part, Listing) else set()


def _said_of_rows(part: object) -> bool:
    """Whether the part is a noun of its own for the rows; results and ones may be groups as well."""
    return isinstance(part, Rows) and part.told and part.word not in GENERIC


class Telling(Around):
    """Takes conditions."""

    def _test(self, test: Test, piece: Piece) -> None:
        """The condition belongs to the clause, with what it is tied by."""
        ask, following = self.ask, self._following()
        if self.chart.text(piece.start) == "including" and isinstance(following, Rows | Things):
            # Including some leaves out none.
            raise Unfit
        if test.done and self.chart.text(piece.end) == "by":
            # Who discharged them is another question than whether they were.
            raise Unfit
        self._whose(piece)
        self._refuse_all_of_them()
        if self._counted_before() or (self.tie == "or" and not ask.tests):
            raise Unfit
        self._refuse_ties(test, piece)
        if test.bare:
            self._refuse_bare(test)
        made = [one.name for one in ask.made if one.given and not one.hidden]
        if made and any(edge.end == piece.end for edge in self.chart.edges("bound", piece.start)):
            raise Refused(f"The number may be about {made[0]} or {test.where.get('column')}.", "Name the column.")
        self._refuse_each_or_all(test, piece)
        ask.several = ask.several or (test.texts and self._plural_value(piece.end - 1))
        ask.excepted = test.excepts
        ask.tests.append((self.tie if self.tie == "or" else "and" if self.tie else "", test))

    def _plural_value(self, at: int) -> bool:
        """Whether the word is a value in the plural, and thus a noun for the rows that hold it."""
        word, schema = self.chart.text(at), self.chart.schema
        return plural(word) and word not in schema.vocabulary and stem(word) in schema.singulars

    def _counted_before(self) -> bool:
        """Whether `how many of them` stands right before: then the condition belongs to that figure."""
        before = self._previous()
        last = before.items[-1] if isinstance(before, Listing) else None
        return isinstance(last, That) and last.word.startswith("how many")

    def _refuse_ties(self, test: Test, piece: Piece) -> None:
        """Returns only if it is plain what the condition is tied to."""
        ask = self.ask
        denied = test.negated or self.chart.text(piece.start) in ("no", "not", "without", "never")
        if self.tie == "or" and ask.tests[-1][1].negated and not denied:
            raise Refused(
                "It is not plain whether `not` holds for what comes after `or` too.", "Say `not` with each part."
            )
        if self.tie == "and" and test.texts and isinstance(self.pieces[self.at - 2].part, Rows) and self._mere(piece):
            raise Refused("It is not plain whether both are wanted, or what is both.", "Say `or` if either will do.")
        if ask.excepted and not self.tie:
            raise Refused(
                "It is not plain how much of it `except` takes away.", "Ask in two steps, or put the exception last."
            )
        if ask.tests and ask.tests[-1][1].present and self.tie and isinstance(test.where.get("value"), int | float):
            raise Refused("It is not said what each of the columns is to be.", "Say it of each column: rating over …")
        before = self.pieces[self.at - 1] if self.at else None
        either = before is not None and isinstance(before.part, Test) and self.chart.text(before.start) == "either"
        if before is not None and either and not self.tie and column_of(before.part.where) is None:
            raise Refused(
                "It is not plain whether that holds for both sides of `or`.",
                "Put a comma before it, or ask in two steps.",
            )
        self._refuse_behind_groups(test)
        before_it = self._before()
        behind = isinstance(before_it, Having) and isinstance(before_it.figure, That)
        if ask.having and (self.tie == "and" or behind):
            raise Refused("It is not plain whether that is said of the rows or of the groups.", "Ask in two steps.")

    def _refuse_behind_groups(self, test: Test) -> None:
        """Returns unless a number behind the groups may be about them: about what is worked out, or said of their noun.

        `average fee per pier above 20` may mean fees or averages; of `boats above 20` the rows are said to be so.
        """
        ask = self.ask
        value = test.where.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float | list) or test.texts:
            return
        behind = self._behind_group()
        if behind is None or any(map(_said_of_rows, behind)):
            return
        column = self.chart.schema.column(str(test.where.get("column")))
        own = any(figure.column is not None and figure.column == column for figure in ask.figures)
        keys = {key.name for key in (*ask.group, *ask.loose) if isinstance(key, Column)}
        again = column is not None and column.measure and any(keys & _named(part) for part in behind)
        if (own or again) and ask.figures:
            raise Refused("It is not plain whether the number is about the rows or the groups.", "Say: rows where …")

    def _behind_group(self) -> list[object] | None:
        """The parts since the groups were said; None if they were not."""
        before = [piece.part for piece in self.pieces[: self.at]]
        last = max((place for place, part in enumerate(before) if isinstance(part, Group)), default=None)
        return None if last is None else before[last + 1 :]

    def _refuse_bare(self, test: Test) -> None:
        """Returns only if a number or a date that names no column is about a row."""
        ask = self.ask
        grouped = (ask.group and ask.best is None) or (ask.figures and ask.loose)
        # Of players under 28 the rows are said to be so.
        of_rows = _said_of_rows(self._before()) and not self.tie
        if grouped and not of_rows and isinstance(test.where.get("value"), int | float | list):
            raise Refused("It is not plain whether the number is about the rows or the groups.", "Name the column.")
        if ask.tests and ask.tests[-1][1].deed:
            self._of_deed(test, ask.tests[-1][1].deed)
        if isinstance(self._following(), Rows | Things) and ask.rows is not None:
            # `more than 5 gifts` is no number on its own.
            raise Unfit

    def _refuse_each_or_all(self, test: Test, piece: Piece) -> None:
        """`average fare to Rome and Lisbon` may be one figure or two; Refused, unless groups are asked for."""
        said = self.chart.texts[piece.start : piece.end]
        several = test.where.get("is") == "in" and "and" in said and "or" not in said
        if several and self.ask.figures and not self._grouped() and not (self.ask.things or self.ask.total):
            raise Refused(
                "It is not plain whether that is worked out for each or for both.", "Say `or`, or: for each …"
            )

    def _mere(self, piece: Piece) -> bool:
        """Whether the words are a value and nothing more."""
        return any(edge.end == piece.end for edge in self.chart.edges("values", piece.start))

    def _whose(self, piece: Piece) -> None:
        """`names starting with B` may be names or rows; Refused if nothing else is said of rows."""
        word = self.chart.text(piece.start)
        if self.at or not plural(word) or not isinstance(piece.part, Test) or piece.part.texts:
            return
        if self.chart.edges("rows", piece.start):
            return
        columns = [edge.value for edge in self.chart.edges("column", piece.start) if isinstance(edge.value, Column)]
        columns = [column for column in columns if column.kind in ("text", "numeric text")]
        if columns and not any(word in name_parts(column.name) for column in columns):
            raise Refused(f"`{word}` may mean the values or the rows.", f"Say: rows where {columns[0].name} …")

    def _of_deed(self, test: Test, verb: str) -> None:
        """A date behind `shipped to Hamburg` is when it was shipped; Refused if another column would be taken."""
        dates = {column.name for column in moments_of(verb.split()[0], self.chart.schema)}
        if dates.isdisjoint(mentioned(test.where)) and any(
            column.kind == "date" for column in self.chart.schema.columns
        ):
            raise Refused(f"No column tells when something was {verb}.", "Name the column of dates.")
