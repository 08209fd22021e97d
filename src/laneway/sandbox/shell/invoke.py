"""Judging one command line: the shell's own commands, functions, wrappers, interpreters, and then the rules."""

from __future__ import annotations

import re
import shlex
from posixpath import basename

from laneway.sandbox.shell.holes import has_hole, shown
from laneway.sandbox.shell.interpreters import INTERPRETERS, Code, code_of
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.nested import loaded, nested
from laneway.sandbox.shell.own_commands import OWN
from laneway.sandbox.shell.prints import output
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.programs.readers import ALWAYS, only_reads
from laneway.sandbox.shell.programs.registry import BY_PROGRAM, judged
from laneway.sandbox.shell.programs.secrets import secret_file
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.scripts.effects import Effect, Read, Remove, Run, Shell, Write
from laneway.sandbox.shell.scripts.literals import literal_effects
from laneway.sandbox.shell.scripts.python import python_effects, python_only_reads
from laneway.sandbox.shell.streams import NETWORK, NOTHING, UNKNOWN, Stream, text
from laneway.sandbox.shell.walk import Walk
from laneway.sandbox.shell.wrapper_table import SUBCOMMANDS, WRAPPERS
from laneway.sandbox.shell.wrappers import unwrapped

_COMMAND_OPTIONS = {"-c", "--command", "--cmd", "--exec", "--run", "-e", "--execute", "-x"}
_EDITORS = {
    "nano",
    "pico",
    "emacs",
    "micro",
    "joe",
    "gedit",
    "kate",
    "code",
    "subl",
    "vim",
    "vi",
    "nvim",
    "ed",
    "ex",
    "editor",
}
RISKY = frozenset({*BY_PROGRAM, *WRAPPERS, *INTERPRETERS, "eval", "source", "exec", "xargs", "find", "trap", "parallel"}) - ALWAYS - {
    "make", "host", "env", "time", "date", "command", "do", "then", "else", "task", "at", "k", "q", "ip", "ps", "install", "tee", "touch",
    "mkdir", "arch", "go", "R", "http", "https", "link", "console", "render", "op", "pass", "port", "pkg", "gem", "batch", "service", "wipe", "format", "del",
}  # fmt: skip


def risky(source: str) -> bool:
    """Whether a text that does not parse names a program that can do harm."""
    return any(word in RISKY for word in re.findall(r"[\w.+-]+", source)) or bool(
        re.search(r"/dev/|>\s*[~/$]|\$\(|`", source)
    )


def invoke(walk: Walk, run: Invocation) -> Stream:
    """One command line has been judged, and what it prints is known as far as possible."""
    name = run.program
    if name in run.scope.functions:
        return walk.call(name, run.args, run.scope, run.stdin, piped=run.piped)
    if name in run.scope.aliases and name not in run.scope.calling:
        scope = run.scope.copy(calling=(*run.scope.calling, name))
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
    plain = Invocation(program, run.args, run.scope, run.stdin, run.piped, run.environment)
    written = _fresh(run)
    if written is not None:
        _run_stream(walk, plain, _language_of(name), written)
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
        walk.found(inside.findings)
        for rule in BY_PROGRAM.get(run.program, []):
            walk.found(rule(run))
        printed: Stream = Stream(None, (), run.stdin.origins)
        scope = inside.scope or run.scope
        for source in inside.shells:
            printed = walk.shell(source, scope, run.stdin, piped=run.piped)
        if inside.argv:
            printed = walk.run(inside.argv, scope, run.stdin, piped=run.piped, environment=inside.environment)
        elif scope.remote and run.stdin.given and not inside.shells:
            _run_stream(walk, Invocation("sh", [], scope, run.stdin), "shell", run.stdin)
        elif not inside.shells:
            walk.changes = walk.changes or not only_reads(run)
        return (
            Stream(None, (), frozenset({NETWORK}))
            if scope.remote == "host"
            else printed
            if inside.argv or inside.shells
            else output(run)
        )
    code = code_of(run)
    if code is not None:
        return _interpreted(walk, run, code)
    walk.found(judged(run))
    walk.changes = walk.changes or not only_reads(run)
    if run.program in _EDITORS:
        walk.found(
            finding
            for word in run.options("-c --cmd -l").operands
            if not word.startswith("+")
            for finding in writes(word, run.scope)
        )
    _guess(walk, run)
    return output(run)


def _guess(walk: Walk, run: Invocation) -> None:
    """A program nobody knows may run what its arguments spell out: a command after `--`, after -c, or in plain words."""
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


def _interpreted(walk: Walk, run: Invocation, code: Code) -> Stream:
    reads = only_reads(run)
    for source in code.texts:
        if code.language == "shell":
            printed = walk.shell(source, run.scope.copy(positional=code.arguments), run.stdin, piped=run.piped)
            if source is code.texts[-1]:
                return printed
        else:
            reads = _script(walk, run, code.language, source) and (reads or code.language in ("python", "awk"))
    if code.module is not None:
        return _program(walk, Invocation(code.module, code.arguments, run.scope, run.stdin, run.piped, run.environment))
    if code.file is not None:
        _run_file(walk, run, code)
    elif code.stdin is not None:
        reads = _run_stream(walk, run, code.language, code.stdin) or reads
    elif run.program in _EDITORS or code.language == "awk":
        reads = reads or code.language == "awk"
    walk.changes = walk.changes or not reads
    _interpreter_files(walk, run, code)
    if run.scope.root and not reads:
        walk.found([Finding("root-command", f"It runs {run.program} with the rights of root.")])
    return output(run)


def _interpreter_files(walk: Walk, run: Invocation, code: Code) -> None:
    """Files an interpreter is given: edited in place by perl and ruby -i, opened by editors, read by awk."""
    if code.language in ("perl", "ruby") and any(re.match(r"-[a-zA-Z0-9]*i", word) for word in run.args[:4]):
        for word in code.arguments:
            walk.found(writes(word, run.scope))
    elif run.program in _EDITORS:
        for word in [code.file, *code.arguments]:
            if word and not word.startswith(("+", "-")):
                walk.found(writes(word, run.scope))
    else:
        for word in code.arguments if code.texts else []:
            walk.found(secret_file(word, run.scope))
        for rule in BY_PROGRAM.get(run.program, []):
            walk.found(rule(run))


def _run_file(walk: Walk, run: Invocation, code: Code) -> None:
    word = code.file or ""
    path = run.scope.path(word)
    walk.changes = True
    if re.match(r"https?://", word):
        walk.found([Finding("network-code", f"It runs code from {shown(word)}.")])
    elif path is not None and path in run.scope.written:
        _run_stream(walk, run, code.language, run.scope.written[path])
    elif path is None and run.scope.cwd is not None:
        walk.found([Finding("opaque-code", f"It runs {shown(word)}, and the text does not tell what that is.")])
    elif run.program not in _EDITORS:
        inner = Invocation(basename(word), code.arguments, run.scope, run.stdin, run.piped, run.environment)
        if inner.program in BY_PROGRAM or run.scope.root or run.scope.remote == "host":
            walk.found(judged(inner))


def _run_stream(walk: Walk, run: Invocation, language: str, stream: Stream) -> bool:
    """Code that flows in has been judged; whether it provably only reads comes back."""
    if stream.text is not None:
        if language == "shell":
            walk.shell(stream.text, run.scope.copy(positional=run.args), NOTHING)
            return True
        return _script(walk, run, language, stream.text)
    walk.changes = True
    if NETWORK in stream.origins:
        walk.found([Finding("network-code", "It runs code that comes from the network.")])
    elif stream.file is None:
        walk.found([Finding("opaque-code", "It runs code that the text does not show.")])
    return False


def _language_of(name: str) -> str:
    ending = name.rpartition(".")[2]
    return {
        "py": "python",
        "pl": "perl",
        "rb": "ruby",
        "js": "javascript",
        "mjs": "javascript",
        "php": "php",
        "lua": "lua",
    }.get(ending, "shell")


def _script(walk: Walk, run: Invocation, language: str, source: str) -> bool:
    """An inline script has been judged; whether it provably only reads comes back."""
    if language == "shell" and re.match(r"#!.*\b(python\d?|perl|ruby|node)\b", source):
        language = (
            {"node": "javascript"}.get(found[1].rstrip("3"), found[1].rstrip("3"))
            if (found := re.match(r"#!.*\b(python\d?|perl|ruby|node)\b", source))
            else language
        )
    effects = python_effects(source, run.scope.home) if language == "python" else literal_effects(language, source)
    reads = python_only_reads(source) if language == "python" else language == "awk"
    for effect in effects:
        reads = _effect(walk, run.scope, effect) and reads
    return reads


def _effect(walk: Walk, scope: Scope, effect: Effect) -> bool:
    """One effect of a script has been judged; whether it leaves everything as it was comes back."""
    match effect:
        case Shell(text=source):
            walk.shell(source, scope.copy())
        case Run(argv=argv):
            walk.run(list(argv), scope.copy())
        case Remove(path=path):
            walk.found(removes(path, scope))
            return False
        case Write(path=path, empties=empties):
            walk.found(writes(path, scope, empties=empties))
            return False
        case Read(path=path):
            walk.found(secret_file(path, scope))
        case Finding():
            walk.found([effect])
            return False
    return True


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
        _run_stream(walk, run, "shell", stream)
    elif words and path is None and not words[0].endswith(("/activate", "/.env", ".bashrc", ".profile")):
        walk.found([Finding("opaque-code", f"It runs {shown(words[0])}, and the text does not tell what that is.")])
    elif path in ("/dev/stdin", "/dev/fd/0"):
        _run_stream(walk, run, "shell", run.stdin)
    return text("")


def _trap(walk: Walk, run: Invocation) -> Stream:
    if run.args and not run.args[0].startswith("-"):
        walk.traps.append((run.args[0], run.scope))
    return text("")


_SPECIAL = {"eval": _eval, "source": _source, ".": _source, "trap": _trap}
