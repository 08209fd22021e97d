"""`laneway workflow`: graphs that last, changed by patches that can be taken back."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from laneway.cli import workflow_runs
from laneway.cli.connection import Before, Json, Limit, Owner, connect, whose
from laneway.cli.printing import local, more, one_line, plain, print_json, print_table
from laneway.cli.workflow_files import Form, read_value, written
from laneway.cli.workflow_patch import patch
from laneway.errors import BadInput, NotFound

app = typer.Typer(help="Keep, change, draw, run and take back changes of workflows.", no_args_is_help=True)
app.command("patch")(patch)

Tag = Annotated[str, typer.Argument(help="The workflow's tag.")]
PatchId = Annotated[str | None, typer.Option("--patch", help="Which patch; the last one if absent.")]
Version = Annotated[int | None, typer.Option("--version", min=1, help="As it was at this version.")]


@app.command("list")
def list_workflows(
    limit: Limit = 50,
    before: Before = None,
    removed: Annotated[bool, typer.Option("--removed", help="Those that were removed: `restore` brings back.")] = False,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """List workflows, newest first."""
    with connect(owner) as client:
        page = client.workflows(limit=limit, before=before, removed=removed)
    if as_json:
        print_json(page)
        return
    when = "removed_at" if removed else "changed_at"
    rows = [(one["tag"], one["version"], local(one[when]), one["id"]) for one in page["items"]]
    empty = "There are no workflows. `laneway workflow import FILE` makes one, and so does a request like "
    none = "No workflow was removed." if removed else f"{empty}“always e-mail me when …”."
    print_table(("WORKFLOW", "VERSION", "REMOVED" if removed else "CHANGED", "ID"), rows, empty=none)
    more(page, f"laneway workflow list{' --removed' if removed else ''}{whose(owner)}")


@app.command()
def show(tag: Tag, version: Version = None, owner: Owner = None, as_json: Json = False) -> None:
    """Show a workflow: its nodes, edges and triggers."""
    with connect(owner) as client:
        found = client.workflow(tag) if version is None else client.workflow_version(tag, version)
    if as_json:
        print_json(found)
        return
    from laneway.lanes.workflow.diagram import text

    print(f"{plain(tag)}, version {found.get('version', found.get('number'))}")
    print(plain(text(found["document"])))


@app.command()
def diagram(tag: Tag, version: Version = None, owner: Owner = None) -> None:
    """Print a workflow as a Mermaid diagram."""
    from laneway.lanes.workflow.diagram import mermaid

    print(plain(mermaid(_document(tag, version, owner))).rstrip())


@app.command()
def history(tag: Tag, limit: Limit = 50, before: Before = None, owner: Owner = None, as_json: Json = False) -> None:
    """List the patches of a workflow, newest first, with the words that caused them."""
    with connect(owner) as client:
        page = client.workflow_history(tag, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (one["version"], one["kind"] + (" (undone)" if one["undone_by"] else ""), local(one["created_at"]),
         one["id"], one_line(one["description"], 70), one_line(one["sentence"], 70))
        for one in page["items"]
    ]  # fmt: skip
    titles = ("VERSION", "KIND", "AT", "PATCH", "WHAT", "BECAUSE")
    print_table(titles, rows, empty="There are no patches.", wrapped="BECAUSE")
    more(page, f"laneway workflow history {tag}{whose(owner)}")


@app.command()
def diff(
    tag: Tag,
    older: Annotated[int, typer.Argument(min=0, help="The older version; 0 = before the first.")],
    newer: Annotated[int | None, typer.Argument(min=0, help="The newer one; the newest if absent.")] = None,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """Say in words what differs between two versions."""
    with connect(owner) as client:
        found = client.workflow_diff(tag, older, newer)
    if as_json:
        print_json(found)
        return
    print(f"{plain(tag)}: version {found['older']} → {found['newer']}")
    for change in found["changes"] or ["Nothing differs."]:
        print(f"- {plain(change)}")


@app.command()
def undo(tag: Tag, patch: PatchId = None, owner: Owner = None, as_json: Json = False) -> None:
    """Take one patch back; later ones stay. Refused if a later one changed the same place."""
    with connect(owner) as client:
        _said(client.undo_patch(tag, patch), as_json)


@app.command()
def redo(tag: Tag, patch: PatchId = None, owner: Owner = None, as_json: Json = False) -> None:
    """Make a patch hold again that was undone."""
    with connect(owner) as client:
        _said(client.redo_patch(tag, patch), as_json)


@app.command()
def rollback(
    tag: Tag,
    version: Annotated[int, typer.Argument(min=1, help="The version to go back to.")],
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """Make a workflow what it was at a version, as a new version."""
    with connect(owner) as client:
        _said(client.roll_back_workflow(tag, version), as_json)


@app.command()
def export(
    tag: Tag,
    form: Annotated[str, typer.Option("--format", help="json or yaml.")] = "json",
    version: Version = None,
    output: Annotated[Path | None, typer.Option("--output", help="Write it to this file.")] = None,
    owner: Owner = None,
) -> None:
    """Write a workflow as JSON or YAML."""
    text = written(_document(tag, version, owner), _form(form))
    if output is None:
        print(text, end="")
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error}.", hint="Name another file.") from None


@app.command("import")
def import_workflow(
    file: Annotated[str, typer.Argument(help="A JSON or YAML file; - reads standard input.")],
    tag: Annotated[str | None, typer.Option("--tag", help="Its tag; the name in its metadata, or the file's.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Make it the next version if the tag is taken.")] = False,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """Store a workflow from a file; it passes every check first."""
    document = read_value(file)
    if not isinstance(document, dict):
        raise BadInput(f"{file} holds no workflow.", hint='It must be an object with "nodes" and "edges".')
    name = tag or str((document.get("metadata") or {}).get("name") or "") or ("" if file == "-" else Path(file).stem)
    if not name:
        raise BadInput("The workflow has no tag.", hint="Give one with --tag.")
    described = f"Imported from {'standard input' if file == '-' else Path(file).name}."
    with connect(owner) as client:
        base = _version_of(client, name) if replace else None
        if base is None:
            _said(client.create_workflow(name, document, described), as_json)
        else:
            _said(client.replace_workflow(name, document, base, description=described), as_json)


@app.command()
def remove(tag: Tag, owner: Owner = None, as_json: Json = False) -> None:
    """Remove a workflow: it starts no more and its tag is free; `restore` brings it back."""
    with connect(owner) as client:
        gone = client.remove_workflow(tag)
    if as_json:
        print_json(gone)
    else:
        name = plain(gone["tag"])
        print(f"Removed {name}, which was at version {gone['version']}.")
        print(f"`laneway workflow restore {name}{whose(owner)}` brings it back.", file=sys.stderr)


@app.command()
def restore(tag: Tag, owner: Owner = None, as_json: Json = False) -> None:
    """Bring back the workflow that was removed last under this tag, with its history and its triggers."""
    with connect(owner) as client:
        back = client.restore_workflow(tag)
    if as_json:
        print_json(back)
    else:
        print(f"{plain(back['tag'])} is back at version {back['version']}.")


_RUNS: Mapping[str, Any] = workflow_runs.COMMANDS
for name, command in _RUNS.items():
    app.command(name)(command)


def _said(changed: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(changed)
        return
    workflow, patch = changed["workflow"], changed["patch"]
    print(f"{plain(workflow['tag'])} is at version {workflow['version']}. {plain(patch['description'])}".rstrip())
    print(f"Patch {patch['id']}", file=sys.stderr)


def _version_of(client: Any, tag: str) -> int | None:
    """The version that the workflow of this tag is at; None if there is none."""
    try:
        return int(client.workflow(tag)["version"])
    except NotFound:
        return None


def _document(tag: str, version: int | None, owner: str | None) -> dict[str, Any]:
    with connect(owner) as client:
        found = client.workflow(tag) if version is None else client.workflow_version(tag, version)
    document: dict[str, Any] = found["document"]
    return document


def _form(text: str) -> Form:
    if text not in ("json", "yaml"):
        raise BadInput(f"`{text[:20]}` is no format.", hint="Say json or yaml.")
    return "json" if text == "json" else "yaml"
