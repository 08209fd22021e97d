"""`laneway outbox`: replies on their way, and those that could not be delivered."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Before, Json, Limit, connect
from laneway.cli.printing import local, more, one_line, print_json, print_table


def outbox(
    state: Annotated[str | None, typer.Option(help="pending, sending, uncertain, sent or undeliverable.")] = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List replies and what became of them, newest first."""
    with connect() as client:
        page = client.outbox(state=state, limit=limit, before=before)
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
