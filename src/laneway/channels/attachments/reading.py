"""The server's side of reading files: one process for each, which is gone afterwards whatever it did."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from laneway.channels.attachments.documents.contract import Document, Unreadable

MEGABYTE = 1024 * 1024
AT_ONCE = 2
MOST_OUTPUT = 24 * MEGABYTE
MOST_LANGUAGES = 4
TOO_LONG = "it takes too long to read"
_WORKER = "laneway.channels.attachments.worker"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much reading one file may take."""

    seconds: float = 20.0
    pages: int = 50
    characters: int = 200_000
    pixels: int = 50_000_000
    memory_bytes: int = 768 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture ready to be looked at, and how large the original is."""

    content: bytes
    width: int
    height: int


class Readers:
    """Reads files in processes of their own, two at a time."""

    def __init__(self, bounds: Bounds, tesseract: str | None = None) -> None:
        self.bounds = bounds
        self._tesseract = tesseract
        self._turns = asyncio.Semaphore(AT_ONCE)

    @property
    def reads_letters(self) -> bool:
        return self._tesseract is not None

    async def text(self, content: bytes, form: str, mime: str) -> Document:
        """The text of a document."""
        order = {"form": form, "mime": mime, "pages": self.bounds.pages, "characters": self.bounds.characters}
        return Document(**await self._answer("text", content, order))

    async def picture(self, content: bytes, side: int, *, gray: bool = False) -> Picture | None:
        """The picture made ready; None where nothing is installed that could."""
        order = {"side": side, "pixels": self.bounds.pixels, "gray": gray}
        answer = await self._answer("picture", content, order)
        if answer.get("missing"):
            return None
        return Picture(base64.b64decode(answer["content"]), answer["width"], answer["height"])

    async def letters(self, picture: bytes) -> str | None:
        """The text in a picture; None where tesseract is not installed."""
        languages = await asyncio.to_thread(languages_of, self._tesseract) if self._tesseract else ()
        if not languages:
            return None
        order = {"program": self._tesseract, "languages": "+".join(languages)}
        return (await self._run("letters", picture, order)).decode("utf-8", "replace").strip()

    async def _answer(self, job: str, content: bytes, order: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(await self._run(job, content, order))
        if "note" in answer:
            raise Unreadable(answer["note"])
        return answer

    async def _run(self, job: str, content: bytes, order: dict[str, Any]) -> bytes:
        """What the worker wrote, or Unreadable."""
        limits = {"job": job, "seconds": self.bounds.seconds, "memory_bytes": self.bounds.memory_bytes}
        async with self._turns:
            with await asyncio.to_thread(_as_file, content) as file:
                return await _ran(json.dumps(limits | order), file, self.bounds.seconds)


def find_tesseract() -> str | None:
    """Where the program is that reads letters in pictures."""
    return shutil.which("tesseract")


@cache
def languages_of(program: str) -> tuple[str, ...]:
    """The languages it was installed with, English first."""
    import subprocess

    listed = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, timeout=10, check=False, stdin=subprocess.DEVNULL
    )
    found = {line.strip() for line in (listed.stdout or listed.stderr).splitlines()[1:]} - {"osd", "equ", ""}
    return tuple(sorted(found, key=lambda name: (name != "eng", name))[:MOST_LANGUAGES])


def _as_file(content: bytes) -> IO[bytes]:
    file = tempfile.TemporaryFile(prefix="laneway-")  # noqa: SIM115  its user closes it
    file.write(content)
    file.seek(0)
    return file


async def _ran(order: str, file: IO[bytes], seconds: float) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", _WORKER, order),
        stdin=file,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Nothing of ours is in its environment: what it reads may have come to look for keys.
        env={"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
        cwd="/",
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(seconds + 2):
            said = await _limited(process.stdout)
            await process.wait()
    except TimeoutError as error:
        raise Unreadable(TOO_LONG) from error
    finally:
        await asyncio.shield(_ended(process))
    if process.returncode != 0:
        raise Unreadable(_reason(process.returncode))
    return said


async def _limited(output: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := await output.read(64 * 1024):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_OUTPUT:
            raise Unreadable("far more comes out of it than it should")
    return b"".join(pieces)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """The worker and all it started are dead."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _reason(code: int | None) -> str:
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return TOO_LONG
    # What is written in Rust or C++ gives up so when it gets no memory.
    return "it needs too much memory" if code in (-signal.SIGABRT, -signal.SIGSEGV) else "it is broken"
