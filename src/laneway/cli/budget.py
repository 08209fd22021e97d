"""`laneway budget`: how every budget stands; setting one for somebody, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json, as_id, connect, thread_id
from laneway.cli.printing import local, money, print_json, print_table
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.client import Client

app = typer.Typer(help="Show every budget and how it stands; set or remove one.", invoke_without_command=True)

Principal = Annotated[str | None, typer.Option(help="For a principal: its name, id or address on a channel.")]
Thread = Annotated[str | None, typer.Option(help="For a thread (name or id).")]
Lane = Annotated[str | None, typer.Option(help="For a lane.")]
Schedule = Annotated[str | None, typer.Option(help="For what a schedule starts.")]
Job = Annotated[str | None, typer.Option(help="For a job, by its id.")]
Proactive = Annotated[bool, typer.Option("--proactive", help="For what all schedules start.")]
Customers = Annotated[bool, typer.Option("--customers", help="In the customers' world, not the owner's.")]
Day = Annotated[bool, typer.Option("--day", help="A day; days begin at midnight UTC.")]
Month = Annotated[bool, typer.Option("--month", help="A month; months begin at midnight UTC.")]


@app.callback()
def budget(context: typer.Context, as_json: Json = False) -> None:
    """Show every budget in force: what is spent, reserved and left of it, and when it starts anew.

    Without --day or --month, a budget that is set for a thread, a principal, a lane, a schedule or a job never starts
    anew. Without any of those it is for everything in the owner's world, or with --customers in theirs.
    """
    if context.invoked_subcommand is None:
        _list(as_json)


@app.command("set")
def set_budget(
    principal: Principal = None,
    thread: Thread = None,
    lane: Lane = None,
    schedule: Schedule = None,
    job: Job = None,
    proactive: Proactive = False,
    customers: Customers = False,
    day: Day = False,
    month: Month = False,
    usd: Annotated[float | None, typer.Option(min=0, help="The most money, in US dollars.")] = None,
    tokens: Annotated[int | None, typer.Option(min=0, help="The most tokens.")] = None,
    as_json: Json = False,
) -> None:
    """Set a budget; it holds from the next model call on, instead of the one the settings give."""
    if usd is None and tokens is None:
        raise BadInput("How much may be spent?", hint="Give --usd, --tokens or both.")
    subject = _subject(principal=principal, thread=thread, lane=lane, schedule=schedule, job=job, proactive=proactive)
    with connect() as client:
        which = _which(client, subject, customers, day, month)
        stored = client.set_budget(**which, usd=usd, tokens=tokens)
    if as_json:
        return print_json(stored)
    return _table([stored])


@app.command()
def remove(
    principal: Principal = None,
    thread: Thread = None,
    lane: Lane = None,
    schedule: Schedule = None,
    job: Job = None,
    proactive: Proactive = False,
    customers: Customers = False,
    day: Day = False,
    month: Month = False,
    as_json: Json = False,
) -> None:
    """Remove a budget that was set; the one the settings give holds again."""
    subject = _subject(principal=principal, thread=thread, lane=lane, schedule=schedule, job=job, proactive=proactive)
    with connect() as client:
        gone = client.remove_budget(**_which(client, subject, customers, day, month))
    if as_json:
        return print_json(gone)
    return print("Removed. `laneway budget` shows what holds now.")


def _subject(**given: str | bool | None) -> tuple[str, str]:
    """The one subject that was named; all, if none was."""
    named = [(subject, value) for subject, value in given.items() if value]
    if len(named) > 1:
        options = " and ".join(f"--{subject}" for subject, _ in named)
        raise BadInput(f"A budget is for one of {options}.", hint="Set one after the other.")
    if not named:
        return "all", ""
    subject, value = named[0]
    return ("scope", "proactive") if subject == "proactive" else (subject, str(value))


def _which(client: Client, subject: tuple[str, str], customers: bool, day: bool, month: bool) -> dict[str, Any]:
    """The budget as the API names it."""
    what, name = subject
    if day and month:
        raise BadInput("A budget is for a day or a month.", hint="Set one after the other.")
    if what == "all" and not (day or month):
        raise BadInput("For how long, or for whom?", hint="Say --day or --month, or name one: --thread main.")
    name = thread_id(client, name) if what == "thread" else as_id(name, "job") if what == "job" else name
    period = "day" if day else "month" if month else "ever"
    return {"subject": what, "name": name, "period": period, "world": "customer" if customers else None}


def _list(as_json: bool) -> None:
    with connect() as client:
        found = client.budgets()
    if as_json:
        return print_json(found)
    _table(found["items"])
    for each in found["each"]:
        print(_sentence(each))
    return None


def _table(budgets: list[dict[str, Any]]) -> None:
    titles = ("BUDGET", "OF", "SPENT", "RESERVED", "CAP", "LEFT", "USED", "STARTS ANEW", "FROM")
    print_table(titles, (row for one in budgets for row in _rows(one)), empty="There are no budgets.")


def _rows(one: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for measure in one["measures"]:
        show = money if measure["unit"] == "usd" else _tokens
        figures = [show(measure[name]) for name in ("spent", "reserved", "cap", "left")]
        source = measure["setting"] or "set by hand"
        yield one["period"], _of(one), *figures, f"{measure['percent']:.0f} %", local(one["resets_at"]), source


def _of(one: dict[str, Any]) -> str:
    world = " (customers)" if one["world"] == "customer" else ""
    if one["subject"] == "all":
        return "all customers" if world else "the owner's world"
    label = "" if one["label"] == one["name"] else f" ({one['label']})"
    return f"{one['subject']} {one['name']}{label}{world}"


def _sentence(each: dict[str, Any]) -> str:
    parts = [money(each["usd"])] if each["usd"] is not None else []
    parts += [_tokens(each["tokens"])] if each["tokens"] is not None else []
    period = "" if each["period"] == "ever" else f" a {each['period']}"
    world = " for customers" if each["world"] == "customer" else ""
    return f"Each {each['subject']}{world} may spend {' and '.join(parts)}{period} ({each['setting']}_…)."


def _tokens(amount: float) -> str:
    return f"{int(amount):,} tokens"
