"""`laneway tasks`: the work people see."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Before, Json, Limit, connect, text_of
from laneway.cli.printing import local, more, one_line, plain, print_json, print_table

app = typer.Typer(help="List tasks, show one, add one, move one along.", invoke_without_command=True)

Status = Annotated[
    str, typer.Option(help="pending, in_progress, completed, failed, cancelled; open = not ended; all = whatever.")
]
Number = Annotated[int, typer.Argument(help="Its number.", min=1)]


@app.callback()
def tasks(
    context: typer.Context, status: Status = "open", limit: Limit = 50, before: Before = None, as_json: Json = False
) -> None:
    """List tasks, newest first; `show`, `add` and `move` are for one."""
    if context.invoked_subcommand is None:
        _list(status, limit, before, as_json)


@app.command("list")
def list_tasks(status: Status = "open", limit: Limit = 50, before: Before = None, as_json: Json = False) -> None:
    """List tasks, newest first."""
    _list(status, limit, before, as_json)


@app.command()
def show(task: Number, as_json: Json = False) -> None:
    """Show one task."""
    with connect() as client:
        found = client.task(task)
    if as_json:
        print_json(found)
        return
    who = plain(found["assigned_agent"] or "nobody yet")
    print(f"Task {found['id']}: {plain(found['title'])}")
    print(f"{found['status']}, {found['task_type']}, priority {found['priority']}, for {who}")
    times = (("Created", "created_at"), ("Due", "due_at"), ("Started", "started_at"), ("Ended", "completed_at"))
    print(", ".join(f"{title} {local(found[key])}" for title, key in times if found[key]))
    if found["description"]:
        print(plain(found["description"]))


@app.command()
def add(
    title: Annotated[str, typer.Argument(help="What is to be done.")],
    description: Annotated[str, typer.Option(help="More about it; - reads standard input.")] = "",
    priority: Annotated[int | None, typer.Option(min=1, max=10, help="From 1, the most urgent, to 10.")] = None,
    assignee: Annotated[str | None, typer.Option(help="Whose work it is.")] = None,
    as_json: Json = False,
) -> None:
    """Write down work for a person."""
    with connect() as client:
        made = client.create_task(title, text_of(description), priority=priority, assigned_agent=assignee)
    if as_json:
        print_json(made)
    else:
        print(f"Task {made['id']} is {made['status']}: {plain(made['title'])}")


@app.command()
def move(
    task: Number,
    status: Annotated[str, typer.Argument(help="in_progress, completed, failed, cancelled; pending = try again.")],
    as_json: Json = False,
) -> None:
    """Give a task its next status: pending, in_progress, then completed, failed or cancelled."""
    with connect() as client:
        moved = client.change_task(task, status=status)
    if as_json:
        print_json(moved)
    else:
        print(f"Task {moved['id']} is {moved['status']}: {plain(moved['title'])}")


def _list(status: str, limit: int, before: str | None, as_json: bool) -> None:
    named = None if status in ("open", "all") else status
    with connect() as client:
        page = client.tasks(status=named, open=status == "open" or None, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["id"], one["status"], one["priority"], one["assigned_agent"], local(one["due_at"]), one_line(one["title"]))
        for one in page["items"]
    ]
    titles = ("TASK", "STATUS", "PRIORITY", "FOR", "DUE", "WHAT")
    print_table(titles, rows, empty="There are no such tasks.", wrapped="WHAT")
    more(page, "laneway tasks" + ("" if status == "open" else f" --status {status}"))
