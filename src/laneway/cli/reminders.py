"""`laneway reminders`: what will be delivered later."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Before, Json, Limit, as_id, connect
from laneway.cli.printing import local, more, one_line, print_json, print_table

app = typer.Typer(help="List reminders, cancel one.", invoke_without_command=True)

State = Annotated[str, typer.Option(help="pending, sent, cancelled; all = whatever state.")]


@app.callback()
def reminders(
    context: typer.Context, state: State = "pending", limit: Limit = 50, before: Before = None, as_json: Json = False
) -> None:
    """List reminders and results that wait for quiet hours to end; `cancel ID` takes one back."""
    if context.invoked_subcommand is None:
        _list(state, limit, before, as_json)


@app.command("list")
def list_reminders(state: State = "pending", limit: Limit = 50, before: Before = None, as_json: Json = False) -> None:
    """List reminders, newest first."""
    _list(state, limit, before, as_json)


@app.command()
def cancel(reminder: Annotated[str, typer.Argument(help="Its id.")], as_json: Json = False) -> None:
    """Take a reminder back before it is delivered."""
    with connect() as client:
        gone = client.remove("reminders", as_id(reminder, "reminder"))
    if as_json:
        print_json(gone)
    else:
        print(f"Cancelled: {one_line(gone['text'])}")


def _list(state: str, limit: int, before: str | None, as_json: bool) -> None:
    with connect() as client:
        page = client.reminders(state=None if state == "all" else state, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], one["kind"], one["state"], local(one["due_at"]), one_line(one["text"])) for one in page["items"]
    ]
    empty = "Nothing waits to be delivered." if state == "pending" else "There are no such reminders."
    print_table(("REMINDER", "KIND", "STATE", "DUE", "TEXT"), rows, empty=empty, wrapped="TEXT")
    more(page, "laneway reminders" + ("" if state == "pending" else f" --state {state}"))
