"""`laneway sessions`: other agents' sessions on this machine, found and read without a server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json
from laneway.cli.printing import local, one_line, plain, print_json, print_table
from laneway.cli.review import review
from laneway.errors import BadInput, NotFound

if TYPE_CHECKING:
    from laneway.domain.session import SessionEvent
    from laneway.observe.discovery import Found
    from laneway.observe.report import Report

app = typer.Typer(help="Read sessions of Claude Code, Codex, Gemini CLI, …", no_args_is_help=True)

Provider = Annotated[
    str | None, typer.Option(help="Only this one: claude-code, codex, gemini-cli, copilot-cli, opencode or pi.")
]
_MARKS = {"user": ">", "assistant": "<", "thinking": "~", "tool_called": "$", "tool_ended": "=", "error": "!"}


@app.command("list")
def list_(
    provider: Provider = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50,
    side: Annotated[bool, typer.Option("--all", help="Sub-agents' sessions, too.")] = False,
    as_json: Json = False,
) -> None:
    """List the sessions found on this machine, the one that changed last first.

    Looks where the agents keep them: CLAUDE_CONFIG_DIR (else ~/.claude), CODEX_HOME, GEMINI_DATA_DIR, COPILOT_HOME,
    OPENCODE_DATA_DIR, PI_CODING_AGENT_DIR. No server is needed.
    """
    from laneway.observe.discovery import discover, known_provider

    sessions = [one for one in discover(os.environ, known_provider(provider)) if side or not one.side][:limit]
    if as_json:
        print_json([_place(one) for one in sessions])
        return
    rows = [(one.provider, one.name, local(one.changed_at.isoformat()), _size(one.size), one.path) for one in sessions]
    print_table(
        ("provider", "session", "changed", "size", "file"), rows, empty="No sessions were found.", wrapped="file"
    )


@app.command()
def show(
    session: Annotated[str, typer.Argument(help="A file, or the beginning of a session's id.")],
    last: Annotated[int, typer.Option(min=1, help="How many events at most, the last ones.")] = 200,
) -> None:
    """Show what happened in a session, one event a line; secrets are left out."""
    from laneway.observe.read import read
    from laneway.observe.tail import whole

    found = find(session)
    _head(read(found.path), found)
    events = [event for event in whole(found.path, session_id=found.session_id) if _worth_showing(event)]
    if len(events) > last:
        print(f"… {len(events) - last} earlier events")
    for event in events[-last:]:
        print(_line(event))


@app.command()
def read(
    files: Annotated[list[Path], typer.Argument(help="Logs, documents, OpenCode's storage folder or its database.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per file, each on its line.")] = False,
) -> None:
    """Count what is in sessions' files: turns, messages, tool calls, errors, and tokens, each of them once.

    Any file can be given: what is broken, cut off, empty or of a kind nobody knows is said in its report.
    Exit code 1 if a file could not be opened at all.
    """
    from laneway.observe.read import read as read_file

    unread = False
    for file in files:
        report = read_file(file)
        unread |= report.error is not None
        if as_json:
            _write(report.as_json())
        else:
            _say(report)
    raise typer.Exit(int(unread))


app.command()(review)


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count / 1000:.1f} kB" if count else ""


def _place(found: Found) -> dict[str, Any]:
    return {
        "provider": found.provider,
        "session": found.name,
        "file": str(found.path),
        "changed_at": found.changed_at.isoformat(),
        "bytes": found.size,
        "sub_agent": found.side,
    }


def find(named: str) -> Found:
    """The session a person means: a file, or one whose id or file name begins or ends so."""
    from laneway.observe.discovery import discover, found_at, is_named

    for found in found_at("", Path(named)):
        return found
    fitting = [one for one in discover(os.environ) if is_named(one.name, named)]
    if not fitting:
        raise NotFound(f"There is no session `{named[:80]}`.", hint="`laneway sessions list` shows them.")
    if len({(one.path, one.session_id) for one in fitting}) > 1:
        raise BadInput(f"{len(fitting)} sessions begin with `{named[:80]}`.", hint="Give more of its id, or the file.")
    return fitting[0]


def _write(value: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()


def _say(report: Report) -> None:
    """The report is printed for people."""
    told = report.as_json()
    tokens, calls = told["tokens"], told["tool_calls"]
    print(f"{plain(told['file'])}: {told['provider']}, session {plain(told['session_id']) or '?'}")
    if "lines" in told:
        print(f"  lines       {told['lines']}, {told['malformed_lines']} malformed, {told['blank_lines']} blank")
    print(f"  turns       {told['user_turns']} by a person, {told['assistant_messages']} answers")
    names = ", ".join(f"{plain(name)} {count}" for name, count in calls["by_name"].items())
    print(f"  tool calls  {calls['total']}, {told['tool_errors']} failed{': ' + names if names else ''}")
    print(
        f"  tokens      {tokens['input']:,} in, {tokens['output']:,} out, "
        f"{tokens['cache_read']:,} from cache, {tokens['cache_write']:,} to cache"
    )
    if told["models"]:
        print(f"  models      {plain(', '.join(told['models']))}")
    if told["first_time"]:
        print(f"  time        {plain(told['first_time'])} to {plain(told['last_time'])}")
    for note in (*told["uncertain"], *told["warnings"]):
        print(f"  note        {plain(note)}")


def _head(report: Report, found: Found) -> None:
    if found.session_id is None:
        _say(report)
    else:
        print(f"{plain(found.path)}: {report.provider}, session {plain(found.session_id)}")
    print()


def _worth_showing(event: SessionEvent) -> bool:
    return event.kind.value in _MARKS or event.kind.value in {"compacted", "ended"}


def _line(event: SessionEvent) -> str:
    from laneway.domain.keepable import keepable

    what = event.text
    if event.kind.value == "tool_called":
        what = f"{event.tool} {json.dumps(keepable(event.arguments), ensure_ascii=False)}"
    elif event.kind.value == "tool_ended":
        what = f"{'failed: ' if event.failed else ''}{event.text}"
    mark = _MARKS.get(event.kind.value, f"[{event.kind.value}]")
    return f"{event.at.astimezone():%H:%M:%S} {'  ' if event.side else ''}{mark} {one_line(what, 160)}"
