"""The last N messages of a thread with their attachments, trimmed to a token budget, as a model will see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from laneway.domain.conversation import Attachment, Author, Message, World, sources_of
from laneway.store import conversations
from laneway.store.database import Connection

PREVIEW_CHARACTERS = 1000


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

    @property
    def whole(self) -> str:
        """Its words, after those it answers."""
        return f"[in reply to: {self.quoted}]\n{self.text}" if self.quoted else self.text


async def build(tx: Connection, trigger: Message, *, limit: int, token_budget: int) -> list[Turn]:
    """The turns up to and including the trigger, oldest first; the oldest are dropped, the trigger never."""
    history = await conversations.history(tx, trigger, limit)
    if not history or history[-1].id != trigger.id:
        history = [*(m for m in history if m.id != trigger.id), trigger]
    attached = await conversations.attachments(tx, [message.id for message in history])
    return trim([_turn(message, attached) for message in history], token_budget)


def sources_in(turns: Sequence[Turn], world: World) -> list[str]:
    """Whose words a conversation brings besides the owner's: those of files, voice notes, strangers, customers."""
    customer = world is World.CUSTOMER and any(turn.author is Author.USER for turn in turns)
    found = (source for turn in turns for source in turn.sources)
    return list(dict.fromkeys([*(["a customer's message"] if customer else []), *found]))


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


def tokens(text: str) -> int:
    """About how many tokens a text takes: a token is some four bytes, and every message has its frame."""
    return len(text.encode()) // 4 + 4


def describe(attachment: Attachment) -> str:
    """One attachment in words: a voice note's transcript, an image's description, a file's name, size and type."""
    preview = attachment.preview[:PREVIEW_CHARACTERS].strip()
    if attachment.kind == "voice":
        seconds = attachment.meta.get("seconds")
        length = "unknown length" if seconds is None else f"{seconds:g} s"
        return f"[voice note, {length}: {preview or 'not transcribed'}]"
    if attachment.kind == "image":
        size = _pixels(attachment)
        seen = f": {preview}" if preview else ": not described"
        read = str(attachment.meta.get("ocr", ""))[:PREVIEW_CHARACTERS].strip()
        return f"[image, {size}{seen}{f'; text in it: {read}' if read else ''}]"
    body = f"\n{preview}" if preview else ""
    return f"[file {attachment.name}, {attachment.size} bytes, {attachment.mime}]{body}"


def _pixels(attachment: Attachment) -> str:
    width, height = attachment.meta.get("width"), attachment.meta.get("height")
    return f"{width}×{height}" if width and height else f"{attachment.size} bytes"


def _turn(message: Message, attached: Sequence[Attachment]) -> Turn:
    mine = [a for a in attached if a.message_id == message.id]
    parts = [message.text, *(describe(a) for a in mine)]
    text, quoted = "\n".join(part for part in parts if part), str(message.meta.get("quoted", "")).strip()
    return Turn(message.id, message.author, text, sources_of(message, mine), quoted[:PREVIEW_CHARACTERS])
