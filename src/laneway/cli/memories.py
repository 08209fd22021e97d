"""`laneway memories`: what models were told to remember."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

import typer

from laneway.cli.connection import Before, Json, Limit, connect, thread_id
from laneway.cli.printing import local, more, one_line, print_json, print_table
from laneway.errors import BadInput

app = typer.Typer(help="List what is remembered, remove something.", invoke_without_command=True)

World = Annotated[str | None, typer.Option(help="owner or customer; both if absent.")]
InThread = Annotated[str | None, typer.Option("--thread", help="Only what was remembered in one thread (name or id).")]


@app.callback()
def memories(
    context: typer.Context,
    world: World = None,
    thread: InThread = None,
    limit: Limit = 50,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List what is remembered, newest first; `remove ID` forgets something."""
    if context.invoked_subcommand is None:
        _list(world, thread, limit, before, as_json)


@app.command("list")
def list_memories(
    world: World = None, thread: InThread = None, limit: Limit = 50, before: Before = None, as_json: Json = False
) -> None:
    """List what is remembered, newest first."""
    _list(world, thread, limit, before, as_json)


@app.command()
def remove(memory: Annotated[str, typer.Argument(help="Its id.")], as_json: Json = False) -> None:
    """Forget something."""
    try:
        which = str(UUID(memory))
    except ValueError:
        told = f"`{memory[:60]}` is not the id of a memory."
        raise BadInput(told, hint="`laneway memories` lists them.") from None
    with connect() as client:
        gone = client.remove("memories", which)
    if as_json:
        print_json(gone)
    else:
        print(f"Forgotten: {one_line(gone['text'])}")


def _list(world: str | None, thread: str | None, limit: int, before: str | None, as_json: bool) -> None:
    with connect() as client:
        of_thread = thread_id(client, thread) if thread else None
        page = client.memories(world=world, thread=of_thread, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], one["world"], local(one["changed_at"]), "" if one["key"].startswith("#") else one["key"],
         one["source"], one_line(one["text"]))
        for one in page["items"]
    ]  # fmt: skip
    titles = ("MEMORY", "WORLD", "SINCE", "KEY", "SOURCE", "FACT")
    print_table(titles, rows, empty="Nothing is remembered.", wrapped="FACT")
    more(page, "laneway memories")
