"""`laneway workflow patch`: a change in words or as JSON Patch, shown first and stored after a yes."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json, Owner, connect, text_of
from laneway.cli.printing import plain, print_json
from laneway.cli.workflow_check import Check
from laneway.cli.workflow_files import read_value
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.client import Client

LONGEST_WAIT = 300.0


def patch(
    tag: Annotated[str | None, typer.Argument(help="The workflow's tag; a new one makes a new workflow.")] = None,
    words: Annotated[
        str | None, typer.Argument(help="What shall be different, in words; - reads standard input.")
    ] = None,
    operations: Annotated[
        str | None, typer.Option(help="A file with JSON Patch operations instead of words; - reads standard input.")
    ] = None,
    description: Annotated[str, typer.Option(help="With --operations: what is different afterwards.")] = "",
    valid_until: Annotated[
        str | None, typer.Option(help="With --operations: an ISO time at which it undoes itself.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --operations: only show what it would do.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Store it without asking.")] = False,
    check: Check = False,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """Change a workflow: see first what would change and which runs would have ended differently, then say yes."""
    if tag is None or (words is None) == (operations is None):
        raise BadInput(
            "Say the tag, and the change in words or with --operations.", hint="`laneway workflow patch --help`"
        )
    with connect(owner) as client:
        if operations is not None:
            _by_operations(client, tag, operations, description, valid_until, dry_run=dry_run, yes=yes, as_json=as_json)
        elif dry_run:
            raise BadInput(
                "--dry-run goes with --operations.", hint="A change in words is shown before it is stored anyway."
            )
        else:
            _by_words(client, tag, text_of(str(words)), owner, yes=yes, as_json=as_json)


def _by_operations(
    client: Client, tag: str, file: str, description: str, until: str | None, *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    steps = read_value(file)
    if not isinstance(steps, list):
        raise BadInput(f"{file} holds no list of operations.", hint='Write [{"op": "add", "path": …, "value": …}].')
    tried = client.patch_workflow(tag, steps, description=description, valid_until=until, dry_run=True)
    if not as_json:
        _print_preview(tried["preview"])
    if dry_run:
        if as_json:
            print_json(tried)
        return
    if not (yes or _agreed()):
        print("Nothing was stored.")
        raise typer.Exit(1)
    base = tried["preview"]["base_version"]
    made = client.patch_workflow(tag, steps, description=description, valid_until=until, base_version=base)
    if as_json:
        print_json(made)
    else:
        print(f"{plain(tag)} is at version {made['workflow']['version']}. Patch {made['patch']['id']}.")


def _by_words(client: Client, tag: str, words: str, owner: str | None, *, yes: bool, as_json: bool) -> None:
    """The words go the way of a message; what is asked on it is answered here."""
    runner = {"workflow_tag": tag, "workflow_owner": owner}
    receipt = client.send(words, lane="workflow", channel="console", payload={"runner": runner})
    shown = ""
    while (job := _rested(client, receipt["job_id"]))["status"] == "waiting":
        asked = [one for one in client.approvals(state="pending")["items"] if one["job_id"] == job["id"]]
        if not asked:
            time.sleep(0.1)
            continue
        shown = _last_reply(client, receipt["message_id"])
        if not as_json:
            print(plain(shown))
        client.answer(asked[0]["id"], "approve" if yes or _agreed() else "reject")
    if as_json:
        print_json(job)
    else:
        print(plain(_last_reply(client, receipt["message_id"])))
    if job["status"] != "done" or (job["result"] or {}).get("failed"):
        raise typer.Exit(1)


def _rested(client: Client, job_id: str) -> dict[str, Any]:
    """The job once it has ended or waits."""
    until = time.monotonic() + LONGEST_WAIT
    while (job := client.job(job_id))["status"] in ("queued", "running"):
        if time.monotonic() > until:
            raise BadInput(f"Job {job_id} takes long.", hint=f"`laneway jobs show {job_id}` says how it is.")
        time.sleep(0.1)
    return job


def _last_reply(client: Client, message_id: str) -> str:
    replies = client.message(message_id)["replies"]
    return str(replies[-1]["text"]) if replies else ""


def _agreed() -> bool:
    if not sys.stdin.isatty():
        # What is piped in is the answer.
        said = sys.stdin.readline().strip().lower()
        if not said:
            print("Nobody is here to ask, so it is not stored; --yes stores it.", file=sys.stderr)
        return said in ("y", "yes")
    return typer.confirm("Store it?", default=False)


def _print_preview(preview: dict[str, Any]) -> None:
    print(plain(f"{preview['workflow']}, version {preview['base_version']} → {preview['version']}"))
    for line in preview["changes"]:
        print(plain(f"- {line}"))
    for line in preview["notes"]:
        print(plain(f"Note: {line}"))
    if preview["replayed"]:
        different = preview["would_end_differently"]
        print(f"Of the last {preview['replayed']} runs, {len(different) or 'none'} would have ended differently.")
        for one in different:
            then, now = ", ".join(one["then"]["nodes"]), ", ".join(one["now"]["nodes"])
            print(
                plain(f"- run {one['run']}: {one['then']['status']} at {then}; it was {one['now']['status']} at {now}")
            )
        if preview["cannot_tell"]:
            print(f"Of {len(preview['cannot_tell'])} it cannot be told from here.")
