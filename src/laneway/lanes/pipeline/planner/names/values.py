"""Texts of the table found in the request: which columns hold them, one or several."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.lanes.pipeline.planner.grammar import Chart
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import written
from laneway.lanes.pipeline.planner.schema import Column, spoken
from laneway.lanes.pipeline.planner.spelling import plural, stem
from laneway.lanes.pipeline.planner.words.small import FILLERS

_NEVER = FILLERS | words(
    """
    and or not no in on at by to from for with per than then as if but only top first last most least under over
    above below between each any more less have has
    """
)


@dataclass(frozen=True)
class Found:
    """A value as it is spoken, the columns that hold it, and where it ends in the request."""

    said: str
    columns: tuple[Column, ...]
    end: int
    quoted: str | None = None


def values_at(chart: Chart, at: int) -> list[Found]:
    """The values of the table that begin here, the longest first."""
    token = chart.token(at)
    if token is None or (token.kind == "op" and token.text != "("):
        return []
    known = chart.schema.vocabulary
    if token.kind == "quote":
        held = known.get(spoken(token.text), ())
        return [Found(spoken(token.text), held, at + 1, token.text)] if held else []
    found: list[Found] = []
    for size in range(chart.schema.longest_value, 0, -1):
        tokens = chart.tokens[at : at + size]
        if len(tokens) < size or any(one.kind == "quote" for one in tokens) or not _whole(chart, at, at + size):
            continue
        said = spoken(written(tokens))
        if said not in known and size > 1 and plural(tokens[-1].text):
            # Price cuts are those of the type price cut.
            said = f"{said.rpartition(' ')[0]} {stem(tokens[-1].text)}"
        if said in known and not (size == 1 and _small(token.raw)):
            found.append(Found(said, known[said], at + size))
    if not found and token.kind == "word":
        found = _singular(chart, at)
    return found


def _whole(chart: Chart, start: int, end: int) -> bool:
    """Whether no word is cut: a value neither begins nor ends with a sign, nor in the middle of `9A`."""
    last, after = chart.tokens[end - 1], chart.token(end)
    if last.kind in ("mark", "op") and last.text != ")":
        return False
    return after is None or not after.glued or after.kind in ("mark", "op") or last.kind in ("mark", "op")


def _small(raw: str) -> bool:
    if raw.isupper() and len(raw) > 1:
        # IT is a department; OR and IN were asked about before.
        return False
    return raw.lower() in _NEVER or (len(raw) == 1 and not raw.isupper()) or raw == "I" or raw.isdigit()


def _singular(chart: Chart, at: int) -> list[Found]:
    """`goalkeepers` are those whose position is goalkeeper."""
    word = chart.text(at)
    if word in _NEVER or len(word) < 3:
        return []
    said = chart.schema.singulars.get(stem(word), frozenset())
    if len(said) != 1:
        return []
    [value] = said
    return [Found(value, chart.schema.vocabulary[value], at + 1)]
