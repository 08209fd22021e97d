"""Sums over a row in words or signs: `price times quantity`, `price per seat`, `(price - cost) * 2`."""

from __future__ import annotations

import re

from laneway.lanes.pipeline.planner.amounts import plain_number
from laneway.lanes.pipeline.planner.columns import column_at, only
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema

_SIGNS = {
    "times": "*",
    "multiplied by": "*",
    "plus": "+",
    "minus": "-",
    "divided by": "/",
    "less": "-",
    "*": "*",
    "+": "+",
    "-": "-",
    "/": "/",
    "per": "/",
    "x": "*",
}
_SAID = {"*": "times", "+": "plus", "-": "minus", "/": "per"}
_PLAIN = re.compile(r"[A-Za-z_]\w*")


def expression(reader: Reader, schema: Schema) -> tuple[str, list[str]] | None:
    """The sum that comes next as an expression, and its words for a name; None (and nothing read) if none does."""
    mark = reader.at
    parts: list[str] = []
    words: list[str] = []
    signs: list[str] = []
    symbolic = True
    depth = 0
    while True:
        while reader.takes("("):
            parts.append("(")
            depth += 1
        reader.takes("the")
        operand = _operand(reader, schema)
        if operand is None:
            break
        parts.append(operand)
        words.append(operand.strip("`"))
        while depth and reader.takes(")"):
            parts.append(")")
            depth -= 1
        said = reader.takes(*_SIGNS)
        if not said:
            break
        symbolic = symbolic and len(said) == 1 and said != "x"
        signs.append(_SIGNS[said])
        parts.append(_SIGNS[said])
        words.append(_SAID[_SIGNS[said]])
    if not signs or len(words) != 2 * len(signs) + 1 or depth:
        reader.at = mark
        return None
    if (
        not symbolic
        and len(signs) > 1
        and (({"+", "-"} & set(signs) and {"*", "/"} & set(signs)) or signs.count("/") > 1)
    ):
        raise Refused(
            "It is not plain what is worked out first.", "Write it with signs and brackets: (price - cost) * 2."
        )
    return " ".join(parts).replace("( ", "(").replace(" )", ")"), words


def _operand(reader: Reader, schema: Schema) -> str | None:
    token = reader.token()
    if token is not None and token.kind == "number":
        reader.at += 1
        if set(token.text) & set("$€£"):
            raise Refused("A currency sign does not go into a sum.", "Write the number alone.")
        return str(plain_number(token.text))
    found, size = column_at(reader, schema)
    if len(found) > 1 and reader.word(size) not in _SIGNS:
        return None
    if not found:
        return None
    column = only(found, reader.rest(size))
    if column.kind != "number":
        return None
    reader.at += size
    return column.name if _PLAIN.fullmatch(column.name) else f"`{column.name}`"


def default_name(words: list[str]) -> str:
    """A name for a column nobody named."""
    return "_".join(re.sub(r"\W+", "_", word) for word in words)
