"""Filters in a pipe: what decoders make of a known text, and where the output of any filter comes from."""

from __future__ import annotations

import base64
import binascii
import codecs
import re

from laneway.sandbox.shell.holes import ansi_c
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.place_names import PROCESS_MEMORY
from laneway.sandbox.shell.places import is_secret
from laneway.sandbox.shell.programs.secrets import HUNT
from laneway.sandbox.shell.streams import COMMAND, DECODED, ENDLESS, ENVIRONMENT, FILE, PROCESSES, SECRET, Stream, text
from laneway.sandbox.shell.tables import table

_DECODERS = frozenset(table("prints")["decoders"].split())
ENDLESS_FILES = {"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}


def filtered(run: Invocation) -> Stream:
    origins = set(run.stdin.origins) if run.stdin.given else set()
    if run.program in ("head", "sed", "awk", "dd"):
        origins.discard(ENDLESS)
    if run.program in ("grep", "egrep", "rg", "head", "tail") or (
        run.program == "awk" and "/" in "".join(run.args[:1])
    ):
        origins.discard(PROCESSES)
    files = [word for word in run.args if not word.startswith("-")]
    for word in files:
        if word in ENDLESS_FILES and run.program not in ("head", "dd", "od", "xxd"):
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
    if ENVIRONMENT in origins and run.program in ("grep", "egrep", "rg") and HUNT.search(" ".join(run.args)):
        origins.add(SECRET)
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


def base_64(run: Invocation) -> Stream:
    source = run.stdin
    if run.options("-w --wrap -i --input").has("-d", "-D", "--decode") and source.text is not None and source.given:
        try:
            return text(base64.b64decode("".join(source.text.split()) + "==").decode("utf-8", "replace"))
        except (binascii.Error, ValueError):
            return Stream(None, (), frozenset({DECODED}))
    return filtered(run)


def xxd(run: Invocation) -> Stream:
    found = run.options("-c -l -s -g")
    if found.has("-r") and run.stdin.text is not None and run.stdin.given:
        digits = re.sub(r"[^0-9a-fA-F]", "", run.stdin.text.replace("0x", ""))
        try:
            return text(binascii.unhexlify(digits).decode("utf-8", "replace"))
        except (binascii.Error, ValueError):
            return Stream(None, (), frozenset({DECODED}))
    return filtered(run)


def rev(run: Invocation) -> Stream:
    if run.stdin.text is not None and run.stdin.given:
        return text("\n".join(line[::-1] for line in run.stdin.text.split("\n")))
    return filtered(run)


def tr(run: Invocation) -> Stream:
    if run.stdin.text is None or not run.stdin.given:
        return filtered(run)
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
    return filtered(run)
