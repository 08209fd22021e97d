"""The last N messages of a thread with their attachments, trimmed to a token budget, as a model will see them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from uuid import UUID

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart

from laneway.domain.bounded_text import bounded
from laneway.domain.conversation import Attachment, Author, Message, World, sources_of
from laneway.domain.redaction import redacted
from laneway.store import conversations
from laneway.store.database import Connection

PREVIEW_CHARACTERS, LETTERS_CHARACTERS, FILE_CHARACTERS, VOICE_CHARACTERS = 1000, 2000, 4000, 6000
"""How much of an attachment a model sees: of a voice note some minutes, of a document its first page."""
HEARD_CHARACTERS, SENTENCE_CHARACTERS = 20_000, 160
_SENTENCE, _WORD = re.compile(r"(?<=[.!?])\s+|\n+"), re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as a model sees it."""

    message_id: UUID
    author: Author
    text: str
    sources: tuple[str, ...] = ()
    """Whose words it brings along besides its author's: files, voice notes, forwarded messages."""
    quoted: str = ""
    """The message it answers, where the sender pointed at one."""
    outside: str = ""
    """Those of its words that others may have written; all of it, if that cannot be told."""

    @property
    def whole(self) -> str:
        """Its words, after those it answers."""
        return f"[in reply to: {self.quoted}]\n{self.text}" if self.quoted else self.text


async def build(tx: Connection, trigger: Message, *, limit: int, token_budget: int) -> list[Turn]:
    """The turns up to and including the trigger, oldest first; the oldest are dropped, the trigger never."""
    # Work that is complete in itself is asked for without the conversation around it.
    history = [] if trigger.meta.get("alone") else await conversations.history(tx, trigger, limit)
    if not history or history[-1].id != trigger.id:
        history = [*(m for m in history if m.id != trigger.id), trigger]
    attached = await conversations.attachments(tx, [message.id for message in history])
    return trim([_turn(message, attached) for message in history], token_budget)


def sources_in(turns: Sequence[Turn], world: World) -> list[str]:
    """Whose words a conversation brings besides the owner's: those of files, voice notes, strangers, customers."""
    customer = world is World.CUSTOMER and any(turn.author is Author.USER for turn in turns)
    found = (source for turn in turns for source in turn.sources)
    return list(dict.fromkeys([*(["a customer's message"] if customer else []), *found]))


def heard_in(turns: Sequence[Turn]) -> dict[str, str]:
    """Others' words in a conversation, by whose they are; what we said of them in our own words is not among them."""
    heard: dict[str, str] = {}
    for turn in turns:
        words = turn.outside or (turn.text if turn.author is Author.USER else "")
        for source in turn.sources if words else ():
            heard[source] = f"{heard.get(source, '')}\n{words}"[-HEARD_CHARACTERS:]
    return heard


def sentence_for(wanted: str, heard: Mapping[str, str]) -> str:
    """Whose words most likely led to what is wanted, and which, for the person who is asked about it; empty if none."""
    words = set(_WORD.findall(wanted.lower()))
    pieces = [(source, line) for source, text in heard.items() for one in _SENTENCE.split(text)
              for line in wrap(one, SENTENCE_CHARACTERS)]  # fmt: skip
    if not pieces:
        return ""
    source, line = max(
        pieces, key=lambda piece: (len(words.intersection(_WORD.findall(piece[1].lower()))), len(piece[1]))
    )
    readable = "".join(character if character.isprintable() else "�" for character in str(redacted(line)))
    return f" From {source}: “{readable}”."


def trim(turns: Sequence[Turn], token_budget: int) -> list[Turn]:
    """The newest turns that fit the budget; the last one stays even alone over it."""
    kept: list[Turn] = []
    left = token_budget
    for turn in reversed(turns):
        left -= tokens(turn.whole)
        if kept and left < 0:
            break
        kept.append(turn)
    return kept[::-1]


def bounded_turns(turns: Sequence[Turn]) -> list[Turn]:
    """The turns as they are analysed; a model sees all of them."""
    return [replace(turn, text=bounded(turn.text)) for turn in turns]


def tokens(text: str) -> int:
    """About how many tokens a text takes: a token is some four bytes, and every message has its frame."""
    return len(text.encode()) // 4 + 4


def describe(attachment: Attachment) -> str:
    """One attachment in words: a voice note's transcript, an image's description, a document's text; or why not."""
    told = {"voice": _voice, "image": _image, "video": _video, "sticker": _sticker}.get(attachment.kind, _file)
    return told(attachment)


def _voice(voice: Attachment) -> str:
    said = _beginning(voice.preview, VOICE_CHARACTERS) or f"not transcribed{_because(voice)}"
    return f"[voice note, {_length(voice)}: {said}]"


def _image(image: Attachment) -> str:
    seen = _beginning(image.preview, PREVIEW_CHARACTERS) or f"not described{_because(image)}"
    read = _beginning(str(image.meta.get("ocr", "")), LETTERS_CHARACTERS)
    return f"[image, {_pixels(image)}: {seen}{f'; text in it: {read}' if read else ''}]"


def _video(video: Attachment) -> str:
    said = _beginning(video.preview, PREVIEW_CHARACTERS) or "not watched"
    return f"[video, {_length(video)}, {_pixels(video)}: {said}]"


def _sticker(sticker: Attachment) -> str:
    said = _beginning(sticker.preview, PREVIEW_CHARACTERS)
    return f"[sticker, {_pixels(sticker)}{f': {said}' if said else ''}]"


def _file(file: Attachment) -> str:
    head = f"file {file.name}, {file.size} bytes, {file.mime}"
    counts = ((file.meta[key], key) for key in ("pages", "sheets") if key in file.meta)
    count = next((f", {number} {key.removesuffix('s') if number == 1 else key}" for number, key in counts), "")
    if "note" in file.meta:
        return f"[{head}{count}; {file.preview or file.meta['note']}]"
    text = _beginning(file.preview, FILE_CHARACTERS)
    more = "\n[only its beginning is shown]" if file.meta.get("cut") or len(text) < len(file.preview.strip()) else ""
    return f"[{head}{count}]" + (f"\n{text}{more}" if text else "")


def _beginning(text: str, most: int) -> str:
    return text[:most].strip()


def _because(attachment: Attachment) -> str:
    note = attachment.meta.get("note")
    return f" ({note})" if note else ""


def _length(attachment: Attachment) -> str:
    seconds = attachment.meta.get("seconds")
    return f"{seconds:g} s" if isinstance(seconds, int | float) else "unknown length"


def _pixels(attachment: Attachment) -> str:
    width, height = attachment.meta.get("width"), attachment.meta.get("height")
    return f"{width}×{height}" if width and height else f"{attachment.size} bytes"


def _turn(message: Message, attached: Sequence[Attachment]) -> Turn:
    mine = [a for a in attached if a.message_id == message.id]
    described = [describe(a) for a in mine]
    quoted = str(message.meta.get("quoted", "")).strip()[:PREVIEW_CHARACTERS]
    text = "\n".join(part for part in (message.text, *described) if part)
    outside = "\n".join(part for part in (quoted, *described) if part)
    return Turn(message.id, message.author, text, sources_of(message, mine), quoted, outside)


def as_message(turn: Turn) -> ModelMessage:
    """The turn as a model reads it."""
    if turn.author is Author.USER:
        return ModelRequest([UserPromptPart(turn.whole)])
    return ModelResponse([TextPart(turn.text)])
