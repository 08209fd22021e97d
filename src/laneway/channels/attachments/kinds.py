"""What is done with each kind of attachment: voices are written down, images described, documents read."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from laneway.channels.attachments.documents.contract import Unreadable
from laneway.channels.attachments.pixels import size_of
from laneway.channels.attachments.reading import Picture, Readers
from laneway.channels.attachments.sniff import Form
from laneway.channels.attachments.sound import ENDINGS, longest_seconds, seconds_of
from laneway.domain.conversation import Attachment
from laneway.errors import BudgetExceeded, ModelFault
from laneway.llm.transcription import Recording, Transcriber
from laneway.llm.vision import LONGEST_SIDE, Describer

LETTERS_SIDE = 3000
"""Small print must stay legible."""
PREVIEW = 8_000
"""Characters kept beside the attachment."""

_NO_WORDS = {
    "empty": "it is empty",
    "locked": "it is protected by a password",
    "old office": "it is in an old Office format; save it as .docx or .pptx",
    "rtf": "it is in a format nobody here reads; save it as .docx or PDF",
    "broken archive": "it is damaged",
}


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in an attachment."""

    kind: str
    mime: str
    preview: str
    meta: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    """The whole text, where the preview is not all of it."""


class Kinds:
    """Knows who can be asked about which kind; who is None is not there."""

    def __init__(self, readers: Readers, transcriber: Transcriber | None, describer: Describer | None) -> None:
        self._readers, self._transcriber, self._describer = readers, transcriber, describer

    async def read(self, attachment: Attachment, content: bytes, form: Form) -> Found:
        """What the attachment holds in words; Unreadable says why there is nothing."""
        if form.name == "sound" or (attachment.kind == "voice" and form.name == "film"):
            return await self._listen(content, form)
        if attachment.kind == "sticker" and form.name in ("film", "other"):
            return Found("sticker", form.mime, "", {"note": "moving stickers are kept and not watched"})
        if form.name == "image":
            return await self._look(attachment, content, form)
        if form.name == "film":
            return Found("video", form.mime, "", {"note": "films are kept and not watched"})
        if form.name in _NO_WORDS:
            raise Unreadable(_NO_WORDS[form.name])
        if form.name == "other" and attachment.kind in ("image", "voice"):
            raise Unreadable("its bytes are of no kind known here")
        if form.name == "other":
            return Found("file", form.mime, "", {"note": "nothing here reads such a file"})
        return await self._document(content, form)

    async def close(self) -> None:
        for one in (self._transcriber, self._describer):
            if one is not None:
                await one.close()

    async def _listen(self, content: bytes, form: Form) -> Found:
        measured = seconds_of(content)
        meta: dict[str, Any] = {} if measured is None else {"seconds": measured}
        if self._transcriber is None:
            return Found("voice", form.mime, "", meta | {"note": "no transcription server is set"})
        if form.mime not in ENDINGS:
            return Found("voice", form.mime, "", meta | {"note": f"{form.mime} is not taken by transcription servers"})
        seconds = longest_seconds(content) if measured is None else measured
        recording = Recording(content, f"voice.{ENDINGS[form.mime]}", form.mime, seconds, measured is not None)
        said, note = await _asked(self._transcriber.transcribe(recording))
        if said is None:
            return Found("voice", form.mime, "", meta | {"note": note})
        meta |= {"by": self._transcriber.model} | ({"seconds": said.seconds} if said.seconds and not measured else {})
        meta |= {"language": said.language[:40]} if said.language else {}
        # Nothing said is something else than nobody listened.
        return _cut(Found("voice", form.mime, said.text or "nothing is said", meta))

    async def _look(self, attachment: Attachment, content: bytes, form: Form) -> Found:
        kind = "sticker" if attachment.kind == "sticker" else "image"
        meta = self._dimensions(content)
        shown = await self._readers.picture(content, LONGEST_SIDE)
        meta |= {"width": shown.width, "height": shown.height} if shown else {}
        if kind == "sticker":
            return Found(kind, form.mime, "", meta)
        described, note = await self._described(shown)
        letters, complaint = await self._letters(content, shown is not None)
        meta |= {"ocr": letters[:PREVIEW]} if letters else {}
        notes = [one for one in (note, complaint) if one]
        meta |= {"note": "; ".join(notes)} if notes else {}
        meta |= {"by": self._describer.model.model_name} if described and self._describer else {}
        return Found(kind, form.mime, described or "", meta)

    def _dimensions(self, content: bytes) -> dict[str, Any]:
        """Width and height, known before anything is decoded; Unreadable if there is too much to decode."""
        size = size_of(content)
        if size is None:
            return {}
        width, height = size
        if width * height > self._readers.bounds.pixels:
            raise Unreadable(f"it has {width:,} × {height:,} pixels, which is too large to be looked at")
        return {"width": width, "height": height}

    async def _described(self, shown: Picture | None) -> tuple[str | None, str]:
        if self._describer is None:
            return None, "no model looks at images"
        if shown is None:
            return None, "looking at images needs `pip install 'laneway[documents]'`"
        said, note = await _asked(self._describer.describe(shown.content, "image/jpeg"))
        return (said[:PREVIEW] if said else None), note

    async def _letters(self, content: bytes, can_prepare: bool) -> tuple[str, str]:
        """The text in the image, and why it could not be read if it could not; both empty if nobody reads."""
        try:
            if not self._readers.reads_letters:
                return "", ""
            gray = await self._readers.picture(content, LETTERS_SIDE, gray=True) if can_prepare else None
            return await self._readers.letters(gray.content if gray else content) or "", ""
        except Unreadable as error:
            return "", f"its text was not read: {error}"

    async def _document(self, content: bytes, form: Form) -> Found:
        document = await self._readers.text(content, form.name, form.mime)
        meta = dict(document.meta) | ({"cut": True} if document.cut else {})
        if not document.text:
            return Found("file", form.mime, "", meta | {"note": "there is no text in it"})
        return _cut(Found("file", form.mime, document.text, meta))


def _cut(found: Found) -> Found:
    """The same with a preview of a sensible length; the whole is kept where that is not all."""
    if len(found.preview) <= PREVIEW:
        return found
    return Found(found.kind, found.mime, found.preview[:PREVIEW], found.meta, found.preview)


T = TypeVar("T")


async def _asked(question: Awaitable[T]) -> tuple[T | None, str]:
    """What a model answered, or why it did not: a fault of its own, or no budget left."""
    try:
        return await question, ""
    except (ModelFault, BudgetExceeded) as error:
        return None, error.message.rstrip(".")
