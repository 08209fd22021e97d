"""Taking wrappers off: the command inside `sudo`, `env`, `timeout`, `ssh`, `docker exec` and their like."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import Options, options
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.tables import VALUED
from laneway.sandbox.shell.wrapper_table import SUBCOMMANDS, WRAPPERS, Wrapper

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_GLOBALS = frozenset(VALUED["before_subcommand"].split())
_LONGEST_NAME = max(len(names) for names in SUBCOMMANDS)


@dataclass(slots=True)
class Inside:
    """What a wrapper runs."""

    argv: list[str] = field(default_factory=list)
    shells: list[str] = field(default_factory=list)
    scope: Scope | None = None
    environment: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def unwrapped(run: Invocation) -> Inside | None:
    """What a wrapper would run; None if the program is none."""
    wrapper, rest = _wrapper(run)
    if wrapper is None or (run.program == "command" and run.args[:1] in (["-v"], ["-V"])):
        return None
    found = options(rest, frozenset((wrapper.valued + " " + wrapper.shell).split()), until_operand=True)
    inside = Inside(scope=_scope(run, wrapper, found), environment=dict(run.environment))
    words = _after(found, wrapper)
    while wrapper.variables and words and (given := _ASSIGNMENT.fullmatch(words[0])):
        inside.environment[given[1]] = given[2]
        words = words[1:]
    inside.shells = found.of(*wrapper.shell.split())
    if wrapper.joins and words:
        inside.shells.append(" ".join(words[:-1] if words[-1] in ("Enter", "C-m") else words))
    elif wrapper.each:
        inside.shells += words
    else:
        inside.argv = words
    if wrapper.rule:
        inside.findings.append(Finding(wrapper.rule, f"It runs something by {run.program}."))
    inside.findings += _root_shell(run, wrapper, found, inside)
    return inside


def _wrapper(run: Invocation) -> tuple[Wrapper | None, list[str]]:
    plain = WRAPPERS.get(run.program)
    if plain is not None:
        return plain, run.args
    words, places = _leading_words(run.args)
    for length in range(min(_LONGEST_NAME - 1, len(words)), 0, -1):
        wrapper = SUBCOMMANDS.get((run.program, *words[:length]))
        if wrapper is not None:
            return wrapper, run.args[places[length - 1] + 1 :]
    return None, []


def _leading_words(args: list[str]) -> tuple[list[str], list[int]]:
    """The first operands, the options before them left out, and where they stand."""
    words: list[str] = []
    places: list[int] = []
    place = 0
    while place < len(args) and len(words) < _LONGEST_NAME:
        word = args[place]
        if word in _GLOBALS and not (word in ("-c",) and not args[place + 1 : place + 2]):
            place += 2
            continue
        if not word.startswith("-") or word in ("-E", "-r"):
            words.append(word)
            places.append(place)
        place += 1
    return words, places


def _after(found: Options, wrapper: Wrapper) -> list[str]:
    words = found.operands[wrapper.skip :]
    while words and words[0].startswith("-"):
        if words[0] == "--":
            return words[1:]
        words = words[1:]
    return words


def _scope(run: Invocation, wrapper: Wrapper, found: Options) -> Scope:
    scope = run.scope.copy()
    if wrapper.remote is not None:
        return run.scope.elsewhere(wrapper.remote)
    if wrapper.root:
        user = found.of("-u", "--user") or (["root"] if run.program not in ("su", "runuser") else found.operands[:1])
        scope.root = not user or user[0] in ("root", "-", "0", "#0")
    for folder in found.of("-C", "--chdir", "-D", "--directory", "--cwd"):
        if run.program in ("env", "sudo", "uv"):
            scope.enter(folder)
    return scope


def _root_shell(run: Invocation, wrapper: Wrapper, found: Options, inside: Inside) -> list[Finding]:
    if (
        run.program == "sudo"
        and found.has("-l", "-v", "-V", "-k", "-K", "--list", "--validate", "--version")
        and not inside.argv
    ):
        return []
    if run.program == "sudo" and found.has("-e", "--edit"):
        return [Finding("system-files", "It edits a file with the rights of root.")]
    alone = not inside.argv and not inside.shells
    if wrapper.root and alone:
        return [Finding("root-command", "It opens a shell with the rights of root.")]
    return []
