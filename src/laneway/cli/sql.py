"""`laneway sql`: a statement that only reads, on Laneway's own tables."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from laneway.cli.connection import Json, connect, text_of
from laneway.cli.printing import print_json, print_table


def sql(
    statement: Annotated[str, typer.Argument(help="The statement; - reads it from standard input.")],
    as_json: Json = False,
) -> None:
    """Run a statement that only reads."""
    with connect() as client:
        answer = client.sql(text_of(statement))
    if as_json:
        print_json(answer)
        return
    rows = [[_cell(value) for value in row] for row in answer["rows"]]
    print_table(answer["columns"], rows, empty="No rows.")
    if answer["truncated"]:
        print("There are more rows; add LIMIT and OFFSET.", file=sys.stderr)


def _cell(value: object) -> str:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
