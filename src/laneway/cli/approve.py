"""`laneway approvals`, `approve`, `reject`: the questions jobs wait for, and their answers."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import local, plain, print_json, print_table

Id = Annotated[str, typer.Argument(help="The id of the approval.")]


def approvals(
    state: Annotated[
        str, typer.Option(help="pending, approved, rejected, superseded, expired; all = whatever state.")
    ] = "pending",
    as_json: Json = False,
) -> None:
    """List what waits for an answer."""
    with connect() as client:
        page = client.approvals(state=None if state == "all" else state)
    if as_json:
        print_json(page)
        return
    rows = [(one["id"], one["state"], local(one["deadline"]), one["why"]) for one in page["items"]]
    nothing = "Nothing waits for an answer." if state == "pending" else "There are no such approvals."
    print_table(("APPROVAL", "STATE", "UNTIL", "WHAT"), rows, empty=nothing, wrapped="WHAT")


def approve(
    approval: Id,
    choice: Annotated[str | None, typer.Option(help="What was meant, where the question offers choices.")] = None,
    as_json: Json = False,
) -> None:
    """Say yes: the job does what it asked for."""
    _answer(approval, "approve", as_json, choice)


def reject(approval: Id, as_json: Json = False) -> None:
    """Say no: the job ends without doing it."""
    _answer(approval, "reject", as_json)


def _answer(approval: str, answer: str, as_json: bool, choice: str | None = None) -> None:
    with connect() as client:
        answered = client.answer(as_id(approval, "approval"), answer, choice)
    if as_json:
        print_json(answered)
    else:
        chosen = f" ({answered['choice']})" if answered["choice"] else ""
        print(f"{answered['state'].capitalize()}{chosen}: {plain(answered['why'])}")
