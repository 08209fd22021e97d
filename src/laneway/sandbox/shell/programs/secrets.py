"""Secrets: files that hold them, commands that print them, variables that carry them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import basename

from laneway.sandbox.shell.holes import holes, shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import HOME_FOLDER, PATTERN, PROCESS_MEMORY, SECRET_FOLDER, SECRET_VARIABLE
from laneway.sandbox.shell.places import Place, is_secret, locate
from laneway.sandbox.shell.programs.naming import Rule
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import SECRET
from laneway.sandbox.shell.tables import table

_TABLE = table("programs/secrets")
NOT_REVEALING, _MAKING_KEYS, _SEARCHING, _FILTERING, _COPYING, _KEY_OPTIONS, _SQL = (
    frozenset(_TABLE["files"][name].split())
    for name in ("not_revealing", "making_keys", "searching", "filtering", "copying", "key_options", "sql")
)
_DEEP = re.compile(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive")
_IN_SQL = re.compile(r"(?<![\w*/.~=])(?:~|\.{1,2})?/[^\s'\";),]+")
HUNT = re.compile(r"(?i)pass(word|wd)|secret|token|api.?key|private key|credential|BEGIN .*KEY|aws_|AKIA")


def named_paths(word: str) -> Iterator[str]:
    """The paths a word may name: itself, and what follows @, =, : or <."""
    yield word
    for found in re.finditer(r"[@=<]\s*([~/.\w][^@=;,]*)", word):
        yield found[1]
    if word.startswith("file:"):
        yield re.sub(r"^file:/*", "/", word)
    if ":" in word and not word.startswith(("/", "~", ".")) and "://" not in word:
        yield word.split(":", 1)[1]


def reads_secret(run: Invocation) -> Iterator[Finding]:
    """Any program that is given a secret file to read."""
    words = _named_files(run)
    making = run.program == "openssl" and not _MAKING_KEYS.isdisjoint(run.args[:1])
    quiet = (run.program in NOT_REVEALING or making) and "--no-index" not in run.args
    for place, word in enumerate(words):
        if re.search(r"\s", word) and not word.startswith(("/", "~", ".", "@")):
            continue
        if place and words[place - 1] in _KEY_OPTIONS and run.program not in ("base64", "cat"):
            continue
        if run.program in _SEARCHING and PATTERN.search(basename(word)) and not HUNT.search(" ".join(run.args)):
            continue
        for path in named_paths(word):
            for found in secret_file(path, run.scope, quiet=quiet):
                if found.rule != "own-secret" or run.program not in ("cp", "tee", "install", "sed", "dd"):
                    yield found
    if run.program in _COPYING:
        yield from _whole_folders(run)


def _named_files(run: Invocation) -> list[str]:
    """The arguments that may be files to read: not the target of a copy, not the pattern of a search."""
    if run.program in ("cp", "install", "scp", "rsync"):
        return run.args[:-1]
    if run.program in _SEARCHING | _FILTERING and not {"-e", "-f", "--regexp", "--file"} & set(run.args):
        pattern = next((place for place, word in enumerate(run.args) if not word.startswith("-")), 0)
        return run.args[pattern + 1 :]
    return run.args


def secret_file(word: str, scope: Scope, *, quiet: bool = False) -> Iterator[Finding]:
    """What is found when a file is read, by its own name or by where a link of that name leads."""
    path, spelled = scope.path(word), scope.spelled(word)
    if path is not None and spelled is not None and not is_secret(path) and is_secret(spelled):
        path = spelled
    if path is None:
        path = re.sub(r"^\W*\ue000[^\ue002]*\ue002", "/", word)
    if PROCESS_MEMORY.search(path) and not quiet:
        yield Finding("other-environment", f"It reads {shown(word)}: the environment or memory of a process.")
    elif is_secret(path) and not quiet:
        if locate(path, scope) in (Place.INSIDE, Place.SCRATCH) or path.endswith("_history"):
            yield Finding("own-secret", f"It shows {shown(word)}, which holds secrets.")
        else:
            yield Finding("read-secret", f"It reads {shown(word)}, a private key, token or password.")


def _whole_folders(run: Invocation) -> Iterator[Finding]:
    searching = run.program in _SEARCHING
    if searching and not (run.program in ("rg", "ag", "ack") or any(_DEEP.fullmatch(word) for word in run.args)):
        return
    if run.program == "cp" and not any(_DEEP.fullmatch(word) for word in run.args):
        return
    words = _named_files(run) if searching else run.args
    for word in words:
        path = run.scope.path(word.partition(":")[0] if run.program in ("scp", "rsync") else word)
        if path is None or word.startswith("-") or path == run.scope.workspace:
            continue
        whole = SECRET_FOLDER.search(path) is not None or (PATTERN.search(path) is not None and is_secret(f"{path}/*"))
        everywhere = locate(path, run.scope) in (Place.ROOT, Place.ABOVE, Place.SYSTEM, Place.OUTSIDE)
        if HOME_FOLDER.search(path):
            whole = not searching
        if whole or (searching and everywhere and HUNT.search(" ".join(run.args))):
            yield Finding("read-secret", f"It takes in {shown(word)}, secrets included.")


def shows_variable(run: Invocation) -> Iterator[Finding]:
    """echo and printf of a variable that carries a secret, to whoever reads the answer."""
    if not run.piped:
        for label in (label for word in run.args for label in holes(word)):
            if label.startswith("v_") and SECRET_VARIABLE.search(label):
                yield Finding("own-secret", f"It shows the variable {label[2:]}, which carries a secret.")
            elif label == SECRET:
                yield Finding("own-secret", "It shows a secret.")


def printenv(run: Invocation) -> Iterator[Finding]:
    for word in run.args:
        if SECRET_VARIABLE.search(word) and not run.piped:
            yield Finding("own-secret", f"It shows the variable {shown(word)}, which carries a secret.")


def hunts(run: Invocation) -> Iterator[Finding]:
    """grep for secrets in the environment that was piped to it."""
    if "env" in run.stdin.origins and not run.piped and any(HUNT.search(word) or "KEY" in word for word in run.args):
        yield Finding("own-secret", "It picks secrets out of the environment.")


def prints(run: Invocation) -> Iterator[Finding]:
    """Keepers of secrets that are told to show them."""
    if re.search(_TABLE["prints"][run.program], " ".join(run.args), re.DOTALL):
        yield Finding("read-secret", f"It prints or exports secrets ({run}).")


def queries(run: Invocation) -> Iterator[Finding]:
    """Files that a statement names, whatever function of the database reads them."""
    for text in (*run.args, run.stdin.text or ""):
        for path in _IN_SQL.findall(text) if " " in text else ():
            yield from secret_file(path, run.scope)


SECRETS: dict[str, Rule] = {
    **dict.fromkeys(_SQL, queries),
    **dict.fromkeys(_TABLE["prints"], prints),
    "echo": shows_variable, "printf": shows_variable, "printenv": printenv, "grep": hunts, "rg": hunts, "egrep": hunts,
}  # fmt: skip
