"""Tool calls of other agents: paths they write, read and delete, commands they run, addresses they fetch.

Every agent names its tools in its own way; what a call means is told by the name's verb and by the names of its
arguments. A path counts where it leads, symbolic links included wherever they can be looked at.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from laneway.domain.action import Verdict
from laneway.sandbox.shell.holes import RESERVED, shown
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.hosts import METADATA
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.programs.secrets import secret_file
from laneway.sandbox.shell.programs.sql import sql_findings
from laneway.sandbox.shell.rules import Finding, verdict
from laneway.sandbox.shell.scope import UNNAMED, Scope, opened

JudgeCommand = Callable[[str, str | None], Verdict]
_SHELL = re.compile(
    r"(?i)(bash|shell|shell_?command|local_?shell|run_?bash_?command|exec_?command|run_?shell_?command|execute_?command|run_?command|terminal|run_?in_?terminal|run_terminal_cmd|unified_exec|execute_bash|powershell|start_process|shell_exec)"
)
_READS = re.compile(
    r"(?i)(read|view|get|list|search|find|show|describe|status|grep|glob|ls|cat|open|fetch|query|web|stat|head|inspect|info|notebookread|todoread|browse|lookup|resolve|check|diff|log|count|preview|explain)"
)
_DELETES = re.compile(r"(?i)(delete|remove|unlink|rmdir|rm|destroy|drop|purge|trash|wipe|terminate|truncate|clear)")
_WRITES = re.compile(
    r"(?i)(write|edit|create|update|append|save|patch|replace|insert|move|rename|copy|mkdir|put|upload|set|make|add|apply|modify|touch|export|download)"
)
_SENDS = re.compile(r"(?i)(send|publish|post|push|deploy|merge|share|email|tweet|release|transfer|pay|invite|upload)")
_QUIET = re.compile(
    r"(?i)(todo_?(write|read)|task|exitplanmode|enterplanmode|askuserquestion|ask_user|skill|web_?search|google_web_search|update_plan|bash_?output|kill_?(shell|bash)|"
    r"slashcommand|tool_?search|sequentialthinking|think|save_memory|listmcpresources\w*|taskoutput|agent|write_todos|request_user_input|view_image|write_stdin|update_topic)"
)
_PATHS = re.compile(
    r"(?i)(file_?path|path|filename|file|notebook_path|absolute_path|abs_path|relative_path|target_file|dir(ectory)?|dir_path|folder|root|destination|dest|target|source|src|new_path|old_path|from|to|output(_path)?|input_path|filepath|uri|paths|files|relative_workspace_path)"
)
_FILE_SEARCH = re.compile(r"(?i)glob|(find|search|list)_?(by_?name|files)")
_GLOBS = frozenset(
    {"pattern", "patterns", "glob", "globs", "glob_pattern", "include", "include_pattern", "file_pattern"}
)
_SOURCES = re.compile(r"(?i)(source|src|from|old_path|input_path)")
_ADDRESSES = re.compile(r"(?i)(url|urls|uri|address|endpoint|href|link|prompt_url)")
_ELSEWHERE = re.compile(r"(?i)(https?|wss?|s3|gs|git|ssh)://")
_HIDING = re.compile("[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2060\u2028\u2029\ufeff]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_PATCHED = re.compile(
    r"(?m)^\*\*\* (Add|Update|Delete) File: (.*)$|^\*\*\* (Move) to: (.*)$|^(\+\+\+|---) (?:[ab]/)?([^\t\n]+)"
)


def judged_tool(
    tool: str, given: Mapping[str, Any], cwd: str | None, judge: JudgeCommand, project: str | None = None
) -> Verdict:
    """Whether a tool call may run in a folder; that is its workspace, unless the project begins further up."""
    name = _bare_name(tool)
    command = command_of(given)
    if _SHELL.fullmatch(name) and "path" not in given:
        return _shell(command, given, cwd, judge, project or cwd)
    scope = opened(cwd, project=project)
    if re.fullmatch(r"(?i)apply_?patch|patch", name):
        return verdict(_patched(_text(given), scope), changes=True)
    if _QUIET.fullmatch(name):
        return verdict([], changes=False)
    if re.match(r"(?i)str_replace", name):
        name = {"view": "view", "undo_edit": "edit"}.get(str(given.get("command")), "edit")
        command = None
    verb = _verb(name, given)
    findings = [*_called(verb, name, given, scope)]
    if command is not None and verb != "read":
        inner = _shell(command, given, cwd, judge, project or cwd)
        return inner.or_stricter(verdict(findings, changes=True))
    return verdict(findings, changes=verb != "read")


def _bare_name(tool: str) -> str:
    return tool.rpartition("__")[2] if tool.startswith("mcp__") else tool.rpartition(".")[2]


def kind_of(tool: str, given: Mapping[str, Any]) -> str:
    """What a tool does: exec, quiet (nothing outside the conversation), read, write, delete, send or unknown."""
    name = _bare_name(tool)
    if _SHELL.fullmatch(name) and "path" not in given:
        return "exec"
    if re.fullmatch(r"(?i)apply_?patch|patch", name):
        return "write"
    if _QUIET.fullmatch(name):
        return "quiet"
    if re.match(r"(?i)str_replace", name):
        return "read" if given.get("command") == "view" else "write"
    return _verb(name, given)


def paths_of(given: Mapping[str, Any]) -> list[str]:
    """The paths on this machine that the arguments name."""
    named = [path for key, path in _values(given) if _PATHS.fullmatch(key)]
    return [path for path in named if path.strip() and not _ELSEWHERE.match(path)]


def patterns_of(tool: str, given: Mapping[str, Any]) -> list[str]:
    """The patterns of paths that a search for files is given."""
    keys = _GLOBS if _FILE_SEARCH.search(_bare_name(tool)) else _GLOBS - {"pattern"}
    return [text for key, text in _values(given) if key.lower() in keys and text.strip()]


def command_of(given: Mapping[str, Any]) -> str | None:
    """The shell command among the arguments."""
    for key in ("command", "cmd", "script", "commands", "input_command", "code"):
        value = given.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return shlex.join(value)
    action = given.get("action")
    return command_of(action) if isinstance(action, dict) else None


def _shell(
    command: str | None, given: Mapping[str, Any], cwd: str | None, judge: JudgeCommand, workspace: str | None
) -> Verdict:
    if command is None:
        return verdict([Finding("unknown-tool", "The call names no command.")], changes=True)
    folders = (given.get(key) for key in ("workdir", "cwd", "directory", "working_directory", "dir_path"))
    folder = next((one for one in folders if isinstance(one, str) and one), None)
    more = given.get("sandbox_permissions") in ("require_escalated", "with_additional_permissions")
    asked = Finding("escalation", "The call asks its person to run outside the agent's sandbox.")
    leaving = [asked] if more or given.get("with_escalated_permissions") is True else []
    if given.get("dangerouslyDisableSandbox") is True:
        leaving.append(Finding("guard-off", "The call asks to run outside the sandbox."))
    folder = os.path.join(cwd or "", folder) if folder else cwd  # noqa: PTH118  its last word may be ".."
    inner = judge(f"cd {shlex.quote(folder)}\n{command}" if folder and folder != workspace else command, workspace)
    if "apply_patch" in command and "*** Begin Patch" in command:
        scope = opened(folder or ".", project=workspace or UNNAMED)
        inner = inner.or_stricter(verdict(_patched(command, scope), changes=True))
    return inner.or_stricter(verdict(leaving, changes=True)) if leaving else inner


def _verb(name: str, given: Mapping[str, Any]) -> str:
    """What a tool does, by the words of its name: read, delete, write, send, or nobody knows."""
    words = [word for word in re.split(r"[_\-.\s]+|(?<=[a-z])(?=[A-Z])", name) if word]
    for word in words:
        for verb, pattern in (("delete", _DELETES), ("send", _SENDS), ("write", _WRITES), ("read", _READS)):
            if pattern.fullmatch(word):
                return verb
    if re.search(r"(?i)edit|write|create", name):
        return "write"
    if re.search(r"(?i)fetch|read|search|list", name):
        return "read"
    return "write" if any(_PATHS.fullmatch(key) for key in given) else "unknown"


def _called(verb: str, name: str, given: Mapping[str, Any], scope: Scope) -> Iterator[Finding]:
    yield from _fetched(given)
    paths = [(key, path) for key, path in _values(given) if _PATHS.fullmatch(key)]
    local = [(key, path) for key, path in paths if not _ELSEWHERE.match(path)]
    for key, path in local:
        copied = verb == "write" and _SOURCES.fullmatch(key) and re.search("(?i)copy", name)
        yield from _at(path, "read" if copied else verb, name, scope)
    for key, text in _values(given):
        if re.fullmatch(r"(?i)(sql|query|statement)", key) and re.search(
            r"(?i)\b(drop|delete|truncate|update|alter|grant)\b", text
        ):
            yield from sql_findings(text)
    if not local and verb == "delete":
        yield Finding("cloud-loss", f"By its name the tool {shown(name)} deletes something.")
    elif not local and verb == "send":
        yield Finding("publish", f"By its name the tool {shown(name)} sends or publishes something.")
    elif verb == "unknown" and not given.get("command"):
        yield Finding("unknown-tool", f"Nobody knows what the tool {shown(name)} does.")


def _values(given: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text of the arguments with the key it stands under; lists and small objects are looked into."""
    for key, value in given.items():
        if isinstance(value, str):
            yield str(key), value
        elif isinstance(value, list):
            for item in value[:50]:
                if isinstance(item, str):
                    yield str(key), item
                elif isinstance(item, dict) and depth < 3:
                    yield from _values(item, depth + 1)
        elif isinstance(value, dict) and depth < 3:
            yield from _values(value, depth + 1)
        elif isinstance(value, int | float | None) and re.search("(path|file)$", key) and _PATHS.fullmatch(key):
            yield str(key), ""


def _fetched(given: Mapping[str, Any]) -> Iterator[Finding]:
    for key, address in _values(given):
        if not _ADDRESSES.fullmatch(key):
            continue
        plain = unquote(address).strip()
        if METADATA.search(plain):
            yield Finding("metadata", "The address gives away the credentials of this machine.")
        elif re.match(r"(?i)(file|jar|netdoc|gopher|dict|ldap|php|view-source):", plain):
            yield Finding(
                "file-address", f"The address {shown(address)} reads local files or speaks to local services."
            )
        elif not plain or _HIDING.search(plain):
            yield Finding("path-malformed", "The address is empty or hides what it says.")


def _at(path: str, verb: str, name: str, scope: Scope) -> Iterator[Finding]:
    """What a tool does at one path."""
    if not path.strip() or _HIDING.search(path) or RESERVED.search(path):
        yield Finding("path-malformed", "The path is empty or holds characters that hide what it says.")
        return
    for reading in readings_of(path, scope):
        if verb == "read":
            yield from secret_file(reading, scope)
            continue
        if verb == "delete" and (
            re.search(r"(?i)dir|folder|tree|recursive", name) or place_of(reading, scope) is not Place.INSIDE
        ):
            yield from removes(reading, scope)
        elif place_of(reading, scope) is Place.WORKSPACE and verb != "delete":
            if scope.path(reading) != scope.workspace:
                yield Finding("write-outside", f"{shown(reading)} lies outside the workspace.")
        else:
            yield from writes(reading, scope)


def readings_of(path: str, scope: Scope) -> list[str]:
    """The ways a path may be read: as it stands, decoded, with backslashes as slashes, without the blanks
    around it, the way up of its braces alone, with $HOME put in."""
    plain = re.sub(r"^file:/*", "/", path)
    plain = re.sub(r"^\$(HOME|\{HOME\})", scope.home, plain)
    readings = [plain]
    up = _BRACES.sub(lambda found: next((one for one in found[1].split(",") if one[:2] == ".."), found[0]), plain)
    for other in (unquote(plain), plain.replace("\\", "/"), plain.strip(), up):
        if other not in readings:
            readings.append(other)
    return readings


def _text(given: Mapping[str, Any]) -> str:
    value = next(
        (given[key] for key in ("input", "patch", "diff", "content", "patchText", "changes") if given.get(key)), ""
    )
    return value if isinstance(value, str) else json.dumps(value)


def _patched(text: str, scope: Scope) -> Iterator[Finding]:
    """The files a patch adds, changes, deletes or moves."""
    found = False
    for groups in _PATCHED.findall(text):
        kind, path = next(
            ((kind, path) for kind, path in zip(groups[::2], groups[1::2], strict=True) if kind), ("", "")
        )
        if path.strip() == "/dev/null":
            continue
        found = True
        yield from _at(path.strip(), "delete" if kind == "Delete" else "write", "patch", scope)
    if not found:
        yield Finding("unknown-tool", "The patch names no file.")
