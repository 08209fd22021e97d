"""The shell's own commands that change what follows: folders, variables, aliases, arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import basename, dirname

from laneway.sandbox.shell.bounds import TooMuch
from laneway.sandbox.shell.holes import hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.programs.hosts import foreign_target
from laneway.sandbox.shell.programs.network import CURL, WGET
from laneway.sandbox.shell.streams import NETWORK, Stream

_LONGEST_TARGET = 500
"""Characters of what a link points to; links upon links that grow further are asked about."""
"""Characters of what a link points to; links upon links that grow further are not followed."""
_ASSIGNED = re.compile(r"([A-Za-z_][\w-]*)=(.*)", re.DOTALL)


def _cd(run: Invocation) -> None:
    words = [word for word in run.args if not re.fullmatch(r"-[LPe@]+|--", word)]
    target = words[0] if words else run.scope.home
    if target == "-":
        run.scope.cwd = _before(run)
        return
    if run.scope.cwd is not None:
        run.scope.variables["OLDPWD"] = [run.scope.cwd]
    run.scope.enter(target)


def _before(run: Invocation) -> str | None:
    known = run.scope.variables.get("OLDPWD")
    return known[0] if known else None


def _popd(run: Invocation) -> None:
    run.scope.cwd = _before(run)


def _alias(run: Invocation) -> None:
    for word in run.args:
        given = _ASSIGNED.fullmatch(word)
        if given:
            run.scope.aliases[given[1]] = given[2]


def _export(run: Invocation) -> None:
    for word in run.args:
        given = _ASSIGNED.fullmatch(word)
        if given:
            run.scope.variables[given[1]] = [given[2]]


def _read(run: Invocation) -> None:
    names = [word for word in run.options("-p -d -n -N -t -u -i").operands if re.fullmatch(r"[A-Za-z_]\w*", word)]
    array = run.options("-a -p -d -n -N -t -u -i").of("-a")
    for name in [*names, *array] or ["REPLY"]:
        run.scope.variables[name] = _read_values(run)


def _read_values(run: Invocation) -> list[str]:
    stdin = run.stdin
    if stdin.paths:
        return list(stdin.paths)
    if stdin.given and stdin.text is not None:
        lines = [line.strip() for line in stdin.text.splitlines() if line.strip()]
        return lines if 0 < len(lines) <= 50 else [hole("cmd")] if lines else [""]
    return [stdin.as_hole() if stdin.given else hole("v_input")]


def _mapfile(run: Invocation) -> None:
    names = run.options("-d -n -O -s -u -C -c").operands
    run.scope.variables[names[0] if names else "MAPFILE"] = _read_values(run)


def _set(run: Invocation) -> None:
    if "--" in run.args:
        run.scope.positional = run.args[run.args.index("--") + 1 :]
    elif run.args and not run.args[0].startswith(("-", "+")):
        run.scope.positional = list(run.args)


def _shift(run: Invocation) -> None:
    if run.scope.positional:
        count = int(run.args[0]) if run.args and run.args[0].isdigit() else 1
        run.scope.positional = run.scope.positional[count:]


def _printf(run: Invocation) -> None:
    if run.args[:1] == ["-v"] and len(run.args) > 2:
        from laneway.sandbox.shell.prints import output

        made = output(Invocation("printf", run.args[2:], run.scope))
        run.scope.variables[run.args[1]] = [made.text or ""]


def _link(run: Invocation) -> None:
    """A link made here, symbolic or hard, leads where it points for the rest of the command."""
    found = run.options("-t --target-directory -S --suffix")
    symbolic, into = found.has("-s", "--symbolic-link", "--symbolic"), found.of("-t", "--target-directory")
    alone = into or len(found.operands) == 1
    *sources, last = [*found.operands, *(into or ["."])] if alone else found.operands or [""]
    for source in sources:
        # What the last word names may be a folder; then the link lies in it.
        for name in (f"{last}/{basename(source.rstrip('/'))}", *([] if alone or len(sources) > 1 else [last])):
            relative = symbolic and not source.startswith(("/", "~"))
            target = run.scope.path(f"{dirname(name) or '.'}/{source}" if relative else source)
            path = run.scope.path(name, itself=True)
            if target and len(target) > _LONGEST_TARGET:
                raise TooMuch
            if target and path:
                run.scope.links[path] = target


def _curl(run: Invocation) -> None:
    """What is downloaded is a file from the network for the rest of the command."""
    found = run.options(CURL)
    names = [name for name in found.of("-o", "--output") if name != "-"]
    if found.has("-O", "--remote-name", "--remote-name-all"):
        names += [_last_part(url) for url in found.operands]
    _downloaded(run, names)


def _wget(run: Invocation) -> None:
    found = run.options(WGET)
    names = found.of("-O", "--output-document")
    folder = found.of("-P", "--directory-prefix") or ["."]
    _downloaded(
        run,
        [name for name in names if name != "-"]
        if names
        else [f"{folder[0]}/{_last_part(url)}" for url in found.operands],
    )


def _fetched(run: Invocation) -> None:
    found = run.options("-o --out -d --dir -x -s --output")
    _downloaded(run, found.of("-o", "--out", "--output") or [_last_part(url) for url in found.operands])


def _copied(run: Invocation) -> None:
    """A copy of a fresh file is as fresh, and one that is a link leads there; so is what a remote host gives."""
    if run.program == "cp" and run.options().has("-l", "--link", "-s", "--symbolic-link"):
        _link(run)
    words = run.options("-i -P -o -F -t").operands
    if len(words) != 2:
        return
    source, target = run.scope.path(words[0]), run.scope.path(words[1])
    if target is None:
        return
    if run.program == "scp" and foreign_target(words[0]):
        run.scope.written[target] = Stream(None, (), frozenset({NETWORK}))
    elif source is not None and source in run.scope.written:
        run.scope.written[target] = run.scope.written[source]


def _last_part(url: str) -> str:
    return re.sub(r"[?#].*", "", url).rstrip("/").rpartition("/")[2] or "index.html"


def _downloaded(run: Invocation, names: list[str]) -> None:
    for name in names:
        path = run.scope.path(name)
        if path is not None:
            run.scope.written[path] = Stream(None, (), frozenset({NETWORK}))


def _moved(run: Invocation) -> None:
    """Work that was moved away is still work."""
    _copied(run)
    *sources, target = run.options("-t --target-directory").operands or [""]
    into = run.scope.path(target)
    for word in sources:
        source = run.scope.path(word)
        if source is not None and into is not None:
            if link := run.scope.links.pop(run.scope.path(word, itself=True) or "", None):
                run.scope.links[into] = link
            run.scope.moved[into] = run.scope.moved[f"{into}/{source.rpartition('/')[2]}"] = source


def _tee(run: Invocation) -> None:
    for word in run.options().operands:
        path = run.scope.path(word)
        if path is not None:
            run.scope.written[path] = run.stdin


OWN: dict[str, Callable[[Invocation], None]] = {
    "cd": _cd, "pushd": _cd, "popd": _popd, "chdir": _cd, "alias": _alias, "set": _set, "shift": _shift,
    **dict.fromkeys(("export", "declare", "readonly", "local", "typeset"), _export),
    "read": _read, "mapfile": _mapfile, "readarray": _mapfile, "printf": _printf, "mv": _moved,
    "curl": _curl, "wget": _wget, "aria2c": _fetched, "axel": _fetched, "cp": _copied, "scp": _copied,
    "tee": _tee, "sponge": _tee, "ln": _link, "link": _link,
}  # fmt: skip
