"""`laneway logs`: the newest lines of the log, and those that follow."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import plain, print_json

PAUSE = 0.5


def logs(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as the log grows, until Ctrl-C.")] = False,
    job: Annotated[str | None, typer.Option(help="Only lines about this job.")] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, max=5000, help="How many lines at first.")] = 100,
    as_json: Json = False,
) -> None:
    """Show the server's log."""
    about = as_id(job, "job") if job else None
    with connect() as client:
        page = client.logs(lines=lines, job=about)
        if as_json and not follow:
            print_json(page)
            return
        _show(page["lines"])
        while follow:
            time.sleep(PAUSE)
            page = client.logs(job=about, after=page["next"])
            _show(page["lines"])


def _show(lines: list[str]) -> None:
    for line in lines:
        print(plain(line), flush=True)
