"""`laneway audit`: what had effects, who wanted it, and whether anybody changed the record since."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import local, one_line, print_json, print_table

if TYPE_CHECKING:
    from laneway.client import Client
    from laneway.domain.audit import Checked, Entry

app = typer.Typer(help="Read and verify the record of what had effects.", no_args_is_help=True)

What = Annotated[str | None, typer.Option(help="Only what begins so: tool, approval, permission, principal, reactor …")]


@app.command("list")
def list_(
    what: What = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    before: Annotated[int | None, typer.Option(min=0, help="Go on where the list before ended.")] = None,
    as_json: Json = False,
) -> None:
    """List entries of the audit, newest first."""
    with connect() as client:
        page = client.audit(what=what, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [(e["number"], local(e["at"]), e["actor"], e["what"], one_line(e["body"], 100)) for e in page["items"]]
    print_table(("number", "at", "actor", "what", "body"), rows, empty="Nothing has been audited yet.")
    if page["next"]:
        print(f"There are more: laneway audit list --before {page['next']}", file=sys.stderr)


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write; standard output if none is named.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only entries after this number.")] = 0,
) -> None:
    """Write the audit out, one entry a line, as `verify --file` reads it."""
    with connect() as client:
        lines = (json.dumps(entry, ensure_ascii=False) + "\n" for entry in _all(client, after))
        if file is None:
            sys.stdout.writelines(lines)
            return
        with file.open("w", encoding="utf-8") as out:
            out.writelines(lines)
    print(f"Written to {file}.", file=sys.stderr)


@app.command()
def verify(
    file: Annotated[Path | None, typer.Option(help="Check this export instead of the server's audit.")] = None,
    holds: Annotated[str | None, typer.Option(help="A hash noted earlier; its entry must still be there.")] = None,
    as_json: Json = False,
) -> None:
    """Check every link of the audit and say that it is intact, or where it is broken first.

    Exit code 1 if it is broken. The hash of the last entry is printed: note it elsewhere, and `--holds` finds out later
    whether entries were cut off at the end.
    """
    from laneway.domain.audit import Entry, checked
    from laneway.reactors.audit_logger import entries_in, file_checked

    seen: set[str] = set()

    def noted(entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if entry.hash == holds:
                seen.add(entry.hash)
            yield entry

    if file is not None:
        result = file_checked(file)
        if holds is not None and result.intact:
            seen |= {entry.hash for entry in entries_in(file) if entry.hash == holds}
    else:
        with connect() as client:
            result = checked(noted(Entry.given(entry) for entry in _all(client, 0)))
    missing = holds is not None and holds not in seen
    _say(result, missing, as_json)
    raise typer.Exit(int(not result.intact or missing))


def _say(result: Checked, missing: bool, as_json: bool) -> None:
    if as_json:
        told: dict[str, Any] = {"intact": result.intact and not missing, "entries": result.entries}
        print_json(told | {"head": result.head, "broken": result.broken, "missing": missing})
    elif not result.intact:
        print(f"BROKEN after {result.entries} entries. {result.broken}")
    elif missing:
        print(f"BROKEN: all {result.entries} links hold, but the entry with the hash you noted is gone.")
    else:
        print(f"Intact: {result.entries} entries. The last one's hash is {result.head}")


def _all(client: Client, after: int) -> Iterator[dict[str, Any]]:
    while True:
        page = client.audit(after=after, limit=1000)
        yield from page["items"]
        if page["next"] is None:
            return
        after = page["next"]
