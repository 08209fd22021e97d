"""Running code: what an interpreter would do with inline text, a file, or what flows in through a pipe."""

from __future__ import annotations

import re
from posixpath import basename

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.interpreters import Code
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import SECRET_FOLDER
from laneway.sandbox.shell.prints import output
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.programs.proven import proven
from laneway.sandbox.shell.programs.readers import only_reads
from laneway.sandbox.shell.programs.registry import BY_PROGRAM, judged
from laneway.sandbox.shell.programs.secrets import named_paths, secret_file
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.scripts.effects import Argument, Effect, Read, Remove, Run, Shell, Write
from laneway.sandbox.shell.scripts.literals import literal_effects
from laneway.sandbox.shell.scripts.python import python_effects, python_only_reads
from laneway.sandbox.shell.scripts.python_proven import python_proven
from laneway.sandbox.shell.streams import NETWORK, NOTHING, Stream
from laneway.sandbox.shell.walk import Walk

EDITORS = {
    "nano", "pico", "emacs", "micro", "joe", "gedit", "kate", "code", "subl", "vim", "vi", "nvim", "ed", "ex", "editor",
}  # fmt: skip


def interpreted(walk: Walk, run: Invocation, code: Code) -> Stream:
    """What an interpreter would run has been judged, and what it prints is known as far as possible."""
    walk.changes = walk.changes or not _starts_plainly(run, code)
    if code.language == "shell" and code.texts:
        inside = run.scope.copy(positional=code.arguments)
        return walk.shell(code.texts[0], inside, run.stdin, piped=run.piped)
    if code.module is not None:
        return walk.run([code.module, *code.arguments], run.scope, run.stdin, piped=run.piped)
    scripts = [_script(walk, run, code.language, source) for source in code.texts]
    reads = all(scripts)
    if code.file is not None:
        reads = False
        _run_file(walk, run, code)
    elif code.stdin is not None:
        reads = run_stream(walk, run, code.language, code.stdin)
    elif not code.texts:
        reads = only_reads(run)
    walk.changes = walk.changes or not reads
    _interpreter_files(walk, run, code)
    if run.scope.root and not reads:
        walk.found([Finding("root-command", f"It runs {run.program} with the rights of root.")])
    return output(run)


def _starts_plainly(run: Invocation, code: Code) -> bool:
    """Whether an interpreter is given nothing but code that the text shows, and loads nothing beside it."""
    if set(run.args) in ({"--version"}, {"-V"}, {"--help"}):
        return proven(run)
    match code.language:
        case "shell":
            return bool(code.texts) and re.fullmatch(r"-[euxvn]*c", run.args[0]) is not None
        case "python":
            return bool(code.texts) and python_proven(code.texts[0], alone=run.args[0] in ("-I", "-P", "-Ic", "-IS"))
        case "awk":
            return proven(run)
    return False


def _interpreter_files(walk: Walk, run: Invocation, code: Code) -> None:
    """Files an interpreter is given: edited in place by perl and ruby -i, opened by editors, read by awk."""
    if code.language in ("perl", "ruby") and any(re.match(r"-[a-zA-Z0-9]*i", word) for word in run.args[:4]):
        for word in code.arguments:
            walk.found(writes(word, run.scope))
    elif run.program in EDITORS:
        for word in [code.file or "", *code.arguments]:
            if word and not word.startswith(("+", "-")):
                walk.found(writes(word, run.scope))
    else:
        operands = [word for word in run.args if word not in code.texts and not re.search(r"\s", word)]
        for path in [path for word in operands for path in named_paths(word)] if code.texts else []:
            walk.found(secret_file(path, run.scope))
        for rule in BY_PROGRAM.get(run.program, []):
            walk.found(rule(run))


def _run_file(walk: Walk, run: Invocation, code: Code) -> None:
    word = code.file or ""
    path = run.scope.path(word)
    walk.changes = True
    if re.match(r"https?://", word):
        walk.found([Finding("network-code", f"It runs code from {shown(word)}.")])
    elif path is not None and path in run.scope.written:
        run_stream(walk, run, code.language, run.scope.written[path])
    elif path is None and run.scope.cwd is not None:
        walk.found([Finding("opaque-code", f"It runs {shown(word)}, and the text does not tell what that is.")])
    elif run.program not in EDITORS:
        inner = Invocation(basename(word), code.arguments, run.scope, run.stdin, run.piped, run.environment)
        if inner.program in BY_PROGRAM or run.scope.root or run.scope.remote == "host":
            walk.found(judged(inner))


def run_stream(walk: Walk, run: Invocation, language: str, stream: Stream) -> bool:
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


def language_of(name: str) -> str:
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
    shebang = re.match(r"#!.*\b(python|perl|ruby|node)", source) if language == "shell" else None
    language = {"node": "javascript"}.get(shebang[1], shebang[1]) if shebang else language
    effects = python_effects(source, run.scope.home) if language == "python" else literal_effects(language, source)
    reads = python_only_reads(source) if language == "python" else language == "awk"
    scope = run.scope.copy()
    for effect in effects:
        reads = _effect(walk, scope, effect) and reads
    return reads


def _effect(walk: Walk, scope: Scope, effect: Effect) -> bool:
    """One effect of a script has been judged; whether it leaves everything as it was comes back."""
    match effect:
        case Shell(text=source):
            walk.shell(source, scope.copy())
        case Run(argv=argv):
            # `cd` stands for the script's own change of folder.
            walk.run(list(argv), scope if argv[0] == "cd" else scope.copy())
        case Remove(path=path):
            walk.found(removes(path, scope))
            return False
        case Write(path=path, empties=empties):
            walk.found(writes(path, scope, empties=empties))
            return False
        case Read(path=path):
            walk.run(["cat", path], scope.copy())
        case Argument(text=word):
            if "/" in word and not re.search(r"\s|://", word):
                walk.found(
                    secret_file(f"{word}/*" if word.endswith("/") or SECRET_FOLDER.search(word) else word, scope)
                )
        case Finding():
            walk.found([effect])
            return False
    return True
