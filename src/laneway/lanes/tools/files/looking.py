"""`list_files` and `glob`: which files a workspace holds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from laneway.lanes.tools.entry import Call, Outcome, failure, success
from laneway.lanes.tools.files.walking import Walk, inside
from laneway.sandbox.paths import PathRefused, place
from laneway.store.undo import shown

MOST_NAMES = 500
LONGEST_PATTERN = 500


async def list_files(call: Call, path: str = ".") -> Outcome:
    """Lists what is in one folder of this thread's workspace: name, kind (file, folder, link) and size."""
    return await asyncio.to_thread(_list, call, path)


async def glob(call: Call, pattern: str) -> Outcome:
    """Lists the files of this thread's workspace whose path matches a pattern such as `*.md` or `src/**/*.py`.

    `*` and `?` stand for anything within one name, `**` for any number of folders.
    """
    return await asyncio.to_thread(_glob, call, pattern)


def _list(call: Call, path: str) -> Outcome:
    try:
        where = place(call.workspace, path, folder=True)
        entries = inside(where)
    except PathRefused as reason:
        return failure(str(reason))
    except FileNotFoundError:
        return failure(f"There is no folder {path!r} in this thread's workspace.")
    except NotADirectoryError:
        return failure(f"{path!r} is not a folder.")
    except OSError as reason:
        return failure(f"{path!r} cannot be listed: {os.strerror(reason.errno or 0)}.")
    listed = [{"name": shown(one.parts[-1]), "kind": one.kind, "bytes": one.bytes} for one in entries[:MOST_NAMES]]
    note = _only(len(entries)) if len(entries) > MOST_NAMES else None
    return success({"path": where.shown, "entries": listed, "truncated": note is not None, "note": note})


def _glob(call: Call, pattern: str) -> Outcome:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if not parts or pattern.startswith("/") or ".." in parts or len(pattern) > LONGEST_PATTERN:
        return failure(f"{pattern[:80]!r} is not a usable pattern. Write one like `*.md` or `src/**/*.py`.")
    try:
        walk = Walk(place(call.workspace, ".", folder=True))
    except PathRefused as reason:
        return failure(str(reason))
    paths = [shown(one.path) for one in walk if one.kind != "folder" and matches(one.parts, parts)]
    note = walk.cut or (_only(len(paths)) if len(paths) > MOST_NAMES else None)
    result = {"pattern": pattern, "paths": sorted(paths)[:MOST_NAMES], "truncated": note is not None, "note": note}
    return success(result)


def matches(names: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether a path, name by name, fits the pattern; each pair is tried once, so no pattern can make it slow."""

    @cache
    def fits(name: int, pattern: int) -> bool:
        if pattern == len(patterns):
            return name == len(names)
        if patterns[pattern] == "**":
            return fits(name, pattern + 1) or (name < len(names) and fits(name + 1, pattern))
        return name < len(names) and fnmatchcase(names[name], patterns[pattern]) and fits(name + 1, pattern + 1)

    return fits(0, 0)


def _only(found: int) -> str:
    return f"Only the first {MOST_NAMES} of {found} are shown."
