"""A condition that was read may still belong to two places: then it is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from laneway.lanes.pipeline.planner.ask import Ask
from laneway.lanes.pipeline.planner.columns import column_at
from laneway.lanes.pipeline.planner.comparing import OPERATORS, Where
from laneway.lanes.pipeline.planner.conditions import excepted
from laneway.lanes.pipeline.planner.lexicon import WORD_NUMBERS
from laneway.lanes.pipeline.planner.reading import Reader, Token
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_parts, plural

_SMALL = frozenset({
    *("a", "am", "an", "and", "any", "all", "as", "at", "be", "but", "by", "do", "else", "for", "from", "go", "have"),
    *("he", "hi", "i", "if", "in", "is", "it", "la", "last", "least", "less", "me", "more", "most", "my", "no", "not"),
    *("of", "off", "ok", "on", "one", "or", "out", "over", "per", "so", "than", "the", "then", "to", "top", "under"),
    *("up", "us", "we", "who", "with"),
})  # fmt: skip
"""Words that say how the others belong together."""


def small_words(tokens: Sequence[Token], schemas: Iterable[Schema]) -> None:
    """No small word is a value at the same time: OR may be Oregon, and A a class; Refused otherwise."""
    columns = [column for schema in schemas for column in schema.columns]
    for token in tokens[1:]:
        if token.kind != "word" or not token.raw.isupper() or token.text not in _SMALL:
            continue
        if any(token.raw in column.values.get(token.text, ()) for column in columns):
            raise Refused(
                f"`{token.raw}` may be a word or a value.", f'Put it in quotes if it is a value: "{token.raw}".'
            )


def one_place(reader: Reader, schema: Schema, ask: Ask, start: int) -> None:
    """The condition just read can belong to one place only; Refused otherwise."""
    behind = ask.excepted and reader.tokens[start - 1].text != ","
    if behind:
        raise Refused(
            "It is not plain how much of it `except` takes away.", "Ask in two steps, or put the exception last."
        )
    ask.excepted = excepted(reader)
    words = " ".join(token.text for token in reader.tokens[start : start + 2])
    if ask.grouped and ask.group and any(words.startswith(one) for one in (*OPERATORS, "between")):
        raise Refused("It is not plain whether the number is about the rows or the groups.", "Name the column.")
    first = reader.tokens[start]
    if not (ask.noun or ask.tests or ask.before or ask.grouped) and first.kind == "word" and plural(first.text):
        found, _ = column_at(Reader(reader.tokens[start:]), schema)
        if found and not any(first.text in name_parts(column.name) for column in found):
            raise Refused(f"`{first.raw}` may mean the values or the rows.", f"Say: rows where {found[0].name} …")


def one_subject(reader: Reader, schema: Schema, ask: Ask, found: Where, start: int) -> None:
    """A number without a column may go on with the column before it; Refused if that is another one."""
    before = ask.tests[-1][1] if ask.tests else {}
    column = schema.column(str(before.get("column")))
    if column is None or column.kind != "number" or before.get("column") == found.get("column"):
        return
    said = " ".join(token.text for token in reader.tokens[start : start + 3])
    bare = any(said.startswith(one) for one in (*OPERATORS, "between"))
    value = found.get("value")
    if (
        bare
        and isinstance(value, int | float)
        and _plausible(column, value)
        and not _named(reader, schema, found, start)
    ):
        raise Refused(f"The number may be about {column.name} or {found.get('column')}.", "Name the column.")
    counted = reader.tokens[start].kind == "number" or reader.tokens[start].text in WORD_NUMBERS
    if counted and found.get("is") == "==" and before.get("is") in ("<", "<=", ">", ">="):
        raise Refused("It is not plain whether both numbers are compared in the same way.", "Say it with each number.")


def _plausible(column: Column, value: float) -> bool:
    """Whether somebody may compare the column with this number: it is not far from what the column holds."""
    if column.low is None:
        return True
    width = max(column.high - column.low, 1)
    return bool(column.low - width <= value <= column.high + width)


def _named(reader: Reader, schema: Schema, found: Where, start: int) -> bool:
    """Whether the condition names its column after its number."""
    words = Reader(reader.tokens[start : reader.at])
    while words:
        columns, size = column_at(words, schema)
        if any(column.name == found.get("column") for column in columns):
            return True
        words.at += max(size, 1)
    return False


def negative(where: Where) -> bool:
    """Whether the condition says what the rows are not."""
    return where.get("is") in ("!=", "not_in") or "not" in where
