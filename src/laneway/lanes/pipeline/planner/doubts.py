"""Words that may be a part of speech or a value of the table: they are asked for in quotes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Token
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Schema

_SMALL = words(
    "a am an and any all as at be but by do else for from go have he hi i if in is la last least less me more most my"
    " no"
    " not of off ok on one or out over per so than the then to top under up we who with"
)
"""Words that say how the others belong together."""
_YES_NO = words("is are was were does do did has have can could should will would am")
_OPENS = ("are there", "is there", "do we have", "have we got", "can you", "could you", "would you", "will you",
          "can i",
          "could i", "could we", "do you have", "have a look")  # fmt: skip


def refuse_small_words(tokens: Sequence[Token], schemas: Iterable[Schema]) -> None:
    """No small word is a value at the same time: OR may be Oregon, and A a class; Refused otherwise."""
    columns = [column for schema in schemas for column in schema.columns]
    for token in tokens[1:]:
        if token.kind != "word" or not token.raw.isupper() or token.text not in _SMALL:
            continue
        if any(token.raw in column.values.get(token.text, ()) for column in columns):
            raise Refused(
                f"`{token.raw}` may be a word or a value.", f'Put it in quotes if it is a value: "{token.raw}".'
            )


def refuse_yes_or_no(tokens: Sequence[Token]) -> None:
    """The request wants rows; Refused if it is a question for yes or no."""
    said = " ".join(token.text for token in tokens[:3])
    if tokens[0].text in _YES_NO and not any(said.startswith(one) for one in _OPENS):
        raise Refused("A question for yes or no has no table for an answer.", "Ask for the rows.")
