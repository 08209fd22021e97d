"""Programs that run others because their arguments say so: find, xargs, make, git aliases, options with commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from laneway.sandbox.shell.holes import hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.search import find, found_paths
from laneway.sandbox.shell.streams import NOTHING, Stream
from laneway.sandbox.shell.tables import table

if TYPE_CHECKING:
    from laneway.sandbox.shell.walk import Walk

_XARGS = (
    "-I -n -P -L -d -a -E -s --max-args --max-procs --delimiter --arg-file --max-lines --replace --process-slot-var"
)
_PARALLEL = "-j --jobs -S --sshlogin --joblog --results --delay --retries --timeout --colsep -a -I -N -n -C --tmpdir -q"
_MOST_ITEMS = 40


@dataclass(frozen=True, slots=True)
class Held:
    """An option whose value is a command, as `option` or `option=value` with an optional prefix inside the value."""

    names: str
    inside: str = ""


_TABLE = table("nested")
HELD = {name: Held(**given) for name, given in _TABLE["options"].items()}
_RUNNING_VARIABLES = frozenset(_TABLE["variables"]["run"].split())
_LOADED_VARIABLES = frozenset(_TABLE["variables"]["loaded"].split())


def nested(walk: Walk, run: Invocation) -> None:
    """Whatever a program would run because its arguments say so is judged as well."""
    for name, value in run.environment.items():
        if name in _RUNNING_VARIABLES:
            walk.shell(value, run.scope.copy())
    judge = _NESTED.get(run.program)
    if judge is not None:
        judge(walk, run)
    held = HELD.get(run.program)
    if held is not None:
        for command in _held(run, held):
            walk.shell(command, run.scope.copy())
    if run.program == "tar":
        for word in run.args:
            if "exec=" in word:
                walk.shell(word.split("exec=", 1)[1], run.scope.copy())


def loaded(run: Invocation) -> bool:
    """Whether a variable makes the program load code from a file."""
    return any(name in _LOADED_VARIABLES for name in run.environment)


def _held(run: Invocation, held: Held) -> Iterator[str]:
    for value in run.options(held.names).of(*held.names.split()):
        if not held.inside:
            yield value
        elif found := re.match(held.inside, value, re.DOTALL):
            yield next((part for part in found.groups() if part), "")


def _find(walk: Walk, run: Invocation) -> None:
    search = find(run)
    patterns = search.patterns
    if search.deletes:
        for pattern in patterns:
            if search.empty_only and place_of(pattern, run.scope) in (Place.INSIDE, Place.SCRATCH, Place.ALL_SCRATCH):
                continue
            walk.found(removes(pattern, run.scope))
    for argv in search.runs:
        for pattern in _limited(patterns):
            walk.run([word.replace("{}", pattern) for word in argv], run.scope.copy())
    for word in search.writes:
        walk.found(writes(word, run.scope))


def _fd(walk: Walk, run: Invocation) -> None:
    for option in ("-x", "--exec", "-X", "--exec-batch"):
        if option in run.args:
            place = run.args.index(option)
            argv = run.args[place + 1 :]
            for pattern in found_paths(replace(run, args=run.args[:place])):
                filled = [word.replace("{}", pattern) for word in argv]
                walk.run(filled if any("{}" in word for word in argv) else [*argv, pattern], run.scope.copy())


def _items(stdin: Stream, lines: bool = False) -> list[str]:
    """What comes in through a pipe, as words, or as lines."""
    if stdin.paths:
        return _limited(list(stdin.paths))
    if stdin.given and stdin.text is not None:
        words = [part for part in (re.split(r"[\0\n]", stdin.text) if lines else stdin.text.split()) if part]
        return _limited(words)
    return [stdin.as_hole()] if stdin.given else []


def _limited(items: list[str]) -> list[str]:
    """The first items; if there are more, one that may be anything stands for them."""
    return items if len(items) <= _MOST_ITEMS else [*items[:_MOST_ITEMS], hole("cmd")]


def _xargs(walk: Walk, run: Invocation) -> None:
    found = run.options(_XARGS, until_operand=True)
    argv = found.operands
    items = _items(run.stdin, lines=found.has("-0", "--null", "-d", "--delimiter", "-I", "--replace", "-L", "-i"))
    listed = [run.scope.written.get(run.scope.path(word) or "") for word in found.of("-a", "--arg-file")]
    if listed or not run.stdin.given:
        items = _items(listed[0]) if listed and listed[0] else [hole("file")]
    marks = found.of("-I", "--replace") or (["{}"] if "-i" in found.flags or "--replace" in found.flags else [])
    if not argv:
        return
    if marks and marks[0]:
        for item in items:
            walk.run([word.replace(marks[0], item) for word in argv], run.scope.copy(), piped=run.piped)
    else:
        walk.run([*argv, *items], run.scope.copy(), piped=run.piped)


def _parallel(walk: Walk, run: Invocation) -> None:
    args = list(run.args)
    marker = next((place for place, word in enumerate(args) if word in (":::", "::::", ":::+")), len(args))
    items = args[marker + 1 :] if args[marker : marker + 1] == [":::"] else _items(run.stdin) or [hole("file")]
    argv = Invocation("parallel", args[:marker], run.scope).options(_PARALLEL, until_operand=True).operands
    for item in _limited(items or [""]):
        if not argv:
            walk.shell(item, run.scope.copy())
            continue
        line = " ".join(argv)
        filled = line.replace("{}", item) if "{}" in line else f"{line} {item}"
        walk.shell(filled, run.scope.copy())


def _make(walk: Walk, run: Invocation) -> None:
    found = run.options("-f --file --makefile --eval -C -j")
    scope = run.scope.copy()
    for folder in found.of("-C"):
        scope.enter(folder)
    texts = found.of("--eval")
    if (
        any(name in ("-", "/dev/stdin") for name in found.of("-f", "--file", "--makefile"))
        and run.stdin.text is not None
    ):
        texts.append(run.stdin.text)
    for content in texts:
        for line in content.split("\n"):
            recipe = line[1:] if line.startswith("\t") else line.partition(";")[2]
            if recipe.strip():
                walk.shell(recipe.strip().lstrip("@-+").replace("$$", "$"), scope.copy())
        for inner in re.findall(r"\$\(shell\s+([^)]*)\)", content):
            walk.shell(inner, scope.copy())
    for word in run.args:
        if re.match(r"SHELL=", word):
            walk.shell(word.partition("=")[2], run.scope.copy())


def _git(walk: Walk, run: Invocation) -> None:
    from laneway.sandbox.shell.programs.git import parts

    call = parts(run.args, run.scope)
    for setting in call.settings:
        key, _, value = setting.partition("=")
        if key.startswith("alias.") and key[6:] == call.name:
            if value.startswith("!"):
                walk.shell(" ".join([value[1:], *call.rest]), run.scope.copy())
            else:
                walk.run(["git", *value.split(), *call.rest], run.scope.copy())
        elif re.fullmatch(
            r"(?i)core\.(pager|editor|sshcommand|fsmonitor)|diff\.external|pager\..*|sequence\.editor", key
        ):
            walk.shell(value, run.scope.copy())
    if call.name == "config" and len(call.operands) > 1 and re.match(r"alias\.", call.operands[-2]):
        value = call.operands[-1]
        walk.shell(value[1:], run.scope.copy()) if value.startswith("!") else walk.run(
            ["git", *value.split()], run.scope.copy()
        )


def _scheduled(walk: Walk, run: Invocation) -> None:
    if run.stdin.given and run.stdin.text:
        walk.shell(run.stdin.text, run.scope.copy())


def _network_namespace(walk: Walk, run: Invocation) -> None:
    if run.args[:2] == ["netns", "exec"]:
        walk.run(run.args[3:], run.scope.copy(), NOTHING)


_NESTED: dict[str, Callable[[Walk, Invocation], None]] = {
    "find": _find, "gfind": _find, "fd": _fd, "fdfind": _fd, "xargs": _xargs, "gxargs": _xargs,
    "parallel": _parallel, "rush": _parallel, "make": _make, "gmake": _make, "git": _git,
    "at": _scheduled, "batch": _scheduled, "ip": _network_namespace,
}  # fmt: skip
