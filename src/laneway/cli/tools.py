"""`laneway tools`: what a model may call and where it comes from; what has stayed in a thread's toolbox."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli.connection import Json, connect, thread_id
from laneway.cli.printing import local, one_line, plain, print_json, print_table

app = typer.Typer(help="List tools and where they come from; what a thread keeps.", invoke_without_command=True)

Thread = Annotated[str, typer.Argument(help="The name or id of the thread.")]


@app.callback()
def tools(context: typer.Context, as_json: Json = False) -> None:
    """List all tools at hand and where they come from; `kept` and `drop` are for one thread's toolbox."""
    if context.invoked_subcommand is None:
        _list(as_json)


@app.command()
def kept(thread: Thread, as_json: Json = False) -> None:
    """List the tools that were found in a thread; one found three times stays there."""
    with connect() as client:
        page = client.kept_tools(thread_id(client, thread))
    if as_json:
        print_json(page)
        return
    rows = [(one["tool"], "yes" if one["kept"] else "", one["found"], local(one["found_at"])) for one in page["items"]]
    print_table(("TOOL", "KEPT", "FOUND", "LAST"), rows, empty="No tool was looked for in this thread yet.")


@app.command()
def drop(
    thread: Thread, tool: Annotated[str, typer.Argument(help="The name of the tool.")], as_json: Json = False
) -> None:
    """Take a tool out of a thread's toolbox; its count begins anew."""
    with connect() as client:
        gone = client.drop_tool(thread_id(client, thread), tool)
    if as_json:
        print_json(gone)
    else:
        print(plain(f"{gone['tool']} is out of the toolbox; it had been found {gone['found']} times."))


def _list(as_json: bool) -> None:
    with connect() as client:
        found = client.tools()
    if as_json:
        print_json(found)
        return
    rows = [
        (one["name"], one["origin"], "yes" if one["changes"] else "", "always" if one["asks"] else "",
         one_line(one["about"], 90))
        for one in found["items"]
    ]  # fmt: skip
    print_table(("TOOL", "FROM", "CHANGES", "ASKS", "ABOUT"), rows, empty="There are no tools.", wrapped="ABOUT")
    if found["suppliers"]:
        print()
        states = [(one["name"], one["kind"], one["status"], one["tools"], one["says"]) for one in found["suppliers"]]
        print_table(("NAME", "KIND", "STATE", "TOOLS", "WHAT IS WRONG"), states, empty="", wrapped="WHAT IS WRONG")
