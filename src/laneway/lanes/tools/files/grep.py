"""`grep`: the lines of a workspace's text files that match a pattern."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laneway.lanes.tools.entry import Call, Outcome, failure, success
from laneway.lanes.tools.files import matching
from laneway.lanes.tools.files.walking import Found, Walk
from laneway.sandbox.images import content_of
from laneway.sandbox.paths import PathRefused, Place, opened_folder, place
from laneway.sandbox.sensitive_names import is_sensitive
from laneway.store.undo import shown

MOST_MATCHES = 200
LONGEST_LINE = 300
LONGEST_PATTERN = 1000
MOST_FILE_BYTES = 2 * 1024 * 1024
MOST_BYTES = 20 * 1024 * 1024
SECONDS = 10.0


async def grep(call: Call, pattern: str, path: str = ".", ignore_case: bool = False) -> Outcome:
    """Finds the lines that match a regular expression in the text files of this thread's workspace.

    `path` is the file or folder to look in. Binary files, files with names that hold secrets and very large ones are
    left out.
    """
    wrong = _wrong(pattern)
    if wrong:
        return failure(wrong)
    try:
        gathered = await asyncio.to_thread(_gather, call.workspace, path)
    except PathRefused as reason:
        return failure(str(reason))
    limits = {"pattern": pattern, "ignore_case": ignore_case, "most": MOST_MATCHES + 1, "longest": LONGEST_LINE}
    matches, ended = await _search(call, json.dumps(limits).encode() + b"\n" + gathered.texts)
    note = _note(gathered, len(matches), ended)
    result = {"pattern": pattern, "matches": matches[:MOST_MATCHES], "files_searched": gathered.files}
    return success({**result, "truncated": note is not None, "note": note})


def _wrong(pattern: str) -> str | None:
    """What is wrong with the pattern, if anything is."""
    if not pattern or len(pattern) > LONGEST_PATTERN:
        return f"A pattern has 1 to {LONGEST_PATTERN} characters."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError, MemoryError) as reason:
        return f"{pattern[:80]!r} is not a regular expression: {reason}."
    return None


@dataclass
class Gathered:
    """The texts to search as the other process reads them, how many, and why there are not more, if so."""

    texts: bytes = b""
    files: int = 0
    cut: str | None = None


def _gather(workspace: Path, path: str) -> Gathered:
    where = place(workspace, path, folder=True)
    gathered, parts = Gathered(), []
    walk = Walk(where)
    size = 0
    for found in _files(where, walk):
        content = _content(where.root, found)
        if content is None:
            continue
        if size + len(content) > MOST_BYTES:
            gathered.cut = f"Only the first {MOST_BYTES // 1024**2} MB of text were searched."
            break
        size += len(content)
        header = {"path": shown(found.path), "bytes": len(content)}
        parts += [json.dumps(header).encode() + b"\n", content]
        gathered.files += 1
    gathered.texts, gathered.cut = b"".join(parts), gathered.cut or walk.cut
    return gathered


def _files(where: Place, walk: Walk) -> list[Found]:
    """The files at or below the place."""
    if where.parts:
        with contextlib.suppress(OSError), opened_folder(where.root, where.parts):
            return [found for found in walk if found.kind == "file"]
        return [Found(where.parts, "file", 0)]
    return [found for found in walk if found.kind == "file"]


def _content(root: Path, found: Found) -> bytes | None:
    """The text of a file; None if it is not to be searched."""
    if is_sensitive(found.parts) or found.bytes > MOST_FILE_BYTES:
        return None
    try:
        with opened_folder(root, found.parts[:-1]) as at:
            content = content_of(at, found.parts[-1], MOST_FILE_BYTES)
    except OSError:
        return None
    return None if len(content) > MOST_FILE_BYTES or b"\0" in content else content


async def _search(call: Call, request: bytes) -> tuple[list[dict[str, Any]], bool]:
    """The matches, and whether there was time to look for all of them."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", str(matching.__file__), env={},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None

    def end() -> None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()

    forget = call.on_stop(end)
    lines: list[bytes] = []
    feeding = asyncio.create_task(_feed(process.stdin, request))
    in_time = True
    try:
        async with asyncio.timeout(SECONDS):
            async for line in process.stdout:
                lines.append(line)
    except TimeoutError:
        in_time = False
    finally:
        forget()
        end()
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await process.wait()
    return [json.loads(line) for line in lines], in_time


async def _feed(stream: asyncio.StreamWriter, request: bytes) -> None:
    with contextlib.suppress(ConnectionError):
        stream.write(request)
        await stream.drain()
        stream.close()


def _note(gathered: Gathered, matches: int, in_time: bool) -> str | None:
    """What of the answer is missing, if anything is."""
    if not in_time:
        return f"The search was ended after {SECONDS:.0f} seconds; the pattern may be too slow."
    if matches > MOST_MATCHES:
        return f"Only the first {MOST_MATCHES} matches are shown."
    return gathered.cut
