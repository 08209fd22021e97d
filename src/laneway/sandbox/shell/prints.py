"""What programs print, as far as the command line tells: echoed text, decoded text, listed paths, or only its origin."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from posixpath import basename, dirname

from laneway.sandbox.shell.holes import ansi_c, hole, holes
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import PROCESS_MEMORY
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
    SECRET,
    UNKNOWN,
    Stream,
    listing,
    text,
)

_FETCHERS = {
    "curl",
    "wget",
    "http",
    "https",
    "xh",
    "fetch",
    "lynx",
    "w3m",
    "aria2c",
    "nc",
    "ncat",
    "netcat",
    "ssh",
    "telnet",
    "ftp",
    "socat",
    "gsutil",
    "iwr",
    "irm",
    "Invoke-WebRequest",
    "Invoke-RestMethod",
}
_FILTERS = set(
    "cat tac sort uniq head tail grep egrep fgrep rg sed awk gawk cut tr column fold fmt nl tee less more bat jq yq wc strings "
    "xxd hexdump od base64 base32 gzip bzip2 xz zstd gunzip zcat bzcat xzcat openssl gpg iconv rev paste pv split tar zip cpio dd "
    "envsubst perl python python3 comm diff md5sum sha256sum sponge dos2unix unzip age uuencode uudecode ".split()
)
_DECODERS = {
    "base64",
    "base32",
    "xxd",
    "openssl",
    "gpg",
    "gunzip",
    "zcat",
    "bzcat",
    "xzcat",
    "rev",
    "tr",
    "uudecode",
    "unzip",
    "gzip",
    "xz",
    "age",
    "iconv",
    "od",
}
_ENDLESS_FILES = {"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}
_ENVIRONMENT = {"env", "printenv", "set", "export", "declare", "compgen"}
_TRUSTED = re.compile(
    r"(ssh-agent|dircolors|lesspipe|resize|starship|zoxide|direnv|pyenv|rbenv|nodenv|goenv|jenv|fnm|mise|asdf|brew|conda|mamba|micromamba|"
    r"opam|minikube|docker-machine|thefuck|register-python-argcomplete|luarocks|keychain|gnome-keyring-daemon|fzf|atuin|navi|pip|npm|gh|kubectl|helm|"
    r"poetry|rustup|cargo|aws_completer|terraform|podman|deno|uv|just|kind|k3d|flux|argocd|oc|gcloud|eksctl|stern|glab|rtx|mcfly|tmuxp|nvm|limactl)"
)
_TRUSTED_WORDS = {
    "completion",
    "completions",
    "init",
    "hook",
    "shellenv",
    "env",
    "activate",
    "-s",
    "-c",
    "--init",
    "shell.bash",
    "docker-env",
    "generate-shell-completion",
    "shell-init",
    "--bash",
    "autocomplete",
    "gen-completions",
    "--eval",
    "-sh",
    "",
    "shell",
}


def output(run: Invocation) -> Stream:
    """What a program writes to its standard output."""
    shown = _KNOWN.get(run.program)
    if shown is not None:
        return shown(run)
    if run.program in _FETCHERS:
        return Stream(None, (), frozenset({NETWORK}))
    if run.program in _ENVIRONMENT and not run.args[1:]:
        return Stream(None, (), frozenset({ENVIRONMENT}))
    if _TRUSTED.fullmatch(run.program) and any(
        word in _TRUSTED_WORDS for word in [*run.args[:3], *([""] if not run.args else [])]
    ):
        return text("")
    found = found_paths(run)
    if found:
        return listing(*found)
    if run.program in _FILTERS:
        return _filtered(run)
    return Stream(None, (), run.stdin.origins | {COMMAND})


def _filtered(run: Invocation) -> Stream:
    origins = set(run.stdin.origins) if run.stdin.given else set()
    if run.program in ("head", "sed", "awk", "dd"):
        origins.discard(ENDLESS)
    files = [word for word in run.args if not word.startswith("-")]
    for word in files:
        if word in _ENDLESS_FILES and run.program not in ("head", "dd", "od", "xxd"):
            origins.add(ENDLESS)
        path = run.scope.path(word) or word
        if is_secret(path) or PROCESS_MEMORY.search(path):
            origins.add(SECRET)
        elif path in run.scope.written:
            origins |= run.scope.written[path].origins
    if not run.stdin.given and len(files) > (
        0
        if run.program in ("cat", "tar", "zip", "base64", "gzip", "strings", "head", "tail", "xxd", "sort", "dd")
        else 1
    ):
        origins.add(FILE)
    decodes = run.program in _DECODERS and re.search(
        r"(^| )(-[a-zA-Z]*[dDr]|--decode|--decrypt|enc|-A)", " ".join(run.args)
    )
    if decodes or run.program in ("gunzip", "zcat", "bzcat", "xzcat", "rev", "uudecode"):
        origins.add(DECODED)
    paths = (
        run.stdin.paths
        if run.program in ("sort", "uniq", "head", "tail", "grep", "egrep", "tee", "cat", "rg", "tac", "nl")
        else ()
    )
    known = run.stdin.text if run.program in ("tee", "cat", "sponge", "pv") else None
    return Stream(known, paths, frozenset(origins or {COMMAND}))


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
    if words[0] in _ENDLESS_FILES:
        return Stream(None, (), frozenset({ENDLESS}))
    if len(words) == 1:
        path = run.scope.path(words[0])
        if path is not None and path in run.scope.written:
            return run.scope.written[path]
        if path is not None and (is_secret(path) or PROCESS_MEMORY.search(path)):
            return Stream(None, (), frozenset({SECRET}))
        return Stream(None, (), frozenset({FILE}), file=path or words[0])
    return _filtered(run)


def _base64(run: Invocation) -> Stream:
    source = run.stdin
    if run.options("-w --wrap -i --input").has("-d", "-D", "--decode") and source.text is not None and source.given:
        try:
            return text(base64.b64decode("".join(source.text.split()) + "==").decode("utf-8", "replace"))
        except (binascii.Error, ValueError):
            return Stream(None, (), frozenset({DECODED}))
    return _filtered(run)


def _xxd(run: Invocation) -> Stream:
    found = run.options("-c -l -s -g")
    if found.has("-r") and run.stdin.text is not None and run.stdin.given:
        digits = re.sub(r"[^0-9a-fA-F]", "", run.stdin.text.replace("0x", ""))
        try:
            return text(binascii.unhexlify(digits).decode("utf-8", "replace"))
        except (binascii.Error, ValueError):
            return Stream(None, (), frozenset({DECODED}))
    return _filtered(run)


def _rev(run: Invocation) -> Stream:
    if run.stdin.text is not None and run.stdin.given:
        return text("\n".join(line[::-1] for line in run.stdin.text.split("\n")))
    return _filtered(run)


def _tr(run: Invocation) -> Stream:
    if run.stdin.text is None or not run.stdin.given:
        return _filtered(run)
    if (
        re.fullmatch(r"\[?[Aa]-[Zz]\]?(\[?[Aa]-[Zz]\]?)?", (run.args[:1] or [""])[0])
        and "n-z" in "".join(run.args).lower()
    ):
        return text(codecs.encode(run.stdin.text, "rot13"))
    if run.args[:1] == ["-d"] and len(run.args) == 2:
        return text("".join(sign for sign in run.stdin.text if sign not in ansi_c(run.args[1])))
    if len(run.args) == 2 and "-" not in "".join(run.args) and "[" not in run.args[0] and run.args[1]:
        first, second = ansi_c(run.args[0]), ansi_c(run.args[1])
        return text(run.stdin.text.translate(str.maketrans(first, second.ljust(len(first), second[-1])[: len(first)])))
    return _filtered(run)


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
    "echo": _echo, "printf": _printf, "cat": _cat, "base64": _base64, "xxd": _xxd, "rev": _rev, "tr": _tr, "git": _git,
    "mktemp": _mktemp, "which": _named, "command": _named, "whoami": _fixed("user"), "hostname": _fixed("host"), "nproc": _fixed("4"),
    "date": _fixed("20240101"), "id": _fixed("1000"), "uname": _fixed("Linux"), "seq": _fixed("1"), "pgrep": _process, "pidof": _process,
    "basename": _path(basename), "dirname": _path(lambda path: dirname(path) or "."), "realpath": _absolute, "readlink": _absolute, "pwd": _absolute,
    ":": _fixed(""), "true": _fixed(""), "false": _fixed(""), "cd": lambda run: NOTHING, "tee": _filtered, "wc": _fixed("3"), "arch": _fixed("x86_64"),
    "yes": lambda run: Stream(None, (), frozenset({ENDLESS})), "lsof": _process, "fuser": _process, "sleep": _fixed(""), "mkdir": _fixed(""), "touch": _fixed(""), "sed": _filtered,
}  # fmt: skip
