"""`laneway outbox`: replies on their way, those that could not be delivered, and another try for one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from laneway.cli.connection import Before, Json, Limit, connect
from laneway.cli.printing import local, more, one_line, print_json, print_table

app = typer.Typer(help="List replies and what became of them; try one again.", invoke_without_command=True)

State = Annotated[str | None, typer.Option(help="pending, sending, uncertain, sent or undeliverable.")]


@app.callback()
def outbox(
    context: typer.Context, state: State = None, limit: Limit = 20, before: Before = None, as_json: Json = False
) -> None:
    """List replies and what became of them, newest first; `retry ID` sends one again that was given up."""
    if context.invoked_subcommand is None:
        with connect() as client:
            page = client.outbox(state=state, limit=limit, before=before)
        _show(page, as_json)


@app.command()
def retry(reply: Annotated[int, typer.Argument(help="Its number in the list.")], as_json: Json = False) -> None:
    """Send a reply again that was given up; one that may have arrived says so."""
    with connect() as client:
        row = client.retry_reply(reply)
    if as_json:
        print_json(row)
    else:
        print(f"Reply {row['id']} is on its way again.")


def _show(page: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], one["channel"], one["state"], one["attempts"], local(one["sent_at"]),
         one_line(one["error"] or "", 50), one_line(one["text"], 60))
        for one in page["items"]
    ]  # fmt: skip
    titles = ("ID", "CHANNEL", "STATE", "TRIES", "SENT", "ERROR", "TEXT")
    print_table(titles, rows, empty="There are no such replies.", wrapped="TEXT")
    more(page, "laneway outbox")
