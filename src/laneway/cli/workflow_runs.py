"""`laneway workflow run|runs|retry|cancel|test|hook`: runs of workflows, started and looked into."""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import typer

from laneway.cli.connection import Before, Json, Limit, Owner, as_id, connect, text_of, whose
from laneway.cli.printing import between, local, more, one_line, plain, print_json, print_table
from laneway.errors import BadInput

Tag = Annotated[str, typer.Argument(help="The workflow's tag.")]
RunId = Annotated[str, typer.Argument(help="The run's id.")]
Input = Annotated[str | None, typer.Option("--input", help="Its input as a JSON object; - reads standard input.")]
Wait = Annotated[float, typer.Option(help="Seconds to wait for its end; 0 only starts it.", min=0)]
_OPEN = ("running",)


def run(tag: Tag, given: Input = None, wait: Wait = 30, owner: Owner = None, as_json: Json = False) -> None:
    """Run a workflow and show what became of it."""
    inputs = _object(given)
    with connect(owner) as client:
        started = client.run_workflow(tag, inputs)
        _shown(client, started["run_id"], wait, as_json)


def trial(
    tag: Tag,
    pinned: Annotated[str, typer.Option(help="Outputs by node id as a JSON object; - reads standard input.")] = "{}",
    given: Input = None,
    wait: Wait = 30,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """Try a workflow: pinned nodes give what you say, and nothing is sent, asked or changed."""
    with connect(owner) as client:
        started = client.test_workflow(tag, _object(pinned), _object(given))
        _shown(client, started["run_id"], wait, as_json)


def runs(
    which: Annotated[str, typer.Argument(help="A workflow's tag, or the id of one run to look into.")],
    status: Annotated[str | None, typer.Option(help="running, waiting, done, failed or cancelled.")] = None,
    limit: Limit = 20,
    before: Before = None,
    owner: Owner = None,
    as_json: Json = False,
) -> None:
    """List runs of a workflow, newest first; with a run's id, show its nodes."""
    with connect(owner) as client:
        if _is_id(which):
            return _show_run(client.workflow_run(which), _nodes(client, which), as_json)
        page = client.workflow_runs(which, status=status, limit=limit, before=before)
        triggers = client.workflow_triggers(which)["items"]
    if as_json:
        return print_json(page)
    rows = [
        (one["id"], one["status"], one["version"], one["cause"].get("type", ""), local(one["created_at"]),
         between(one["created_at"], one["finished_at"]), one_line((one["error"] or {}).get("message", ""), 60))
        for one in page["items"]
    ]  # fmt: skip
    titles = ("RUN", "STATUS", "VERSION", "STARTED BY", "CREATED", "TOOK", "ERROR")
    print_table(titles, rows, empty="There are no such runs.", wrapped="ERROR")
    if any(one["paused"] for one in triggers):
        print("Its schedule is paused: its runs failed again and again. It goes on when the workflow is changed,")
        print(f"or when a run of it ends well: `laneway workflow run {which}{whose(owner)}`.")
    for one in triggers:
        if one["problem"]:
            print(
                f"Trigger {one['number']} starts nothing ({local(one['problem_at'])}): {one_line(one['problem'], 300)}"
            )
    return more(page, f"laneway workflow runs {which}{whose(owner)}")


def retry(run: RunId, as_json: Json = False) -> None:
    """Try a failed run again, from its failed node."""
    _change(run, "retry", as_json)


def cancel(run: RunId, as_json: Json = False) -> None:
    """Stop a run and those it started."""
    _change(run, "cancel", as_json)


def hook(tag: Tag, owner: Owner = None, as_json: Json = False) -> None:
    """Make the address and secret of a workflow's webhook; the secret is shown once."""
    with connect(owner) as client:
        made = client.workflow_hook(tag)
        address = f"{client.url}{made['path']}"
    if as_json:
        return print_json({**made, "url": address})
    print(f"Address: {address}\nSecret:  {made['secret']}")
    return print("Sign TIMESTAMP.BODY with HMAC-SHA256 and the secret; the secret is not shown again.")


def event(
    name: Annotated[str, typer.Argument(help="Like price.changed.")],
    data: Annotated[
        str | None, typer.Option(help="What is known of it, as a JSON object; - reads standard input.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Your own id: the same again starts nothing again.")] = None,
    as_json: Json = False,
) -> None:
    """Tell workflows that something happened; those with a trigger for it run."""
    with connect() as client:
        told = client.tell_workflows(name, _object(data), id)
    if as_json:
        print_json(told)
    else:
        print(f"Told: {plain(told['event'])}.")


COMMANDS = {
    "run": run, "runs": runs, "retry": retry, "cancel": cancel, "test": trial, "hook": hook, "event": event,
}  # fmt: skip
"""What `laneway workflow` has of this file, by its name there."""


def _object(text: str | None) -> dict[str, Any]:
    from laneway.lanes.workflow.document import NotJson, strict

    try:
        value = strict(text_of(text)) if text else {}
    except NotJson as error:
        raise BadInput(error.message, hint="Write an object, like '{\"price\": 95}'.") from None
    if not isinstance(value, dict):
        raise BadInput("This is no JSON object.", hint="Write an object, like '{\"price\": 95}'.")
    return value


def _is_id(text: str) -> bool:
    try:
        as_id(text, "run")
    except BadInput:
        return False
    return True


def _run_id(text: str) -> str:
    try:
        return as_id(text, "run")
    except BadInput as error:
        raise BadInput(error.message, hint="`laneway workflow runs TAG` lists those of a workflow.") from None


def _change(run_id: str, what: str, as_json: bool) -> None:
    with connect() as client:
        found = client.change_workflow_run(_run_id(run_id), what)
    if as_json:
        print_json(found)
    else:
        print(f"Run {found['id']} is {found['status']}.")


def _shown(client: Any, run_id: str, wait: float, as_json: bool) -> None:
    deadline = time.monotonic() + wait
    found = client.workflow_run(run_id)
    while found["status"] in _OPEN and time.monotonic() < deadline:
        time.sleep(0.2)
        found = client.workflow_run(run_id)
    _show_run(found, _nodes(client, run_id), as_json)
    if found["status"] == "failed":
        raise typer.Exit(1)


def _nodes(client: Any, run_id: str) -> list[dict[str, Any]]:
    page = client.workflow_run_nodes(run_id, limit=200)
    found = list(page["items"])
    while page["next"]:
        page = client.workflow_run_nodes(run_id, limit=200, before=page["next"])
        found += page["items"]
    return found


def _show_run(found: dict[str, Any], nodes: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        return print_json({**found, "nodes": nodes})
    print(f"Run {found['id']} of {found['workflow']}, version {found['version']}: {found['status']}")
    if found["waits_for"]:
        print(f"It begins when the run before it, {found['waits_for']}, has ended.")
    if found["error"]:
        print(f"Error: {plain(found['error'].get('message', found['error']))}")
    rows = [
        (one["node"], one["type"], one["status"], one["attempts"], between(one["began_at"], one["ended_at"]),
         one_line((one["error"] or {}).get("message") or json.dumps(one["output"], ensure_ascii=False), 80))
        for one in nodes
    ]  # fmt: skip
    print_table(("NODE", "TYPE", "STATUS", "TRIES", "TOOK", "GAVE"), rows, empty="No node has begun.", wrapped="GAVE")
    return None
