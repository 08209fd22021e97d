"""Where a part of the request stands: what was gathered before it, and what is around it."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.covers import Piece
from laneway.lanes.pipeline.planner.grammar import LIGHT, Chart
from laneway.lanes.pipeline.planner.meaning.ask import Ask
from laneway.lanes.pipeline.planner.parts.pieces import Filler, Group, Opener
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column


def one_or_all() -> Refused:
    """Why nothing is said of all rows of a thing."""
    return Refused("It is not plain whether that holds for one of the rows or for all.", "Say it of the rows.")


class Around:
    """The clauses as far as they have been gathered, and the place in the request that is being read."""

    def __init__(self, chart: Chart, pieces: list[Piece], joins: list[dict[str, object]]) -> None:
        self.chart, self.pieces = chart, pieces
        self.asks = [Ask(joins=list(joins), who="who" in chart.texts[:2])]
        self.tie = ""
        self.at = 0
        self.owners = False
        """A noun for what the rows are of was passed over."""

    @property
    def ask(self) -> Ask:
        """The clause that is being gathered."""
        return self.asks[-1]

    def _previous(self) -> object:
        """The part right before."""
        return self.pieces[self.at - 1].part if self.at else None

    def _following(self) -> object:
        """The part right behind."""
        return self.pieces[self.at + 1].part if self.at + 1 < len(self.pieces) else None

    def _next(self) -> object:
        """The next part that says something."""
        after = (piece.part for piece in self.pieces[self.at + 1 :])
        return next((part for part in after if not isinstance(part, Filler | Opener)), None)

    def _before(self) -> object:
        before = (piece.part for piece in reversed(self.pieces[: self.at]))
        return next((part for part in before if not isinstance(part, Filler | Opener)), None)

    def _behind(self, *said: str) -> bool:
        """Whether one of these words stands right before, with or without an article in between."""
        for piece in reversed(self.pieces[: self.at]):
            if not isinstance(piece.part, Filler):
                return False
            if piece.part.said in said:
                return True
            if piece.part.said not in LIGHT:
                return False
        return False

    def _led(self, *said: str) -> bool:
        """Whether one of these words is the last one before, whatever part it belongs to."""
        at = self.pieces[self.at].start - 1
        while self.chart.text(at) in LIGHT:
            at -= 1
        return self.chart.text(at) in said

    def _linked(self) -> bool:
        """Whether `with` or `has` stands right before: then something is said of the rows."""
        return self._behind("with", "having", "has", "have", "had", "whose", "where")

    def _refuse_all_of_them(self) -> None:
        """Returns unless something is said of all rows of a thing: `students with all exams passed`."""
        if self.ask.things is not None and self._behind("all"):
            raise one_or_all()

    def _grouped(self) -> bool:
        """Whether groups are asked for anywhere."""
        groups = [piece.part for piece in self.pieces if isinstance(piece.part, Group)]
        return any(
            not group.loose or not any(isinstance(key, Column) and key.measure for key in group.keys)
            for group in groups
        )

    def _row_noun(self, piece: Piece) -> bool:
        """Whether the words rather mean the rows themselves."""
        start = piece.start
        while start < piece.end - 1 and not self.chart.edges("rows", start):
            start += 1
        end = piece.end - (self.chart.text(piece.end - 1) == "only")
        return any(edge.end == end and edge.value.told for edge in self.chart.edges("rows", start))

    def _starts_rows(self, piece: Piece) -> bool:
        return any(edge.value.told for edge in self.chart.edges("rows", piece.start))
