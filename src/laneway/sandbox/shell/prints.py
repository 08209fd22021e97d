"""What programs print, as far as the command line tells: text, decoded text, listed paths, or only its origin."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import basename, dirname

from laneway.sandbox.shell import decoding
from laneway.sandbox.shell.decoding import ENDLESS_FILES, filtered
from laneway.sandbox.shell.holes import ansi_c, hole, holes
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import PROCESS_MEMORY, SECRET_VARIABLE
from laneway.sandbox.shell.places import is_secret
from laneway.sandbox.shell.search import found_paths
from laneway.sandbox.shell.streams import (
    COMMAND,
    DECODED,
    ENDLESS,
    ENVIRONMENT,
    FILE,
    NETWORK,
    NOTHING,
    PROCESSES,
    SECRET,
    UNKNOWN,
    Stream,
    listing,
    text,
)
from laneway.sandbox.shell.tables import table

_TABLE = table("prints")
_FETCHERS, _FILTERS, _ENVIRONMENT, _TRUSTED, _TRUSTED_WORDS = (
    frozenset(_TABLE[name].split()) for name in ("fetchers", "filters", "environment", "trusted", "trusted_words")
)


def output(run: Invocation) -> Stream:
    """What a program writes to its standard output."""
    shown = _KNOWN.get(run.program)
    if shown is not None:
        return shown(run)
    if run.program in _FETCHERS or (run.program in ("aws", "gcloud", "gh", "kubectl") and run.args[-1:] == ["-"]):
        return Stream(None, (), frozenset({NETWORK}))
    if run.program == "printenv" and any(SECRET_VARIABLE.search(word) for word in run.args):
        return Stream(None, (), frozenset({SECRET}))
    if run.program in _ENVIRONMENT and not run.args[1:]:
        return Stream(None, (), frozenset({ENVIRONMENT}))
    if run.program in _TRUSTED and (not run.args or not _TRUSTED_WORDS.isdisjoint(run.args[:3])):
        return text("")
    found = found_paths(run)
    if found:
        return listing(*found)
    if run.program in _FILTERS:
        return filtered(run)
    return Stream(None, (), run.stdin.origins | {COMMAND})


def _echo(run: Invocation) -> Stream:
    words = list(run.args)
    escapes, newline = False, "\n"
    while words and re.fullmatch(r"-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        newline = "" if "n" in words[0] else newline
        words.pop(0)
    joined = " ".join(words)
    return text((ansi_c(joined) if escapes and "\\" in joined else joined) + newline, *_marks(joined))


def _marks(joined: str) -> set[str]:
    return {
        label
        for label in holes(joined)
        if label in (SECRET, ENVIRONMENT, FILE, NETWORK, DECODED) or label.startswith("v_")
    }


def _printf(run: Invocation) -> Stream:
    words = run.args[1:] if run.args[:1] == ["--"] else run.args
    if not words or words[0] == "-v":
        return text("")
    shape, values = ansi_c(words[0]), words[1:]
    parts = re.split(r"%[-+ #0]*\d*(?:\.\d+)?([sbdiqcxXouf%])", shape)
    if len(parts) == 1:
        return text(shape, *_marks(shape))
    made, rounds = "", 0
    while rounds == 0 or (values and rounds < 50):
        rounds += 1
        made += parts[0]
        for kind, after in zip(parts[1::2], parts[2::2], strict=True):
            value = "%" if kind == "%" else values.pop(0) if values else ""
            made += (ansi_c(value) if kind == "b" else value) + after
    return text(made, *_marks(made))


def _cat(run: Invocation) -> Stream:
    words = [word for word in run.args if not word.startswith("-") or word == "-"]
    if not words or words == ["-"]:
        return run.stdin if run.stdin.given else UNKNOWN
    if words == ["/dev/null"]:
        return text("")
    if words[0] in ENDLESS_FILES:
        return Stream(None, (), frozenset({ENDLESS}))
    if len(words) == 1:
        path = run.scope.path(words[0])
        if path is not None and path in run.scope.written:
            return run.scope.written[path]
        if path is not None and (is_secret(path) or PROCESS_MEMORY.search(path)):
            return Stream(None, (), frozenset({SECRET}))
        return Stream(None, (), frozenset({FILE}), file=path or words[0])
    return filtered(run)


def _git(run: Invocation) -> Stream:
    if "--show-toplevel" in run.args and run.scope.workspace:
        return text(run.scope.workspace)
    if "ls-files" in run.args:
        names = run.args[run.args.index("ls-files") + 1 :]
        patterns = [word for word in names if not word.startswith("-")]
        return listing(*(patterns or ["./**"]))
    return Stream(None, (), frozenset({COMMAND}))


def _mktemp(run: Invocation) -> Stream:
    folder = run.options("-p --tmpdir --suffix").of("-p", "--tmpdir")
    names = run.options("-p --tmpdir --suffix").operands
    name = names[0] if names else "tmp.x4242"
    return text(name if name.startswith("/") else f"{(folder or ['/tmp'])[0] or '/tmp'}/{name}")  # noqa: S108


def _named(run: Invocation) -> Stream:
    words = [word for word in run.args if not word.startswith("-")]
    return text(words[-1] + "\n") if words else text("")


def _process(run: Invocation) -> Stream:
    words = [word for word in run.args if not word.startswith("-")]
    return text(hole("pid_" + "_".join(words)))


def _path(change: Callable[[str], str]) -> Callable[[Invocation], Stream]:
    def shown(run: Invocation) -> Stream:
        words = [word for word in run.args if not word.startswith("-")]
        return text(change(words[0])) if words and not holes(words[0]) else UNKNOWN

    return shown


def _absolute(run: Invocation) -> Stream:
    words = [word for word in run.args if not word.startswith("-")]
    path = run.scope.path(words[0]) if words else run.scope.cwd
    return text(path) if path else UNKNOWN


def _fixed(value: str) -> Callable[[Invocation], Stream]:
    return lambda run: text(value)


_KNOWN: dict[str, Callable[[Invocation], Stream]] = {
    "echo": _echo, "printf": _printf, "cat": _cat,
    "base64": decoding.base_64, "xxd": decoding.xxd, "rev": decoding.rev, "tr": decoding.tr,
    "git": _git, "mktemp": _mktemp, "which": _named, "command": _named, "tee": filtered, "sed": filtered,
    **dict.fromkeys(("pgrep", "pidof", "lsof", "fuser"), _process),
    "basename": _path(basename), "dirname": _path(lambda path: dirname(path) or "."),
    **dict.fromkeys(("realpath", "readlink", "pwd"), _absolute),
    **dict.fromkeys((":", "true", "false", "sleep", "mkdir", "touch"), _fixed("")),
    "whoami": _fixed("user"), "hostname": _fixed("host"), "nproc": _fixed("4"), "date": _fixed("20240101"),
    "id": _fixed("1000"), "uname": _fixed("Linux"), "seq": _fixed("1"), "wc": _fixed("3"), "arch": _fixed("x86_64"),
    "cd": lambda run: NOTHING,
    "ps": lambda run: Stream(None, (), frozenset({PROCESSES, COMMAND})),
    "yes": lambda run: Stream(None, (), frozenset({ENDLESS})),
}  # fmt: skip
