"""Everyday English about tables becomes a plan, without a model.

`planned` reads a request word by word against the columns and values of the given tables. Every word must be
accounted for: as a column, a value, a comparison, an order, or a word that says nothing. What is not understood whole,
or could mean two things, is refused with a reason and a hint; nothing is ever guessed.

reading.py cuts the request into tokens, and days.py turns "yesterday" into a date; schema.py knows the tables;
columns.py, nouns.py and valuing.py find what the words name; conditions.py, ordering.py, measures.py, grouping.py,
joining.py and clauses.py read the parts of a clause into an `Ask`; settling.py settles what is left open, and ask.py
turns it into steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.planner.days import on_the_day
from laneway.lanes.pipeline.planner.doubts import small_words
from laneway.lanes.pipeline.planner.reading import Reader, tokens_of
from laneway.lanes.pipeline.planner.refusal import Refusal, Refused
from laneway.lanes.pipeline.planner.request import Request
from laneway.lanes.pipeline.planner.schema import schema_of

LONGEST = 2000
"""A longer request is no request about a table."""

__all__ = ["Refusal", "planned"]


def planned(
    prompt: str, tables: Mapping[str, Sequence[Mapping[str, Any]]], today: date | None = None
) -> Plan | Refusal:
    """The plan this request means over these tables, or why it is not plain what it means.

    With a day given, "today", "last week" and their like are dates; such a plan holds for that day only.
    """
    if not tables:
        return Refusal("There is no table to work on.", "Give rows with the request.")
    if len(prompt) > LONGEST:
        return Refusal(f"The request is longer than {LONGEST:,} letters.", "Ask for one thing at a time.")
    try:
        tokens = tokens_of(prompt)
        if not tokens:
            return Refusal("The request is empty.", "Say what you want to see, like: the 5 cheapest.")
        schemas = {name: schema_of(name, rows) for name, rows in tables.items()}
        small_words(tokens, schemas.values())
        if today is not None:
            tokens = on_the_day(tokens, schemas.values(), today)
        return plan_of(Request(Reader(tokens), schemas, tables).document())
    except Refused as refused:
        return refused.refusal
    except BadInput as error:
        return Refusal(error.message, error.hint)
