"""Judging one command line: the shell's own commands, functions, wrappers, interpreters, and then the rules."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from posixpath import basename

from laneway.sandbox.shell.holes import has_hole, shown
from laneway.sandbox.shell.interpreters import INTERPRETERS, code_of
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.nested import loaded, nested
from laneway.sandbox.shell.own_commands import OWN
from laneway.sandbox.shell.prints import output
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.proven import is_of_the_system, proven, proven_wrapper
from laneway.sandbox.shell.programs.readers import ALWAYS, only_reads
from laneway.sandbox.shell.programs.registry import BY_PROGRAM, judged
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.running_code import EDITORS, interpreted, language_of, run_stream
from laneway.sandbox.shell.steering import steers
from laneway.sandbox.shell.streams import NETWORK, UNKNOWN, Stream, text
from laneway.sandbox.shell.tables import table
from laneway.sandbox.shell.walk import Walk
from laneway.sandbox.shell.wrapper_table import SUBCOMMANDS, WRAPPERS
from laneway.sandbox.shell.wrappers import Inside, unwrapped

_COMMAND_OPTIONS = {"-c", "--command", "--cmd", "--exec", "--run", "-e", "--execute", "-x"}
_ALSO_WORDS = frozenset(table("risky")["also_words"].split())
_RUNNERS = {"eval", "source", "exec", "xargs", "find", "trap", "parallel"}
RISKY = frozenset({*BY_PROGRAM, *WRAPPERS, *INTERPRETERS, *_RUNNERS}) - ALWAYS - _ALSO_WORDS
"""Programs that can do harm; those whose names are everyday words are left out."""


def risky(source: str) -> bool:
    """Whether a text that does not parse names a program that can do harm."""
    return any(word in RISKY for word in re.findall(r"[\w.+-]+", source)) or bool(
        re.search(r"/dev/|>\s*[~/$]|\$\(|`", source)
    )


def invoke(walk: Walk, run: Invocation) -> Stream:
    """One command line has been judged, and what it prints is known as far as possible."""
    name = run.program
    walk.changes = walk.changes or steers(run)
    if name in run.scope.functions:
        if name in RISKY:
            # It may be defined on one way only, or called past the function: `command rm`, `env rm`.
            _program(walk, replace(run, scope=run.scope.copy()))
        return walk.call(run)
    if name in run.scope.aliases and name not in run.scope.calling:
        scope = run.scope.copy(calling=(*run.scope.calling, name))
        if name in RISKY:
            # A shell that is no terminal's does not look at aliases.
            _program(walk, replace(run, scope=run.scope.copy()))
        return walk.shell(
            " ".join([run.scope.aliases[name], *map(_quoted, run.args)]), scope, run.stdin, piped=run.piped
        )
    own = _SPECIAL.get(name)
    if own is not None:
        return own(walk, run)
    program = basename(name.rstrip("/")).removesuffix(".exe") or name
    if re.search(r"[*?\[]", program) and program not in ("[", "[["):
        walk.found([Finding("unknown-program", f"It runs whatever {shown(name)} matches.")])
        walk.changes = True
        return UNKNOWN
    walk.changes = walk.changes or not is_of_the_system(name)
    plain = Invocation(program, run.args, run.scope, run.stdin, run.piped, run.environment)
    written = _fresh(run)
    if written is not None:
        run_stream(walk, plain, language_of(name), written)
        return UNKNOWN
    return _program(walk, plain)


def _quoted(word: str) -> str:
    return word if has_hole(word) else shlex.quote(word)


def _fresh(run: Invocation) -> Stream | None:
    """The content of a program that this very command wrote."""
    if "/" not in run.program:
        return None
    path = run.scope.path(run.program)
    return run.scope.written.get(path) if path else None


def _program(walk: Walk, run: Invocation) -> Stream:
    change = OWN.get(run.program)
    if change is not None:
        change(run)
    nested(walk, run)
    if loaded(run):
        walk.found([Finding("opaque-code", "A variable makes the program load code from a file.")])
    inside = unwrapped(run)
    if inside is not None:
        return _wrapped(walk, run, inside)
    code = code_of(run)
    if code is not None:
        return interpreted(walk, run, code)
    walk.found(judged(run))
    walk.changes = walk.changes or not (only_reads(run) and proven(run))
    if run.program in EDITORS:
        walk.found(
            finding
            for word in run.options("-c --cmd -l").operands
            if not word.startswith("+")
            for finding in writes(word, run.scope)
        )
    _guess(walk, run)
    return output(run)


def _wrapped(walk: Walk, run: Invocation, inside: Inside) -> Stream:
    """What a wrapper would run is judged where it would run; the wrapper's own options are judged as well."""
    walk.found(inside.findings)
    for rule in BY_PROGRAM.get(run.program, []):
        walk.found(rule(run))
    scope = inside.scope or run.scope
    printed: Stream | None = None
    for source in inside.shells:
        printed = walk.shell(source, scope, run.stdin, piped=run.piped)
    if inside.argv:
        printed = walk.run(inside.argv, scope, run.stdin, piped=run.piped, environment=inside.environment)
    elif printed is None and scope.remote and run.stdin.given:
        run_stream(walk, Invocation("sh", [], scope, run.stdin), "shell", run.stdin)
    elif printed is None:
        walk.changes = walk.changes or not only_reads(run)
    runs = bool(inside.argv or inside.shells)
    walk.changes = walk.changes or scope.remote is not None or not proven_wrapper(run, inside.argv, runs=runs)
    if scope.remote == "host" and run.scope.remote is None:
        return Stream(None, (), frozenset({NETWORK}))
    return output(run) if printed is None else printed


def _guess(walk: Walk, run: Invocation) -> None:
    """A program nobody knows may run what its arguments spell out: after `--`, after -c, or in plain words."""
    if run.program in BY_PROGRAM or run.program in ALWAYS or run.program in RISKY or only_reads(run):
        return
    if any((run.program, word) in SUBCOMMANDS for word in run.args[:2]):
        return
    words = run.args
    for place, word in enumerate(words[:12]):
        if word == "--" and words[place + 1 : place + 2] and words[place + 1] in RISKY:
            walk.run(words[place + 1 :], run.scope.copy())
            return
        if word in _COMMAND_OPTIONS and words[place + 1 : place + 2] and re.match(r"\S+\s", words[place + 1]):
            if words[place + 1].split()[0] in RISKY:
                walk.shell(words[place + 1], run.scope.copy())
        elif (
            word in ("rm", "dd", "mkfs", "shred", "shutdown", "sudo", "bash", "sh", "chmod", "git", "eval")
            and words[place + 1 :]
        ):
            walk.run(words[place:], run.scope.copy())
            return


def _eval(walk: Walk, run: Invocation) -> Stream:
    return walk.shell(" ".join(run.args), run.scope, run.stdin, piped=run.piped)


def _source(walk: Walk, run: Invocation) -> Stream:
    words = [word for word in run.args if word != "--"]
    path = run.scope.path(words[0]) if words else None
    walk.changes = True
    if path is not None and path in run.scope.written:
        stream = run.scope.written[path]
        if stream.text is not None:
            return walk.shell(stream.text, run.scope, run.stdin, piped=run.piped)
        run_stream(walk, run, "shell", stream)
    elif words and path is None and not words[0].endswith(("/activate", "/.env", ".bashrc", ".profile")):
        walk.found([Finding("opaque-code", f"It runs {shown(words[0])}, and the text does not tell what that is.")])
    elif path in ("/dev/stdin", "/dev/fd/0"):
        run_stream(walk, run, "shell", run.stdin)
    return text("")


def _trap(walk: Walk, run: Invocation) -> Stream:
    if run.args and not run.args[0].startswith("-"):
        walk.traps.append((run.args[0], run.scope))
        walk.changes = walk.changes or has_hole(run.args[0])
    return text("")


_SPECIAL = {"eval": _eval, "source": _source, ".": _source, "trap": _trap}
