"""`laneway host-mode`: for whom commands run on this machine itself, outside the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import plain, print_json, print_table
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.client import Client

app = typer.Typer(help="Let commands run on the machine itself, asking first.")

Who = Annotated[str | None, typer.Argument(metavar="[PRINCIPAL]", help="Name or id of a principal; you, if not named.")]


@app.command()
def on(principal: Who = None, as_json: Json = False) -> None:
    """Run this principal's commands on the machine itself. Everything that may change it asks first, every time."""
    _switch(principal, True, as_json)


@app.command()
def off(principal: Who = None, as_json: Json = False) -> None:
    """Run this principal's commands in the sandbox, as is usual."""
    _switch(principal, False, as_json)


@app.command()
def show(principal: Who = None, as_json: Json = False) -> None:
    """List principals and whether they are in host mode."""
    with connect() as client:
        found = [_named(client, principal)] if principal else client.principals()["items"]
    if as_json:
        print_json({"items": found})
        return
    rows = [(one["id"], one["role"], one["name"], "on" if one["host_mode"] else "off") for one in found]
    print_table(("PRINCIPAL", "ROLE", "NAME", "HOST MODE"), rows, empty="There are no principals.")


def _switch(principal: str | None, to: bool, as_json: bool) -> None:
    with connect() as client:
        whose = _named(client, principal) if principal else client.me()
        changed = client.host_mode(whose["id"], to)
    if as_json:
        print_json(changed)
        return
    where = "on this machine itself; what may change it asks first" if to else "in the sandbox"
    print(f"Commands of {plain(changed['name'])} run {where}.")


def _named(client: Client, wanted: str) -> dict[str, Any]:
    """The one principal of this name or id."""
    page = client.principals()
    found = list(page["items"])
    while page["next"] is not None:
        page = client.principals(before=page["next"])
        found += page["items"]
    matching: list[dict[str, Any]] = [one for one in found if wanted in (one["id"], one["name"])]
    if len(matching) != 1:
        how_many = "Several principals are" if matching else "No principal is"
        raise BadInput(f"{how_many} called {wanted}.", hint="`laneway host-mode show` lists them with their ids.")
    return matching[0]
