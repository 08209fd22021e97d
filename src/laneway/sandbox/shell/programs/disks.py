"""Disks and file systems: formatting, partitioning, mounting, raw copies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import shown
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.places import Place, place_of
from laneway.sandbox.shell.programs.losing import writes
from laneway.sandbox.shell.programs.naming import named
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.tables import table

ASKING: dict[str, str] = table("programs/asking")["disk"]
"""What only asks, as a pattern on the arguments; anything else changes a disk."""


def disk(run: Invocation) -> Iterator[Finding]:
    asking = ASKING.get(run.program)
    if run.args in (["--help"], ["--version"], ["-V"], ["-h"]):
        return
    if asking is None or not re.fullmatch(asking, " ".join(run.args)):
        yield Finding("file-system", f"It makes, changes, mounts or destroys a file system ({run}).")


def dd(run: Invocation) -> Iterator[Finding]:
    given = dict(word.split("=", 1) for word in run.args if "=" in word)
    target, source = given.get("of"), given.get("if", "")
    if source and place_of(source, run.scope) is Place.DEVICE:
        yield Finding("disk-device", f"It reads the device {shown(source)} raw.")
    if target is not None:
        yield from writes(target, run.scope, empties=source == "/dev/null")
        endless = re.match(r"/dev/(zero|u?random|full)", source) and "count" not in given
        if endless and place_of(target, run.scope) is not Place.HARMLESS:
            yield Finding("exhaust", "It fills the disk.")
    if (
        re.search(r"[TPE]i?B?$", given.get("bs", ""))
        or int(re.sub(r"\D", "", given.get("count", "")) or 0) > 50_000_000
    ):
        yield Finding("exhaust", "It writes more than a disk holds.")


def fallocate(run: Invocation) -> Iterator[Finding]:
    found = run.options("-l --length -o --offset")
    for size in found.of("-l", "--length"):
        if re.fullmatch(r"\d{11,}|\d{2,}G(i?B)?|\d+[TPE](i?B)?", size):
            yield Finding("exhaust", "It takes up as much of the disk as it says.")
    for word in found.operands:
        yield from writes(word, run.scope)


DISKS = named("disks", disk, dd, fallocate)
