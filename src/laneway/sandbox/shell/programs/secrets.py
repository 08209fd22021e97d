"""Secrets: files that hold them, commands that print them, variables that carry them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import holes, shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import PROCESS_MEMORY, SECRET_FOLDER, SECRET_VARIABLE
from laneway.sandbox.shell.places import Place, is_secret, locate
from laneway.sandbox.shell.programs.files import Rule
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scope import Scope

_NOT_REVEALING = set(
    "ls ll dir stat test [ [[ chmod chown chgrp ssh ssh-add ssh-keygen sftp mosh autossh ssh-copy-id find rm unlink shred touch mkdir rmdir "
    "file wc du df realpath readlink basename dirname echo printf which type command git cd pushd source . export sha256sum "
    "md5sum sha1sum shasum cksum tree ln docker docker-compose podman kubectl helm psql mysql ansible-playbook terraform dotenv certbot "
    "openssl-x509 mv code vercel npm yarn pnpm node make chattr inotifywait gpg-agent rsync-ssh getfacl lsattr exa eza fd locate "
    "flask uvicorn gunicorn python python3 uv poetry direnv heroku fly nginx stunnel wg-quick bat-names direnv git-crypt sops age sleep true".split()
)
"""Programs that may be given a secret file without showing what it says."""
_MAKING_KEYS = {"req", "x509", "s_client", "s_server", "genrsa", "genpkey", "ecparam", "dhparam", "verify", "ca", "crl"}
_DEEP = re.compile(r"-[a-zA-Z]*[rRa][a-zA-Z]*|--recursive|--archive")
_COPYING = {
    "tar",
    "zip",
    "cp",
    "rsync",
    "scp",
    "7z",
    "rclone",
    "restic",
    "borg",
    "cpio",
    "pax",
    "grep",
    "rg",
    "ag",
    "ack",
    "egrep",
    "sftp",
}
_HUNT = re.compile(r"(?i)pass(word|wd)|secret|token|api.?key|private key|credential|BEGIN .*KEY|aws_|AKIA")
_KEY_OPTION = {
    "-i",
    "--key",
    "--private-key",
    "--identity",
    "-K",
    "--cert",
    "-E",
    "--env-file",
    "--kubeconfig",
    "--cacert",
    "--config",
    "-F",
    "--netrc-file",
    "--ssh-key",
}


def _candidates(word: str) -> Iterator[str]:
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
    words = run.args[:-1] if run.program in ("cp", "install", "scp", "rsync") else run.args
    quiet = run.program in _NOT_REVEALING or (run.program == "openssl" and run.args[:1] and run.args[0] in _MAKING_KEYS)
    for place, word in enumerate(words):
        if "/" not in word and "." not in word and not word.startswith("id_") and "key" not in word:
            continue
        if place and words[place - 1] in _KEY_OPTION and run.program not in ("base64", "cat"):
            continue
        for path in _candidates(word):
            for found in secret_file(path, run.scope, quiet=quiet):
                if found.rule != "own-secret" or run.program not in ("cp", "tee", "install", "sed", "dd"):
                    yield found
    if run.program in _COPYING:
        yield from _whole_folders(run)


def secret_file(word: str, scope: Scope, *, quiet: bool = False) -> Iterator[Finding]:
    path = scope.path(word)
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
    searching = run.program in ("grep", "rg", "ag", "ack", "egrep")
    if searching and not (run.program in ("rg", "ag", "ack") or any(_DEEP.fullmatch(word) for word in run.args)):
        return
    if run.program == "cp" and not any(_DEEP.fullmatch(word) for word in run.args):
        return
    words = run.args[1:] if searching else run.args
    for word in words:
        path = run.scope.path(word.partition(":")[0] if run.program in ("scp", "rsync") else word)
        if path is None or word.startswith("-") or path == run.scope.workspace:
            continue
        whole = SECRET_FOLDER.search(path) is not None
        everywhere = locate(path, run.scope) in (Place.ROOT, Place.ABOVE, Place.SYSTEM, Place.OUTSIDE)
        if (whole and not searching) or (searching and (whole or everywhere) and _HUNT.search(" ".join(run.args))):
            yield Finding("read-secret", f"It takes in {shown(word)}, secrets included.")


def shows_variable(run: Invocation) -> Iterator[Finding]:
    """echo and printf of a variable that carries a secret, to whoever reads the answer."""
    if not run.piped:
        for label in (label for word in run.args for label in holes(word)):
            if label.startswith("v_") and SECRET_VARIABLE.search(label):
                yield Finding("own-secret", f"It shows the variable {label[2:]}, which carries a secret.")


def printenv(run: Invocation) -> Iterator[Finding]:
    for word in run.args:
        if SECRET_VARIABLE.search(word) and not run.piped:
            yield Finding("own-secret", f"It shows the variable {shown(word)}, which carries a secret.")


def hunts(run: Invocation) -> Iterator[Finding]:
    """grep for secrets in the environment that was piped to it."""
    if "env" in run.stdin.origins and not run.piped and any(_HUNT.search(word) or "KEY" in word for word in run.args):
        yield Finding("own-secret", "It picks secrets out of the environment.")


def _prints(pattern: str) -> Rule:
    compiled = re.compile(pattern, re.DOTALL)

    def judge(run: Invocation) -> Iterator[Finding]:
        if compiled.search(" ".join(run.args)):
            yield Finding("read-secret", f"It prints or exports secrets ({run}).")

    return judge


SECRETS: dict[str, Rule] = {
    "gpg": _prints(r"--export-secret|--decrypt|(^| )-d\b|--delete-secret"), "gpg2": _prints(r"--export-secret|--decrypt"),
    "security": _prints(r"find-(generic|internet)-password|dump-keychain|export"), "pass": _prints(r"^(show|grep|\S+/\S+)|-c\b"),
    "secret-tool": _prints(r"lookup|search"), "op": _prints(r"\b(read|get|item get)\b"), "bw": _prints(r"\b(get|export|list)\b"),
    "keyctl": _prints(r"print|read|pipe"), "vault": _prints(r"^(kv get|read|token|print token)"), "doppler": _prints(r"secrets( download| get)?"),
    "mimipenguin": _prints(""), "lazagne": _prints(""), "kwallet-query": _prints(""), "ssh-keyscan": _prints(r"$^"),
    "openssl": _prints(r"^(rsa|pkey|ec|pkcs12)\b(?!.*(-pubout|-check|-modulus|-pubin)).*-in\b"), "ansible-vault": _prints(r"^(view|decrypt)"),
    "heroku": _prints(r"^config(:get)?\b"), "chezmoi": _prints(r"secret"), "aws-vault": _prints(r"^(export|exec \S+ -- env)"), "sops": _prints(r"(^| )(-d|--decrypt|decrypt)\b"),
    "echo": shows_variable, "printf": shows_variable, "printenv": printenv, "grep": hunts, "rg": hunts, "egrep": hunts,
}  # fmt: skip
