"""Everyday English about tables becomes a plan, without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.plan import Plan, plan_of
from laneway.lanes.pipeline.planner.days import on_the_day
from laneway.lanes.pipeline.planner.doubts import refuse_small_words, refuse_yes_or_no
from laneway.lanes.pipeline.planner.reading import tokens_of
from laneway.lanes.pipeline.planner.refusal import Refusal, Refused
from laneway.lanes.pipeline.planner.request import document
from laneway.lanes.pipeline.planner.respelling import respelled
from laneway.lanes.pipeline.planner.schema import schema_of

LONGEST = 2000
"""A longer request is no request about a table."""

__all__ = ["Refusal", "planned"]


def planned(
    prompt: str, tables: Mapping[str, Sequence[Mapping[str, Any]]], today: date | None = None
) -> Plan | Refusal:
    """The plan this request means over these tables, or why it is not plain what it means."""
    if not tables:
        return Refusal("There is no table to work on.", "Give rows with the request.")
    if len(prompt) > LONGEST:
        return Refusal(f"The request is longer than {LONGEST:,} letters.", "Ask for one thing at a time.")
    try:
        tokens = tokens_of(prompt)
        if not tokens:
            return Refusal("The request is empty.", "Say what you want to see, like: the 5 cheapest.")
        schemas = {name: schema_of(name, rows) for name, rows in tables.items()}
        refuse_small_words(tokens, schemas.values())
        refuse_yes_or_no(tokens)
        tokens = respelled(tokens, schemas.values())
        if today is not None:
            tokens = on_the_day(tokens, schemas.values(), today)
        return plan_of(document(tokens, schemas, tables))
    except Refused as refused:
        return refused.refusal
    except BadInput as error:
        return Refusal(error.message, error.hint)
