"""`laneway threads`: the conversations."""

from __future__ import annotations

from laneway.cli.connection import Before, Json, Limit, connect
from laneway.cli.printing import local, more, print_json, print_table


def threads(limit: Limit = 20, before: Before = None, as_json: Json = False) -> None:
    """List conversations, newest first."""
    with connect() as client:
        page = client.threads(limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], one["channel"], one["external_id"], one["world"], local(one["created_at"])) for one in page["items"]
    ]
    print_table(("THREAD", "CHANNEL", "NAME", "WORLD", "SINCE"), rows, empty="There are no threads yet.")
    more(page, "laneway threads")
