"""`laneway approvals`, `approve`, `reject`, `permissions`: the questions jobs wait for, and their answers."""

from __future__ import annotations

from json import dumps
from typing import Annotated, Any

import typer

from laneway.cli.connection import Json, as_id, connect
from laneway.cli.printing import local, plain, print_json, print_table

Id = Annotated[str, typer.Argument(help="The id of the approval.")]


def approvals(
    state: Annotated[
        str, typer.Option(help="pending, approved, rejected, superseded, expired; all = whatever state.")
    ] = "pending",
    as_json: Json = False,
) -> None:
    """List what waits for an answer."""
    with connect() as client:
        page = client.approvals(state=None if state == "all" else state)
    if as_json:
        print_json(page)
        return
    rows = [(one["id"], one["state"], local(one["deadline"]), one["why"]) for one in page["items"]]
    nothing = "Nothing waits for an answer." if state == "pending" else "There are no such approvals."
    print_table(("APPROVAL", "STATE", "UNTIL", "WHAT"), rows, empty=nothing, wrapped="WHAT")


def approve(
    approval: Id,
    choice: Annotated[str | None, typer.Option(help="What was meant, where the question offers choices.")] = None,
    always: Annotated[
        bool, typer.Option("--always", help="And allow exactly this in this thread from now on.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="It was too late: be asked exactly the same again.")] = False,
    as_json: Json = False,
) -> None:
    """Say yes: the job does what it asked for."""
    if again:
        _ask_again(approval, as_json)
    else:
        _answer(approval, "approve", as_json, choice, always)


def reject(approval: Id, as_json: Json = False) -> None:
    """Say no: the job ends without doing it."""
    _answer(approval, "reject", as_json)


def permissions(
    remove: Annotated[str | None, typer.Option(metavar="ID", help="Take this one back: it is asked for again.")] = None,
    as_json: Json = False,
) -> None:
    """List what is always allowed, or take one of these back."""
    with connect() as client:
        if remove is not None:
            client.remove_permission(as_id(remove, "permission"))
            print(f"Permission {remove} is gone: that action is asked for again.")
            return
        page = client.permissions()
    if as_json:
        print_json(page)
        return
    rows = [(one["id"], one["thread_id"], str(one["used"]), _told(one["action"])) for one in page["items"]]
    print_table(("PERMISSION", "THREAD", "USED", "WHAT"), rows, empty="Nothing is always allowed.", wrapped="WHAT")


def _ask_again(approval: str, as_json: bool) -> None:
    with connect() as client:
        receipt = client.ask_again(as_id(approval, "approval"))
    if as_json:
        print_json(receipt)
    else:
        print(f"Asked again by job {receipt['job_id']}: `laneway approvals` shows it.")


def _told(action: dict[str, Any]) -> str:
    return f"{action['tool']} {dumps(action['arguments'], ensure_ascii=False)}"


def _answer(approval: str, answer: str, as_json: bool, choice: str | None = None, always: bool = False) -> None:
    with connect() as client:
        answered = client.answer(as_id(approval, "approval"), answer, choice, always)
    if as_json:
        print_json(answered)
    else:
        chosen = f" ({answered['choice']})" if answered["choice"] else ""
        print(f"{answered['state'].capitalize()}{chosen}: {plain(answered['why'])}")
