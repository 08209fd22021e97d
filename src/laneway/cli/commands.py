"""All commands in one list, in the order `laneway --help` shows them."""

from __future__ import annotations

from typing import Annotated

import typer

from laneway.cli import (
    audit,
    budget,
    classify,
    config,
    hooks,
    host_mode,
    jobs,
    memories,
    outbox,
    people,
    pipeline,
    reminders,
    schedule,
    secrets,
    sessions,
    tasks,
    telegram,
    tools,
    waha,
    whatsapp,
    workflow,
)
from laneway.cli.approve import approvals, approve, permissions, reject
from laneway.cli.backup import backup, restore
from laneway.cli.chat import chat
from laneway.cli.correct import correct
from laneway.cli.doctor import doctor
from laneway.cli.guard import guard
from laneway.cli.ledger import ledger
from laneway.cli.logs import logs
from laneway.cli.messages import messages
from laneway.cli.rehearse import rehearse
from laneway.cli.run import run
from laneway.cli.selftest import command as selftest
from laneway.cli.send import send
from laneway.cli.sql import sql
from laneway.cli.stop import stop
from laneway.cli.threads import threads
from laneway.cli.undo import undo
from laneway.cli.up import up
from laneway.cli.version import version
from laneway.cli.watch import watch
from laneway.cli.why import why
from laneway.cli.worker import worker

COMMANDS = (
    up,
    worker,
    chat,
    send,
    messages,
    threads,
    why,
    correct,
    stop,
    undo,
    approvals,
    approve,
    reject,
    permissions,
    ledger,
    logs,
    sql,
    guard,
    rehearse,
    run,
    watch,
    doctor,
    backup,
    restore,
    version,
)
GROUPS = {
    "jobs": jobs.app,
    "schedule": schedule.app,
    "workflow": workflow.app,
    "reminders": reminders.app,
    "tasks": tasks.app,
    "memories": memories.app,
    "outbox": outbox.app,
    "budget": budget.app,
    "tools": tools.app,
    "telegram": telegram.app,
    "waha": waha.app,
    "sessions": sessions.app,
    "audit": audit.app,
    "classify": classify.app,
    "pipeline": pipeline.app,
    "config": config.app,
    "secrets": secrets.app,
    "people": people.app,
    "host-mode": host_mode.app,
    "whatsapp": whatsapp.app,
    "hooks": hooks.app,
    "selftest": selftest.app,
}
"""Commands with commands of their own; a new group is one line here."""

# Plain help: it is there at once, and reads the same in the documentation.
app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
)
for command in COMMANDS:
    app.command(command.__name__)(command)
for name, group in GROUPS.items():
    app.add_typer(group, name=name)


def _show_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def laneway(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Laneway: one durable front door for AI agents.

    Commands find the server by LANEWAY_URL and LANEWAY_KEY, else by the data directory LANEWAY_HOME (~/.laneway).
    """
