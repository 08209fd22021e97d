"""`laneway correct`: says what a message really was, lists what was said, and takes it back."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import typer

from laneway.cli.connection import Before, Json, Limit, as_id, connect
from laneway.cli.printing import local, more, one_line, plain, print_json, print_table
from laneway.errors import BadInput

FLAGS = {True: ", needs an approval", False: ", needs no approval", None: ""}


def correct(
    message: Annotated[str | None, typer.Argument(help="The id of a message.")] = None,
    label: Annotated[str | None, typer.Argument(help="What it really is: question, command or other.")] = None,
    needs_confirmation: Annotated[
        bool | None,
        typer.Option("--needs-confirmation/--no-confirmation", help="Whether such a command needs an approval."),
    ] = None,
    taxonomy: Annotated[str, typer.Option(help="Which decision is corrected.")] = "message",
    listed: Annotated[bool, typer.Option("--list", help="List what was corrected instead, newest first.")] = False,
    state: Annotated[str | None, typer.Option(help="List only pending, accepted, refused or withdrawn ones.")] = None,
    limit: Limit = 20,
    before: Before = None,
    withdrawn: Annotated[
        str | None, typer.Option("--withdraw", metavar="ID", help="Take this correction back instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a message really was; Laneway learns from it.

    It is learnt in the background, unless it contradicts what is known or makes other judgements worse.
    """
    if [message is not None, listed, withdrawn is not None].count(True) != 1:
        raise BadInput("Give one of: a message with its label, --list, --withdraw.", hint="--help shows how.")
    if listed:
        _list(state, limit, before, as_json)
    elif withdrawn is not None:
        _withdraw(withdrawn, as_json)
    elif message is not None and label is not None:
        _note(message, label, needs_confirmation, taxonomy, as_json)
    else:
        raise BadInput("Say what the message really is.", hint="`laneway correct MESSAGE command`, for example.")


def _note(message: str, label: str, flag: bool | None, taxonomy: str, as_json: bool) -> None:
    with connect() as client:
        stored = client.correct(as_id(message, "message"), label, flag, taxonomy)
    if as_json:
        print_json(stored)
    else:
        print(f"Noted: {stored['label']}. `laneway why {stored['message_id']}` tells whether it was learnt.")


def _list(state: str | None, limit: int, before: str | None, as_json: bool) -> None:
    with connect() as client:
        page = client.corrections(state=state, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    titles = ("CORRECTION", "WHEN", "STATE", "TAXONOMY", "TO", "TEXT AND REASON")
    print_table(titles, map(_row, page["items"]), empty="There are no such corrections.", wrapped=titles[-1])
    more(page, f"laneway correct --list{f' --state {state}' if state else ''}")


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    to = f"{one['label']}{FLAGS[one['flag']]}"
    told = f"“{one_line(one['text'])}” {one['reason']}".rstrip()
    return one["id"], local(one["created_at"]), one["state"], one["taxonomy"], to, told


def _withdraw(correction: str, as_json: bool) -> None:
    with connect() as client:
        gone = client.withdraw(_id(correction))
    if as_json:
        print_json(gone)
    else:
        print(plain(f"Withdrawn: “{one_line(gone['text'])}” as {gone['label']}. {gone['reason']}"))


def _id(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        told = f"`{text[:60]}` is not the id of a correction."
        raise BadInput(told, hint="`laneway correct --list` lists them.") from None
