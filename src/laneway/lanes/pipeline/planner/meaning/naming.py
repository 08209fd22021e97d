"""Nouns as they are gathered: what the rows are called, and the things that a column names."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.meaning.around import Around
from laneway.lanes.pipeline.planner.names.nouns import Rows, Things
from laneway.lanes.pipeline.planner.names.owners import kin, names_rows
from laneway.lanes.pipeline.planner.parts.pieces import Figure, Filler, Group, Listing, Test, Tie
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit
from laneway.lanes.pipeline.planner.schema import Column
from laneway.lanes.pipeline.planner.spelling import name_words
from laneway.lanes.pipeline.planner.words.small import GENERIC

_WHOEVER = words("anyone anybody anything everyone everybody everything")
_MERELY = frozenset(("row", "record", "entry", "line"))
"""The rows of servers are servers."""


class Naming(Around):
    """Takes nouns."""

    def _noun(self, noun: Rows | Things) -> None:
        """The clause is about these rows or things."""
        before = self._previous()
        if isinstance(before, Listing) and getattr(before.items[-1], "said", "") in ("such", "values"):
            # How many red products is one figure, and not that of the red for each product.
            raise Unfit
        if isinstance(noun, Rows):
            self._rows(noun)
        else:
            self._things(noun)

    def _rows(self, noun: Rows) -> None:
        ask = self.ask
        self._refuse_beside_figure(noun)
        if ask.rows is not None:
            told = noun.told and ask.rows.told and self._same_rows(ask.rows, noun)
            # The titles of books are no books; but the rows of the books are the books.
            owned = self._led("of", "for") and isinstance(self._before(), Rows) and ask.rows.word not in _MERELY
            if not told or (owned and not (ask.rows.word in GENERIC and noun.plural)):
                raise Unfit
        self._refuse_all_of_them()
        if noun.word in _WHOEVER and self._linked():
            # Clubs that have anyone are not all of them.
            raise Unfit
        following = self._following()
        bracketed = self.chart.text(self.pieces[self.at].end) == "{"
        if not noun.plural and isinstance(following, Listing) and not following.marked and not bracketed:
            # The boat name is no name of anything else.
            raise Unfit
        if not noun.plural and self._heads_list():
            # `tenant, street and rent` names three columns, and one of them is not there.
            raise Unfit
        if ask.rows is None and ask.things is None:
            ask.plural = noun.plural
            if all(tie != "or" for tie, _ in ask.tests):
                ask.before, ask.tests = [*ask.before, *(test for _, test in ask.tests)], []
        ask.rows = ask.rows or noun

    def _refuse_beside_figure(self, noun: Rows) -> None:
        """Returns unless the rows may be a second figure: `total passengers and trips per line` may count the trips."""
        before = self.pieces[self.at - 2].part if self.at > 1 else None
        figured = isinstance(before, Listing) and isinstance(before.items[-1], Figure)
        if self.tie in ("and", ",") and figured and isinstance(self._following(), Group):
            raise Refused(f"It is not plain whether the {noun.word}s are counted.", f"Say: number of {noun.word}s.")

    def _things(self, noun: Things) -> None:
        ask = self.ask
        if ask.figures and any(isinstance(key, Column) and key.name == noun.column.name for key in ask.group):
            # The countries of figures per country.
            return
        if not noun.plural and ask.columns and self._led("of"):
            # The full name of the employee is the full name.
            return
        if ask.things is not None and ask.things.name != noun.column.name:
            raise Unfit
        if ask.rows is not None and ask.things is None:
            goods = self._behind("of", "for") and isinstance(self._next(), Test)
            if not (noun.plural or goods) or not self._behind("of", "by", "for", "from") or ask.figures:
                raise Unfit
            # `exams of students with …`, `orders for coffee from …`: each row is of one, which what follows tells.
            self.owners = True
            return
        if (ask.figures and not self.tie and self._behind("for", "of", "in", "from")) or self._worked_of():
            raise Refused(f"It is not plain whether that is worked out for each {noun.column.name}.", "Say: for each …")
        ask.things, ask.plural, ask.called = noun.column, noun.plural, noun.called

    def _again(self, noun: Rows) -> bool:
        """Whether the rows are named again behind `or`: `art courses or courses taught by Lindt`."""
        ask = self.ask
        if ask.rows is None or ask.rows.word != noun.word or ask.tests:
            return False
        ask.before, ask.tests = [], [("and" if place else "", test) for place, test in enumerate(ask.before)]
        return bool(ask.tests)

    def _worked_of(self) -> bool:
        """Whether a figure is worked out of things that conditions tell: `average tip for Italian restaurants`."""
        before = [piece.part for piece in self.pieces[: self.at]]
        while before and isinstance(before[-1], Test | Filler):
            before.pop()
        listed = before[-1] if before else None
        found = isinstance(listed, Listing) and any(isinstance(one, Figure) for one in listed.items)
        return found and not self.tie and not self.ask.having

    def _heads_list(self) -> bool:
        """Whether a comma and columns follow."""
        after = [piece.part for piece in self.pieces[self.at + 1 : self.at + 3]]
        listed = len(after) == 2 and isinstance(after[0], Tie) and isinstance(after[1], Listing)
        return listed and after[0].word in (",", "and") and not after[1].marked

    def _same_rows(self, one: Rows, other: Rows) -> bool:
        """Whether two nouns may mean the same rows: countries are no cities."""
        if kin(one.word, other.word) or {one.word, other.word} & GENERIC:
            return True
        schema = self.chart.schema
        named = {word for name in (schema.name, *schema.others) for word in name_words(name)[0][-1:]}
        return any(names_rows(two.word, schema) or two.word in named for two in (one, other))
