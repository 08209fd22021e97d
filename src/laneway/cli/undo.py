"""`laneway undo`: the files a job changed are as they were."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import plain, print_json


def undo(job: Annotated[str, typer.Argument(help="The id of the job.")], as_json: Json = False) -> None:
    """Put back the files a job changed.

    Those that changed since are left alone.

    Exits with 1 if any file could not be put back.
    """
    with connect() as client:
        undone = client.undo_job(as_id(job, "job"))
    if as_json:
        print_json(undone)
    else:
        for one in undone["restored"]:
            print(f"{plain(one['path'])}: {one['what']}")
        for one in undone["refused"]:
            print(f"{plain(one['path'])}: left alone, {plain(one['why'])}")
        print(f"{len(undone['restored'])} restored, {len(undone['refused'])} left alone.")
    if undone["refused"]:
        raise typer.Exit(1)
