"""`laneway stop`: ends one job, or everything that runs or waits in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from laneway.cli.connection import Json, connect, thread_id
from laneway.cli.printing import print_json
from laneway.errors import NotFound

if TYPE_CHECKING:
    from laneway.client import Client


def stop(
    what: Annotated[str, typer.Argument(metavar="THREAD|JOB", help="A thread's name or id, or a job's id.")],
    as_json: Json = False,
) -> None:
    """Stop a job, or everything running or waiting in a thread."""
    with connect() as client:
        outcome = _stop(client, what)
    if as_json:
        print_json(outcome)
        return
    stopped = outcome["stopped"]
    print("\n".join(f"Stopping job {job}." for job in stopped) or "Nothing is running or waiting there.")


def _stop(client: Client, what: str) -> dict[str, Any]:
    if _is_id(what):
        try:
            return {"stopped": [client.cancel_job(what)["id"]]}
        except NotFound:
            pass
    return client.stop_thread(thread_id(client, what))


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
