"""`laneway guard`: the guard's verdict on a command, or on lines of commands and tool calls; no server is asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from laneway.cli.home import home_of
from laneway.domain.action import Verdict, ask

if TYPE_CHECKING:
    from laneway.reactors import Chain

_LONGEST_LINE = 4_000_000
_EXIT = {"allow": 0, "ask": 1, "deny": 2}


def guard(
    command: Annotated[str | None, typer.Argument(help="The command; without it, standard input is read.")] = None,
    cwd: Annotated[
        str | None, typer.Option(help="The folder it would run in; its repository is its workspace.")
    ] = None,
) -> None:
    """Say whether a command may run: allow, ask or deny.

    Each verdict names its rule and a reason; tool calls of other agents are judged as well. A reactor or rule of your
    own (LANEWAY_HOME/reactors) that would end a session for a call denies it; what else they say is on standard error.

    Standard input holds one command, or JSON lines: {"command": …, "cwd"?: …} or {"tool": …, "input": {…}, "cwd"?: …}.
    Each is answered by one line {"verdict": …, "rule": …, "why": …} at once; a line that is neither is answered with
    "ask" and the rule "malformed". Nothing is run, and no server is needed.

    Exit code for one command: 0 allow, 1 ask, 2 deny. For JSON lines: 0.
    """
    own = _own_reactors()
    if command is not None:
        raise typer.Exit(_EXIT[_say(_judge("Bash", {"command": command}, cwd, own))])
    lines = _lines(sys.stdin.buffer)
    first = next(lines, None)
    if first is None:
        raise typer.Exit(_EXIT[_say(ask("malformed", "There is nothing to judge."))])
    if not _is_json(first):
        rest = list(lines)
        if not any(_is_json(line) for line in rest):
            text = b"".join([first, *rest]).decode("utf-8", "replace")
            raise typer.Exit(_EXIT[_say(_judge("Bash", {"command": text}, cwd, own))])
        lines = iter(rest)
    for line in chain([first], lines):
        if line.strip():
            _say(_line(line, cwd, own))


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """Each line of a stream, one too long for anybody cut off."""
    while line := source.readline(_LONGEST_LINE):
        kept = line
        while line and not line.endswith(b"\n"):
            line = source.readline(_LONGEST_LINE)
        yield kept


def _is_json(line: bytes) -> bool:
    """Whether a line is meant as JSON; a shell command may begin with a brace, but not with a brace and a quote."""
    text = line.strip()
    if text.startswith(b"{") and text[1:].lstrip()[:1] in (b'"', b"}"):
        return True
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _line(line: bytes, cwd: str | None, own: Chain) -> Verdict:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        return ask("malformed", "The line is not JSON.")
    if not isinstance(given, dict):
        return ask("malformed", "The line is no JSON object.")
    folder = given.get("cwd", cwd)
    if folder is not None and not isinstance(folder, str):
        return ask("malformed", "cwd is not a text.")
    if "tool" in given or "tool_name" in given:
        tool, arguments = given.get("tool", given.get("tool_name")), given.get("input", given.get("tool_input", {}))
        if not isinstance(tool, str) or not tool.strip() or not isinstance(arguments, dict):
            return ask("malformed", "A tool call needs a tool and an input object.")
        return _judge(tool, arguments, folder, own)
    command = given.get("command")
    if not isinstance(command, str) or not command.strip():
        return ask("malformed", "The line names neither a command nor a tool.")
    return _judge("Bash", {"command": command}, folder, own)


def _own_reactors() -> Chain:
    """The owner's own; the folder's settings, which are the agent's as much as the person's, have no say in it."""
    from laneway.domain.session import SessionState
    from laneway.reactors import Chain
    from laneway.reactors.options import chosen
    from laneway.settings import Settings

    own = chosen(Settings.load(here=home_of(os.environ))).own
    for fault in own.faults:
        print(f"No reactors from {fault.reactor}: {fault.error}", file=sys.stderr)
    return Chain(SessionState("guard", "guard"), own.make())


def _judge(tool: str, arguments: dict[str, Any], cwd: str | None, own: Chain) -> Verdict:
    """The guard's verdict, unless one of the owner's own reactors denies the call."""
    from laneway.clock import SystemClock
    from laneway.domain.session import EventKind, SessionEvent
    from laneway.observe.notify import said_words
    from laneway.reactors.chain import denied_by
    from laneway.sandbox.commands import judge_tool

    verdict = judge_tool(tool, arguments, cwd)
    call = SessionEvent(
        "guard", "guard", EventKind.TOOL_CALLED, SystemClock().now(), tool=tool, arguments=arguments, cwd=cwd or ""
    )
    said = own.handle(call)
    denied = denied_by(said)
    for one in said if denied is None else ():
        print(f"{one.reactor}: {said_words(one)}", file=sys.stderr)
    return verdict if denied is None else verdict.or_stricter(denied)


def _say(verdict: Verdict) -> str:
    """The verdict has been written, and its word comes back."""
    line = json.dumps({"verdict": verdict.decision.value, "rule": verdict.rule, "why": verdict.why}, ensure_ascii=False)
    sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
    sys.stdout.buffer.flush()
    return verdict.decision.value
