"""Words that say nothing elsewhere and stand where something is said of the rows: `books that are still out`."""

from __future__ import annotations

from itertools import pairwise

from laneway.lanes.pipeline.planner.covers import Piece
from laneway.lanes.pipeline.planner.grammar import Chart
from laneway.lanes.pipeline.planner.parts.pieces import Filler, Group, Opener, Test, Tie
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.refusal import Refused, Unfit

_PARTICLES = words("in on out at with for from as when where whose having among amongst will would")
"""Something must follow these; where nothing does, they tell how things are: in, out or on."""
_LASTING = words("still will would")
"""Something is said to go on, or to be to come."""
_STRANDED = words("in on at with for from")
"""These may be left behind where a condition was said: `members we have no email for`."""
_COMING = words("come comes came coming")
_DOES = words("do does did")


def refuse_hollow(chart: Chart, pieces: list[Piece]) -> None:
    """Returns only if no clause ends in words that tell how things are and that were passed over; Refused else."""
    _refuse_other_words(chart, pieces)
    before: object = None
    run: list[Piece] = []
    for piece in pieces:
        if isinstance(piece.part, Filler):
            run.append(piece)
            continue
        if isinstance(piece.part, Tie):
            _refuse(chart, run, before)
        before, run = piece.part, []
    _refuse(chart, run, before)


def _refuse(chart: Chart, run: list[Piece], before: object) -> None:
    said = [chart.text(piece.start) for piece in run if piece.end == piece.start + 1]
    if not said or len(said) < len(run) or (isinstance(before, Test) and said[0] in _STRANDED):
        # Whole phrases, as `we have` or `in the table`, are known to say nothing.
        return
    arriving = len(said) > 1 and said[-1] == "in" and said[-2] in _COMING
    if (said[-1] in _PARTICLES and not arriving) or not _LASTING.isdisjoint(said):
        raise Refused(f"I do not understand `{' '.join(said)}`.", "Say it by a column, like: status is open.")


def _refuse_other_words(chart: Chart, pieces: list[Piece]) -> None:
    """Returns only if no value was taken for a verb, nor a verb for how things are; Unfit or Refused else."""
    loud = all(token.raw.isupper() for token in chart.tokens if token.kind == "word")
    for piece, after in pairwise([*pieces, Piece(Tie("."), chart.size, chart.size)]):
        word = chart.text(piece.start)
        called = not loud and chart.tokens[piece.start].raw.isupper() and word in chart.schema.vocabulary
        if isinstance(piece.part, Opener) and called:
            # GET requests are no order to get them.
            raise Unfit
        doing = isinstance(piece.part, Group) and word in _DOES
        if doing and isinstance(after.part, Test) and after.end == after.start + 1:
            raise Refused(
                f"`{chart.text(after.start)}` may be what was done, or how things are.",
                "Say: number of rows per …, or name the column that tells it.",
            )
