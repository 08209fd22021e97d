"""`laneway messages`: what was said."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Before, Json, Limit, connect, thread_id
from laneway.cli.printing import local, more, one_line, print_json, print_table


def messages(
    thread: Annotated[str | None, typer.Option(help="Only those of one thread (name or id).")] = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List messages, newest last."""
    with connect() as client:
        of_thread = thread_id(client, thread) if thread else None
        page = client.messages(thread=of_thread, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], local(one["created_at"]), one["channel"], one["author"], one_line(one["text"], 100))
        for one in reversed(page["items"])
    ]
    print_table(("MESSAGE", "WHEN", "CHANNEL", "BY", "TEXT"), rows, empty="There are no messages yet.", wrapped="TEXT")
    more(page, "laneway messages")
