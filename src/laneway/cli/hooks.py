"""`laneway hooks`: has other agents ask Laneway before a tool runs, or no longer."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json
from laneway.cli.home import address_of_up
from laneway.domain.hook_key import HOOK_KEY_FILE
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.cli.agent_settings import SettingsFile
    from laneway.cli.hook_entries import Wanted
    from laneway.settings import Settings

app = typer.Typer(help="Have other agents ask Laneway before a tool runs.", no_args_is_help=True)


class Agent(StrEnum):
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"


class Scope(StrEnum):
    USER = "user"
    PROJECT = "project"


class Transport(StrEnum):
    AUTO = "auto"
    COMMAND = "command"
    HTTP = "http"


AgentOption = Annotated[Agent, typer.Option("--agent", help="Which agent.")]
ScopeOption = Annotated[Scope, typer.Option("--scope", help="For you everywhere, or for the project in this folder.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")]


@app.command()
def install(
    agent: AgentOption = Agent.CLAUDE_CODE,
    scope: ScopeOption = Scope.USER,
    transport: Annotated[
        Transport, typer.Option(help="How Claude Code reaches Laneway; docs/hooks.md says what each means.")
    ] = Transport.AUTO,
    dry_run: DryRun = False,
) -> None:
    """Put Laneway's hooks into the settings of an agent; its other hooks stay, and a copy of the file is kept.

    Doing it again changes nothing, unless a setting of Laneway's (hooks.when_down, …) has changed since.
    """
    from laneway.cli.agent_settings import SettingsFile
    from laneway.cli.hook_entries import merged
    from laneway.settings import Settings

    settings = Settings.load()
    file = SettingsFile(_path(agent, scope))
    tree = merged(file.tree, _wanted(agent, scope, transport, settings))
    if tree == file.tree:
        print(f"Laneway's hooks are in {file.path} already.")
        return
    content = file.text_of(tree)
    if dry_run:
        _show_difference(file, content)
        return
    _make_key(settings)
    kept = file.write(content, backup=True)
    print(f"Laneway's hooks are in {file.path}." + (f" The file as it was: {kept.name}." if kept else ""))
    _what_next(agent)


@app.command()
def uninstall(agent: AgentOption = Agent.CLAUDE_CODE, scope: ScopeOption = Scope.USER, dry_run: DryRun = False) -> None:
    """Take Laneway's hooks out of the settings of an agent; nothing else in the file changes."""
    from laneway.cli.agent_settings import SettingsFile
    from laneway.cli.hook_entries import ours

    file = SettingsFile(_path(agent, scope))
    if not ours(file.tree, agent):
        print(f"There are no hooks of Laneway's in {file.path}.")
        return
    content = _before_us(file, agent)
    if dry_run:
        _show_difference(file, content or b"")
    elif content is None:
        file.remove()
        print(f"Laneway's hooks are gone, and so is {file.path}: nothing else stood in it.")
    else:
        file.write(content, backup=True)
        print(f"Laneway's hooks are gone from {file.path}.")


@app.command()
def status(scope: ScopeOption = Scope.USER, as_json: Json = False) -> None:
    """Show for each agent whether its hooks are in place, and whether the server takes their key.

    The exit code is 1 if hooks are in place that Laneway does not answer.
    """
    from laneway.cli.hook_status import examined
    from laneway.cli.printing import print_json, print_table
    from laneway.settings import Settings

    settings = Settings.load()
    found = [
        examined(agent, _path(agent, scope), _wanted(agent, scope, Transport.AUTO, settings), settings.home)
        for agent in Agent
    ]
    if as_json:
        print_json(found)
    else:
        rows = [(one["agent"], one["state"], one["server"], one["file"]) for one in found]
        print_table(("AGENT", "HOOKS", "SERVER", "FILE"), rows, empty="", wrapped="FILE")
    if any(one["state"] != "none" and one["server"] != "answers" for one in found):
        raise typer.Exit(1)


@app.command(context_settings={"ignore_unknown_options": True})
def call(
    agent: Annotated[Agent, typer.Argument(help="Who calls.")],
    options: Annotated[list[str] | None, typer.Argument(help="What `install` wrote behind it.")] = None,
) -> None:
    """What an agent's hook runs: passes standard input on to Laneway and prints its answer.

    The exit code is 2 if the call is denied, else 0. While Laneway does not answer, hooks.when_down decides.
    """
    from laneway.cli.hook_call import run

    raise typer.Exit(run([agent, *(options or ())]))


def _path(agent: Agent, scope: Scope) -> Path:
    from laneway.cli.hook_entries import settings_path

    return settings_path(agent, scope, os.environ, Path.cwd())


def _wanted(agent: Agent, scope: Scope, transport: Transport, settings: Settings) -> Wanted:
    from laneway.cli.hook_entries import KEY_VARIABLE, Wanted, command_of

    if transport is Transport.HTTP and agent is not Agent.CLAUDE_CODE:
        raise BadInput(f"Hooks of {agent} are commands; it calls no address.", hint="Leave --transport out.")
    command = command_of(agent, _program(), settings.home, settings.hooks_when_down, settings.hooks_cannot_ask)
    by_http = agent is Agent.CLAUDE_CODE and transport is not Transport.COMMAND and scope is Scope.USER
    if transport is Transport.AUTO and not os.environ.get(KEY_VARIABLE):
        # The key would have to stand in the file; a command finds it where only its owner reads.
        by_http = False
    url = f"{_address(settings)}/hooks/{agent}" if by_http or transport is Transport.HTTP else ""
    return Wanted(agent, command, url, transport is Transport.HTTP or settings.hooks_when_down == "allow")


def _address(settings: Settings) -> str:
    given = os.environ.get("LANEWAY_URL") or address_of_up(settings.home)
    return (given or f"http://127.0.0.1:{settings.port or 8600}").rstrip("/")


def _program() -> str:
    """This Laneway, by a path that holds wherever the agent runs."""
    beside = Path(sys.executable).with_name("laneway")
    found = str(beside) if beside.is_file() else shutil.which("laneway")
    return shlex.quote(found) if found else f"{shlex.quote(sys.executable)} -m laneway"


def _make_key(settings: Settings) -> None:
    """There is a key for hooks, readable by its owner only."""
    path = settings.home / HOOK_KEY_FILE
    if settings.hooks_key is not None or path.exists():
        return
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"lw_hooks_{secrets.token_urlsafe(32)}\n")


def _before_us(file: SettingsFile, agent: Agent) -> bytes | None:
    """The file without our hooks: byte for byte as it was before them, if nothing else has changed; None if empty."""
    from laneway.cli.agent_settings import SettingsFile
    from laneway.cli.hook_entries import ours, without

    left = without(file.tree, agent)
    for backup in file.backups():
        try:
            earlier = SettingsFile(backup)
        except BadInput:
            continue
        if earlier.before is not None and not ours(earlier.tree, agent) and _the_same(earlier.tree, left, agent):
            return earlier.before
    return file.text_of(left) if left else None


def _the_same(earlier: dict[str, Any], left: dict[str, Any], agent: Agent) -> bool:
    """Whether the file, after we came and went, says what is left now; an empty list may have gone with us."""
    from laneway.cli.hook_entries import Wanted, command_of, merged, without

    return (
        without(merged(earlier, Wanted(agent, command_of(agent, "laneway", Path("/"), "ask", "deny"))), agent) == left
    )


def _show_difference(file: SettingsFile, content: bytes) -> None:
    import difflib

    before, after = (
        (text or b"").decode("utf-8", "replace").splitlines(keepends=True) for text in (file.before, content)
    )
    lines: Any = difflib.unified_diff(before, after, str(file.path), f"{file.path} (changed)")
    sys.stdout.writelines(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _what_next(agent: Agent) -> None:
    if agent is Agent.CODEX:
        print("Codex runs new hooks only after you have trusted them: open it and type /hooks.")
    else:
        print("They count in sessions that begin now.")
