"""Programs that remove, move, copy, link, empty or re-own files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.losing import removes, writes
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.programs.secrets import secret_file
from laneway.sandbox.shell.rules import Finding

_OPEN_MODE = re.compile(
    r"0?[0-7]?[0-7]?[0-7][2367]|(.*,)?[ugo]*[oa][ugo]*\+[rxX]*w.*|\+[rxX]*w[rxX]*|0?[0-7]?0[0-7]{2}|a=rwx|a\+rwx|ugo\+rwx|0+"
)
_TIGHT_MODE = re.compile(r"0?[0-7]00|[ug]?o?-[rwx]+|go-[rwx]+|go=|u\+x|\+x|a\+x|u=rwx?|0?[67]44|0?[67]4[04]|0?755")
_SETUID = re.compile(r"0?[2-7][0-7]{3}|[ugoa]*\+[rwx]*s[rwx]*|[ugoa]*=[rwx]*s[rwx]*")


def rm(run: Invocation) -> Iterator[Finding]:
    found = run.options()
    if "--no-preserve-root" in found.flags:
        yield Finding("lose-root", "It tells rm not to keep the root of the file system.")
    for word in found.operands:
        yield from removes(word, run.scope)


def rmdir(run: Invocation) -> Iterator[Finding]:
    for word in run.options().operands:
        if place_of(word, run.scope) in (Place.GUARD, Place.DEVICE):
            yield from removes(word, run.scope)


def shred(run: Invocation) -> Iterator[Finding]:
    for word in run.options("-n --iterations -s --size --random-source").operands:
        if place_of(word, run.scope) in (Place.INSIDE, Place.SCRATCH):
            yield Finding("lose-work", f"It overwrites {shown(word)} so that nothing brings it back.")
        yield from removes(word, run.scope)


def trash(run: Invocation) -> Iterator[Finding]:
    operands = [word for word in run.options().operands if word not in ("trash", "put")]
    for word in operands:
        if place_of(word, run.scope) not in (Place.INSIDE, Place.SCRATCH):
            yield from removes(word, run.scope)


def mv(run: Invocation) -> Iterator[Finding]:
    found = run.options("-t --target-directory -S --suffix")
    into = found.of("-t", "--target-directory")
    words = found.operands
    sources, targets = (words, into) if into else (words[:-1], words[-1:])
    for word in sources:
        place = place_of(word, run.scope, itself=True)
        if any(place_of(target, run.scope) is Place.HARMLESS for target in targets):
            yield Finding("move-away", f"It moves {shown(word)} to nowhere.")
        elif place not in (Place.INSIDE, Place.SCRATCH):
            yield from removes(word, run.scope)
    for target in targets:
        if place_of(target, run.scope) is not Place.HARMLESS:
            yield from writes(target, run.scope)


def cp(run: Invocation) -> Iterator[Finding]:
    found = run.options("-t --target-directory -S --suffix")
    into = found.of("-t", "--target-directory")
    words = found.operands
    sources, targets = (words, into) if into else (words[:-1], words[-1:])
    empties = "/dev/null" in sources
    for word in sources:
        if place_of(word, run.scope) is Place.DEVICE:
            yield Finding("disk-device", f"It reads the device {shown(word)}.")
    for target in targets:
        yield from writes(target, run.scope, empties=empties)


def install(run: Invocation) -> Iterator[Finding]:
    found = run.options("-m --mode -o --owner -g --group -t --target-directory -S")
    targets = found.of("-t", "--target-directory") or (found.operands if "-d" in found.flags else found.operands[-1:])
    if any(_SETUID.fullmatch(mode) for mode in found.of("-m", "--mode")):
        yield Finding("permissions", "It makes a program that runs with its owner's rights.")
    for target in targets:
        yield from writes(target, run.scope)


def ln(run: Invocation) -> Iterator[Finding]:
    """A name is made, not written through; a hard link to a secret is the secret under another name."""
    found = run.options("-t --target-directory -S --suffix")
    targets = found.of("-t", "--target-directory") or found.operands[1:][-1:]
    for target in targets:
        yield from writes(target, run.scope, itself=True)
    if not found.has("-s", "--symbolic"):
        for word in found.operands:
            yield from (one for one in secret_file(word, run.scope) if one.rule != "own-secret")


def tee(run: Invocation) -> Iterator[Finding]:
    found = run.options()
    empties = run.stdin.text is not None and not run.stdin.text.strip()
    for word in found.operands:
        yield from writes(word, run.scope, empties=empties, appends=found.has("-a", "--append"))


def truncate(run: Invocation) -> Iterator[Finding]:
    found = run.options("-s --size -r --reference")
    sizes = found.of("-s", "--size")
    shrinks = not sizes or any(re.match(r"[-<]|0+[A-Za-z]*$", size) for size in sizes)
    if any(re.search(r"\d[GTPE]", size) for size in sizes):
        yield Finding("exhaust", "It makes a file large enough to fill the disk.")
    for word in found.operands:
        yield from writes(word, run.scope, empties=shrinks)


def make_room(run: Invocation) -> Iterator[Finding]:
    """mkdir and touch lose nothing, but system folders and guard files are not theirs."""
    for word in run.options("-m --mode -d --date -t -r --reference").operands:
        if place_of(word, run.scope) in (Place.SYSTEM, Place.GUARD, Place.STARTUP, Place.ROOT):
            yield from writes(word, run.scope)


def chmod(run: Invocation) -> Iterator[Finding]:
    words = [word for word in run.args if not re.fullmatch(r"-[RvfcHLP]+|--[a-z-]+(=.*)?", word)]
    if not words:
        return
    mode, targets = words[0], words[1:]
    deep = any(re.fullmatch(r"-[a-zA-Z]*R[a-zA-Z]*|--recursive", word) for word in run.args)
    if _SETUID.fullmatch(mode):
        yield Finding("permissions", "It makes a program run with its owner's rights.")
    for word in targets:
        place = place_of(word, run.scope)
        if place is Place.GUARD:
            yield from writes(word, run.scope)
        elif place in (Place.INSIDE, Place.WORKSPACE, Place.SCRATCH, Place.HARMLESS, Place.GIT):
            if deep and _OPEN_MODE.fullmatch(mode) and (not _TIGHT_MODE.fullmatch(mode) or not mode.strip("0")):
                yield Finding("permissions", f"It changes the permissions of everything in {shown(word)} to {mode}.")
        elif place is Place.UNKNOWN and not deep and _TIGHT_MODE.fullmatch(mode):
            continue
        elif place not in (Place.OUTSIDE, Place.STARTUP) or deep or not _TIGHT_MODE.fullmatch(mode):
            yield Finding("permissions", f"It changes the permissions of {shown(word)}, outside the workspace.")


def chown(run: Invocation) -> Iterator[Finding]:
    found = run.options("--from --reference")
    owner, *words = found.operands or [""]
    away = run.program == "chown" and found.has("-R", "--recursive") and re.match(r"(root|0)\b", owner)
    for word in words:
        place = place_of(word, run.scope)
        if place not in (Place.INSIDE, Place.SCRATCH, Place.WORKSPACE) or run.scope.root or away:
            yield Finding("permissions", f"It changes the owner of {shown(word)}.")


def chattr(run: Invocation) -> Iterator[Finding]:
    yield Finding("permissions", f"It changes attributes or capabilities of files ({run}).")


FILES = named("files", rm, rmdir, shred, trash, mv, cp, install, ln, tee, truncate, make_room, chmod, chown, chattr)
