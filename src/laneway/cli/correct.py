"""`laneway correct`: says what a message really was, so that the next one like it is judged right."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import print_json


def correct(
    message: Annotated[str, typer.Argument(help="The id of a message.")],
    label: Annotated[str, typer.Argument(help="What it really is: question, command or other.")],
    needs_confirmation: Annotated[
        bool | None,
        typer.Option("--needs-confirmation/--no-confirmation", help="Whether such a command needs an approval."),
    ] = None,
    taxonomy: Annotated[str, typer.Option(help="Which decision is corrected.")] = "message",
    as_json: Json = False,
) -> None:
    """Say what a message really was; Laneway learns from it.

    It is learnt in the background, unless it contradicts what is known or makes other judgements worse.
    """
    with connect() as client:
        stored = client.correct(as_id(message, "message"), label, needs_confirmation, taxonomy)
    if as_json:
        print_json(stored)
        return
    print(f"Noted: {stored['label']}. `laneway why {stored['message_id']}` tells whether it was learnt.")
