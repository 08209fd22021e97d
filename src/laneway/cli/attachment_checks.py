"""What `laneway doctor` says of attachments: who listens, looks and reads, and where originals are kept."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from laneway.cli.checks import Finding, State
from laneway.errors import SettingsError
from laneway.settings import Settings

PACKAGES = {"pypdf": "PDF", "defusedxml": "Word and PowerPoint", "python_calamine": "spreadsheets", "PIL": "images"}
"""What reads documents, and which."""
PROBE = b"laneway doctor was here\n"


async def attachments(settings: Settings) -> AsyncIterator[Finding]:
    """One finding for each of them; nobody is asked anything that costs money."""
    from laneway.channels.attachments.reading import find_tesseract, languages_of
    from laneway.llm.transcription import Endpoint, probe
    from laneway.llm.vision import vision_spec

    endpoint = Endpoint.of(settings)
    complaint = await probe(endpoint) if endpoint else None
    yield transcription(endpoint.url if endpoint else None, settings.transcription_model, complaint)
    yield vision(vision_spec(settings), settings.describe_images)
    program = find_tesseract()
    yield letters(program, languages_of(program) if program else ())
    yield documents([name for name in PACKAGES if importlib.util.find_spec(name) is None])
    yield await originals(settings)


def transcription(url: str | None, model: str, complaint: str | None = None) -> Finding:
    """Whether voice notes are written down."""
    if url is None:
        return Finding(
            "voice notes", "ok", "They are stored and not transcribed.",
            "Set OPENAI_API_KEY, or LANEWAY_TRANSCRIPTION_URL for another server.",
        )  # fmt: skip
    if complaint is not None:
        return Finding("voice notes", "fail", complaint, "Correct LANEWAY_TRANSCRIPTION_URL or its key.")
    return Finding("voice notes", "ok", f"{model} at {url} writes them down.")


def vision(spec: str | None, wanted: bool) -> Finding:
    """Whether images are described."""
    if spec is not None:
        return Finding("images", "ok", f"{spec} describes them.")
    if not wanted:
        return Finding("images", "ok", "They are not described (LANEWAY_DESCRIBE_IMAGES).")
    return Finding(
        "images", "ok", "They are stored and not described: no model is known that can see.",
        "Set a key, or LANEWAY_VISION_MODEL.",
    )  # fmt: skip


def letters(program: str | None, languages: Sequence[str]) -> Finding:
    """Whether text in images is read."""
    install = "Install tesseract (`apt install tesseract-ocr`)."
    if program is None:
        return Finding("text in images", "ok", "It is not read: tesseract is not installed.", install)
    if not languages:
        return Finding("text in images", "warn", f"{program} has no languages.", install)
    return Finding("text in images", "ok", f"tesseract reads it ({', '.join(languages)}).")


def documents(missing: Sequence[str]) -> Finding:
    """Whether documents are read."""
    if missing:
        kinds = ", ".join(PACKAGES[name] for name in missing)
        return Finding(
            "documents", "warn", f"Stored and not read: {kinds}.", "Install it: `pip install 'laneway[documents]'`."
        )
    return Finding("documents", "ok", "PDF, Office, OpenDocument, mail, HTML and text are read.")


async def originals(settings: Settings) -> Finding:
    """Whether large files can be kept where they should; the bucket is really written to."""
    from laneway.channels.attachments.opened import FOLDER, bucket_of
    from laneway.store.artifacts import SCHEME, reference
    from laneway.store.shelves import ShelfFault

    try:
        bucket = bucket_of(settings)
    except SettingsError as error:
        return Finding("originals", "fail", error.message, error.hint)
    if bucket is None:
        return _folder(settings.home / FOLDER)
    try:
        digest = reference(PROBE).removeprefix(SCHEME)
        await bucket.put(digest, PROBE)
        same = await bucket.get(digest) == PROBE
    except ShelfFault as fault:
        return Finding(
            "originals", "fail", f"Large files cannot be kept: {fault}.", "Check the LANEWAY_ARTIFACTS_ settings."
        )
    if not same:
        return Finding("originals", "fail", f"The bucket {bucket.name} gives back other bytes.", "Look at it.")
    return Finding("originals", "ok", f"Large files are kept in the bucket {bucket.name}.")


def _folder(folder: Path) -> Finding:
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    if existing != folder:
        state: State = "ok" if os.access(existing, os.W_OK) else "fail"
        return Finding("originals", state, f"Large files will be kept in {folder}.", f"Make it yours: {existing}")
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        return Finding(
            "originals", "fail", f"{folder} cannot be written to: {error.strerror}.", f"Make it yours: chown {folder}"
        )
    return Finding("originals", "ok", f"Large files are kept in {folder}.")
