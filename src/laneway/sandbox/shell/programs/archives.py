"""Programs that pack, unpack, edit in place and mirror: tar, zip, rsync, sed and their like."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.hosts import foreign_target
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import VALUED

_SED_RUNS = re.compile(
    r"(?:^|[;{}\n])\s*(?:\d+|\$|/[^/]*/)?\s*e(?:\s|$)|"
    r"s([/|#,@!])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpiImM0-9]*e"
)
_SED_WRITES = re.compile(r"(?:^|[;{}\n/\d$])\s*w\s+(/\S+)")
_SED_EMPTIES = re.compile(r"\s*(1?,?\$?\s*d|1,\$d|/\.\*/d|/\^/d|s/\.\*//g?|d|Q|q0)\s*")
RSYNC = VALUED["rsync"]


def tar(run: Invocation) -> Iterator[Finding]:
    args = list(run.args)
    if args and not args[0].startswith("-"):
        args[0] = "-" + args[0]
    found = Invocation("tar", args, run.scope).options(
        "-f --file -C --directory -T --files-from -X --exclude-from --exclude -I --use-compress-program --to-command "
        "--checkpoint-action --transform -b --strip-components --one-top-level -g"
    )
    if found.has("-x", "--extract", "--get"):
        if found.has("-P", "--absolute-names"):
            yield Finding("write-outside", "It unpacks to absolute paths, wherever the archive says.")
        for folder in found.of("-C", "--directory", "--one-top-level"):
            yield from writes(folder, run.scope)
    if found.has("-c", "--create", "-r", "-u"):
        for file in found.of("-f", "--file"):
            if file != "-" and not foreign_target(file):
                yield from writes(file, run.scope)
            elif foreign_target(file):
                yield Finding("send-file", f"It packs local files into {shown(file)} on another host.")
    if found.has("--remove-files"):
        for word in found.operands:
            yield from removes(word, run.scope)


def unzip(run: Invocation) -> Iterator[Finding]:
    found = run.options("-d -x -P")
    for folder in found.of("-d"):
        yield from writes(folder, run.scope)
    for word in run.args:
        if word.startswith("-o") and len(word) > 2 and run.program.startswith("7z"):
            yield from writes(word[2:], run.scope)


def zip_(run: Invocation) -> Iterator[Finding]:
    found = run.options("-x -i -b -n -P --password")
    if found.has("-m", "--move"):
        for word in found.operands[1:]:
            yield from removes(word, run.scope)
    for word in found.operands[:1]:
        yield from writes(word, run.scope)


def sed(run: Invocation) -> Iterator[Finding]:
    found = run.options("-e --expression -f --file -l --line-length")
    scripts = found.of("-e", "--expression")
    files = found.operands
    if not scripts and not found.has("-f", "--file"):
        scripts, files = files[:1], files[1:]
    # Patterns take long over long runs of blanks, which say nothing.
    for script in [re.sub(r"[ \t]{2,}", " ", script) for script in scripts]:
        if _SED_RUNS.search(script):
            yield Finding("inline-script", "The sed script runs shell commands.")
        for target in _SED_WRITES.findall(script):
            yield from writes(target, run.scope)
    in_place = any(re.match(r"-[nErsuz]*i|--in-place", word) for word in run.args)
    for word in files if in_place else ():
        yield from writes(word, run.scope, empties=any(_SED_EMPTIES.fullmatch(script) for script in scripts))


def rsync(run: Invocation) -> Iterator[Finding]:
    found = run.options(RSYNC)
    if found.has("-n", "--dry-run", "--list-only") or len(found.operands) < 2:
        return
    *sources, target = found.operands
    deletes = any(flag.startswith(("--delete", "--del")) for flag in found.flags)
    if foreign_target(target):
        yield Finding("send-file", f"It copies local files to {shown(target)}.")
        if deletes:
            yield Finding("lose-outside", f"It deletes at {shown(target)} what is not here.")
    elif deletes:
        place = place_of(target, run.scope)
        if place is not Place.SCRATCH:
            yield from removes(target, run.scope)
    else:
        yield from writes(target, run.scope)
    if found.has("--remove-source-files"):
        for word in sources:
            yield from removes(word, run.scope)


def scp(run: Invocation) -> Iterator[Finding]:
    found = run.options("-i -P -o -F -c -J -l -S -D -X")
    if len(found.operands) < 2:
        return
    target = found.operands[-1]
    if foreign_target(target):
        if not all(foreign_target(word) for word in found.operands[:-1]):
            yield Finding("send-file", f"It copies local files to {shown(target)}.")
        else:
            yield Finding("remote-change", f"It copies files to {shown(target)}.")
    else:
        yield from writes(target, run.scope)


def patch(run: Invocation) -> Iterator[Finding]:
    for folder in run.options("-d --directory -p --strip -i --input -o -r").of("-d", "--directory"):
        yield from writes(folder, run.scope)


ARCHIVES = named("archives", tar, unzip, zip_, sed, rsync, scp, patch)
