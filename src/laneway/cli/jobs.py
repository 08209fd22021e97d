"""`laneway jobs`: what is queued, running, waiting and done; one job in full; a failed one once more."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from laneway.cli.connection import Before, Json, Limit, as_id, connect, thread_id
from laneway.cli.printing import between, lasting, local, money, more, one_line, plain, print_json, print_table

app = typer.Typer(help="List jobs, show one, retry a failed one.", invoke_without_command=True)

Status = Annotated[str | None, typer.Option(help="queued, running, waiting, done, failed or cancelled.")]
Failed = Annotated[bool, typer.Option("--failed", help="Only failed ones.")]
InThread = Annotated[str | None, typer.Option("--thread", help="Only those of one thread (name or id).")]


@app.callback()
def jobs(
    context: typer.Context,
    status: Status = None,
    failed: Failed = False,
    thread: InThread = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List jobs, newest first; `show ID` and `retry ID` are for one."""
    if context.invoked_subcommand is None:
        _list("failed" if failed else status, thread, limit, before, as_json)


@app.command("list")
def list_jobs(
    status: Status = None,
    failed: Failed = False,
    thread: InThread = None,
    limit: Limit = 20,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    _list("failed" if failed else status, thread, limit, before, as_json)


@app.command()
def show(job: Annotated[str, typer.Argument(help="Its id.")], as_json: Json = False) -> None:
    """Show one job: its steps, model calls, approvals and what happened."""
    with connect() as client:
        found = client.job(as_id(job, "job"))
    if as_json:
        print_json(found)
    else:
        _describe(found)


@app.command()
def retry(job: Annotated[str, typer.Argument(help="The id of a failed job.")], as_json: Json = False) -> None:
    """Queue a failed job again; it goes on from its last good step."""
    with connect() as client:
        found = client.retry_job(as_id(job, "job"))
    if as_json:
        print_json(found)
    else:
        print(f"Job {found['id']} is {found['status']} again.")


def _list(status: str | None, thread: str | None, limit: int, before: str | None, as_json: bool) -> None:
    with connect() as client:
        of_thread = thread_id(client, thread) if thread else None
        page = client.jobs(status=status, thread=of_thread, limit=limit, before=before)
    if as_json:
        print_json(page)
        return
    rows = [
        (job["id"], job["status"], job["mode"], job["lane"], job["run"], local(job["created_at"]),
         between(job["started_at"], job["finished_at"]), one_line((job["error"] or {}).get("message", ""), 60))
        for job in page["items"]
    ]  # fmt: skip
    titles = ("JOB", "STATUS", "MODE", "LANE", "RUNS", "CREATED", "TOOK", "ERROR")
    print_table(titles, rows, empty="There are no such jobs.", wrapped="ERROR")
    more(page, "laneway jobs")


def _describe(job: dict[str, Any]) -> None:
    judged = job.get("classification")
    print(f"Job {job['id']}: {job['status']}, mode {job['mode']}, lane {job['lane'] or 'by classification'}")
    print(f"Message {job['message_id']}, thread {job['thread_id']}")
    print(f"Created {local(job['created_at'])}, took {between(job['started_at'], job['finished_at']) or '…'}")
    if judged:
        print(f"Classified by {judged['decided_by']} ({judged['confidence']:.0%}): {plain(judged['summary'])}")
    if job["error"]:
        print(f"Error: {plain(job['error'].get('message', job['error']))}")
    print_table(("STEP", "RUN", "BEGAN", "TOOK", ""), [_step(step) for step in job["steps"]], empty="No steps yet.")
    if job["ledger"]:
        print_table(("MODEL", "TOKENS IN", "OUT", "COST", "STATE"), [_call(row) for row in job["ledger"]], empty="")
    for approval in job["approvals"]:
        print(f"Approval {approval['id']}: {approval['state']}: {plain(approval['why'])}")


def _step(step: dict[str, Any]) -> tuple[object, ...]:
    began = local(step["began"], precise=True)
    return step["name"], step["run"], began, lasting(step["milliseconds"]), "failed" if step["failed"] else ""


def _call(row: dict[str, Any]) -> tuple[object, ...]:
    return row["model"], row["tokens_input"], row["tokens_output"], money(row["cost"]), row["state"]
