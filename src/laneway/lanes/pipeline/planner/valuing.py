"""Texts of the table found in the request: which column holds them, one or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from laneway.lanes.pipeline.planner.columns import column_at, listed
from laneway.lanes.pipeline.planner.comparing import Where, compared
from laneway.lanes.pipeline.planner.lexicon import FILLERS
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema, spoken
from laneway.lanes.pipeline.planner.spelling import near, stem

_NEVER = FILLERS | words(
    """
    and or not no in on at by to from for with per than then as if but only top first last most least under over
    above below between each any more less have has
    """
)
_ORIGIN = frozenset(["origin", "from", "source"])
_TARGET = frozenset(["destination", "to", "target", "recipient", "receiver"])
_PLACE = words(
    """
    city airport station town country port code place location
    """
)


@dataclass(frozen=True)
class Found:
    """A value as it is spoken, the columns that hold it, and how many tokens it takes in the request."""

    said: str
    columns: tuple[Column, ...]
    size: int
    quoted: str | None = None


def value_at(reader: Reader, schema: Schema, within: Column | None = None) -> Found | None:
    """The longest value of the table that comes next; None if none does."""
    token = reader.token()
    if token is None or token.kind == "op":
        return None
    if token.kind == "quote":
        held = _holding(spoken(token.text), schema, within)
        return Found(spoken(token.text), held, 1, token.text) if held else None
    for size in range(schema.longest_value, 0, -1):
        tokens = reader.tokens[reader.at : reader.at + size]
        if len(tokens) < size or any(one.kind in ("quote", "op") for one in tokens) or tokens[-1].kind == "mark":
            continue
        said = spoken(" ".join(one.raw for one in tokens))
        if size == 1 and _small(token.raw, within):
            return None
        held = _holding(said, schema, within)
        if held:
            return Found(said, held, size)
    return _singular(token.text, schema, within) if token.kind == "word" else None


def _small(raw: str, within: Column | None) -> bool:
    if within is not None:
        return raw.lower() in ("and", "or", "not")
    return raw.lower() in _NEVER or (len(raw) == 1 and not raw.isupper()) or raw == "I" or raw.isdigit()


def _holding(said: str, schema: Schema, within: Column | None) -> tuple[Column, ...]:
    found = schema.vocabulary.get(said, ())
    return tuple(column for column in found if within is None or column.name == within.name)


def _singular(word: str, schema: Schema, within: Column | None) -> Found | None:
    if word in _NEVER or len(word) < 3:
        return None
    said = schema.singulars.get(stem(word), frozenset())
    if len(said) != 1:
        return None
    [value] = said
    held = _holding(value, schema, within)
    return Found(value, held, 1) if held else None


def equals(column: Column, found: list[Found], *, negated: bool) -> Where:
    """The column holds one of the values, in whatever case they are written; or none of them."""
    written = [text for one in found for text in _written(column, one)]
    if negated and (column.nulls or column.blanks):
        raise Refused(
            f"Some rows have no {column.name}, and they may or may not be meant by `not`.",
            f"Filter them first: with a {column.name}, then …",
        )
    if len(written) == 1:
        return compared(column.name, "!=" if negated else "==", written[0], ignore_case=True)
    return compared(column.name, "not_in" if negated else "in", written)


def _written(column: Column, one: Found) -> tuple[str, ...]:
    forms = column.values[one.said]
    if one.quoted is None or len(forms) == 1:
        return forms
    exact = tuple(form for form in forms if form == one.quoted)
    if exact and len(exact) < len(forms):
        raise Refused(
            f"{column.name} holds `{one.quoted}` written in several ways.", "Leave the quotes out to have all."
        )
    return forms


def chosen(found: Found, lead: str, schema: Schema) -> Column:
    """The one column that is meant by the value behind this word; Refused if several or the wrong ones hold it."""
    columns = list(found.columns)
    origins, targets = _directed(schema, _ORIGIN, "departure"), _directed(schema, _TARGET, "arrival")
    if lead in ("from", "leaving", "departing") and origins:
        columns = origins
    elif lead in ("to", "into") or lead in ("arriving", "going"):
        if not targets:
            raise Refused(
                f"No column tells where `{lead} {found.said}` is.", f"The columns are: {listed(schema.columns)}."
            )
        columns = targets
    elif lead == "from" and targets:
        columns = [column for column in columns if column not in targets]
    if len(columns) > 1:
        raise Refused(f"`{found.said}` may be a {listed(columns, ' or a ')}.", f"Say which: {columns[0].name} is …")
    if not columns:
        raise Refused(
            f"No column tells what `{lead} {found.said}` is about.", f"Name one of: {listed(schema.columns)}."
        )
    return columns[0]


def _directed(schema: Schema, words: frozenset[str], event: str) -> list[Column]:
    """The columns that say where something comes from or goes to."""
    texts = [column for column in schema.columns if column.kind in ("text", "numeric text")]
    plain = [column for column in texts if words.intersection(column.words)]
    return plain or [column for column in texts if event in column.words and _PLACE.intersection(column.words)]


def values_at(
    reader: Reader, schema: Schema, lead: str = "", within: Column | None = None
) -> tuple[Column, list[Found]] | None:
    """A list of values of one column, now read: `Paris`, `Paris or Rome`, `red, blue and green`."""
    first = value_at(reader, schema, within)
    if first is None:
        return None
    reader.at += first.size
    column = within or chosen(first, lead, schema)
    if column.name not in {one.name for one in first.columns}:
        # The value is held elsewhere only: no row of the right column has it, and the plan says so.
        if lead not in ("from", "to"):
            raise Refused(f"{column.name} never holds `{first.said}`.", "Say which column is meant.")
        column_values: dict[str, Any] = {first.said: first.columns[0].values[first.said]}
        column = _with_values(column, column_values)
    found = [first]
    while True:
        start = reader.at
        if not reader.takes(", or", ", and", "or", "and", ","):
            break
        if lead:
            reader.takes(lead)
        reader.takes("the")
        more = value_at(reader, schema, column if column.values else None)
        if more is None or column.name not in {one.name for one in more.columns} or _is_column(reader, schema, more):
            reader.at = start
            break
        reader.at += more.size
        found.append(more)
    return column, found


def _is_column(reader: Reader, schema: Schema, found: Found) -> bool:
    """Whether the word is rather a column that begins the next condition."""
    columns, size = column_at(reader, schema)
    return bool(columns) and size >= found.size and reader.word(size) in ("is", "over", "under", "above", "below", "of")


def _with_values(column: Column, more: dict[str, Any]) -> Column:
    from dataclasses import replace

    return replace(column, values={**column.values, **more})


def unknown_value(raw: str, column: Column) -> Refused:
    """Why a word is not taken for a value that the column never holds."""
    close = next((texts[0] for said, texts in column.values.items() if near(said, raw.lower())), None)
    known = ", ".join(texts[0] for texts in list(column.values.values())[:6])
    said = f"{column.name} never holds `{raw}`."
    return Refused(said, f"Did you mean `{close}`?" if close else f"It holds: {known}." if known else "Check the word.")
