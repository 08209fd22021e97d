"""`laneway schedule`: what Laneway does of its own accord, and when."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from laneway.cli.connection import Before, Json, Limit, connect, text_of
from laneway.cli.printing import local, money, more, one_line, plain, print_json, print_table

app = typer.Typer(help="Add, list, show, pause, resume, run and remove schedules.", no_args_is_help=True)

Which = Annotated[str, typer.Argument(help="Its name or id.")]


@app.command()
def add(
    when: Annotated[str, typer.Argument(help="`weekdays 09:00`, `every 15 minutes`, or cron: `0 9 * * 1-5`.")],
    text: Annotated[str, typer.Argument(help="What to look at or to do; - reads standard input.")],
    name: Annotated[str | None, typer.Option(help="Its name; made from the text if absent.")] = None,
    zone: Annotated[str | None, typer.Option(help="Time zone, like Europe/Berlin; the server's if absent.")] = None,
    budget_usd: Annotated[float | None, typer.Option(help="Most dollars its runs may cost a day.", min=0)] = None,
    thread: Annotated[
        str | None, typer.Option(help="Where it runs and reports (name or id); console/main if absent.")
    ] = None,
    quiet: Annotated[str | None, typer.Option(help="Hours in which results wait, like 22:00-07:00.")] = None,
    urgent: Annotated[bool, typer.Option("--urgent", help="Send results in quiet hours, too.")] = False,
    as_json: Json = False,
) -> None:
    """Do something again and again: "weekdays 09:00" "check the disk and tell me above 80 %".

    You hear of it only when there is something to say.
    """
    with connect() as client:
        made = client.add_schedule(
            when, text_of(text), name=name, zone=zone, budget_usd=budget_usd, thread=thread, quiet=quiet,
            urgent=urgent or None,
        )  # fmt: skip
    if as_json:
        print_json(made)
    else:
        print(f"Added {made['name']}: {plain(made['words'])}, {made['zone']}. First run {local(made['next_at'])}.")


@app.command("list")
def list_schedules(limit: Limit = 50, before: Before = None, as_json: Json = False) -> None:
    """List schedules, newest first."""
    with connect() as client:
        page = client.schedules(limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["name"], one["words"], one["zone"], "paused" if one["paused"] else local(one["next_at"]),
         local(one["last_at"]), one_line(one["text"]))
        for one in page["items"]
    ]  # fmt: skip
    titles = ("SCHEDULE", "WHEN", "ZONE", "NEXT", "LAST", "WHAT")
    print_table(titles, rows, empty="There are no schedules. `laneway schedule add` makes one.", wrapped="WHAT")
    more(page, "laneway schedule list")


@app.command()
def show(which: Which, as_json: Json = False) -> None:
    """Show one schedule with its next five times."""
    with connect() as client:
        found = client.schedule(which)
    if as_json:
        print_json(found)
    else:
        _describe(found)


@app.command()
def pause(which: Which, as_json: Json = False) -> None:
    """Let a schedule rest; its times pass without a run until it is resumed."""
    _change(which, "pause", as_json)


@app.command()
def resume(which: Which, as_json: Json = False) -> None:
    """Let a paused schedule go on with its next time."""
    _change(which, "resume", as_json)


@app.command()
def run(which: Which, as_json: Json = False) -> None:
    """Run a schedule once, now; its times stay as they are."""
    with connect() as client:
        receipt = client.change_schedule(which, "run")
    if as_json:
        print_json(receipt)
    else:
        print(f"Started: job {receipt['job_id']}.")


@app.command()
def remove(which: Which, as_json: Json = False) -> None:
    """Remove a schedule; its earlier runs stay."""
    with connect() as client:
        gone = client.remove("schedules", which)
    if as_json:
        print_json(gone)
    else:
        print(f"Removed {gone['name']}.")


def _change(which: str, what: str, as_json: bool) -> None:
    with connect() as client:
        found = client.change_schedule(which, what)
    if as_json:
        print_json(found)
    elif found["paused"]:
        print(f"{found['name']} is paused.")
    else:
        print(f"{found['name']} runs next {local(found['next_at'])}.")


def _describe(one: dict[str, Any]) -> None:
    print(f"{one['name']} ({one['id']}): {plain(one['words'])}, as cron {one['cron']}, {one['zone']}")
    print(plain(one["text"]))
    if one["quiet_from"]:
        held = "sent all the same" if one["urgent"] else "held back"
        print(f"Quiet hours {one['quiet_from'][:5]}-{one['quiet_to'][:5]}: results are {held}.")
    if one["budget_usd"] is not None:
        print(f"Budget: {money(one['budget_usd'])} a day.")
    if one["last_at"]:
        print(f"Last run {local(one['last_at'])}, job {one['last_job_id']}.")
    if one["skipped"]:
        print(f"Skipped since the last result: {one['skipped']}, because the run before had not ended.")
    if one["paused"]:
        print(f"Paused. {plain(one['why_paused'] or '')}".strip())
    for moment in one["coming"]:
        print(f"  {local(moment)}")
