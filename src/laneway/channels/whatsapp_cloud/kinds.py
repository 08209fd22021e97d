"""What each type of message says, as text, files or a pressed button; a type nobody knows is a placeholder."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from laneway.channels.whatsapp_cloud.fields import Json, each, flag, inner, text
from laneway.domain.conversation import RemoteFile

PRESS = re.compile(r"[arwcsu]:[0-9a-fA-F-]{8,60}(?::\d{1,2})?")
"""What our own buttons carry; a template's quick reply may carry anything."""

KINDS = {"image": "image", "audio": "voice", "video": "video", "sticker": "sticker", "document": "file"}
ENDINGS = {
    "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "audio/ogg": "ogg", "audio/mpeg": "mp3",
    "audio/mp4": "m4a", "audio/aac": "aac", "audio/amr": "amr", "video/mp4": "mp4", "video/3gpp": "3gp",
}  # fmt: skip
MOST_PEOPLE, MOST_ITEMS = 20, 50


@dataclass(frozen=True, slots=True)
class Said:
    """The content of one message; `silent` ones are stored and answered by nobody."""

    text: str = ""
    files: tuple[RemoteFile, ...] = ()
    press: str | None = None
    silent: bool = False
    edits: str | None = None
    quotes: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def said(message: Json) -> Said:
    """What a message says; there is always something, so that nothing vanishes."""
    kind = text(message, "type", 40)
    read = READERS.get(kind)
    found = None if read is None else read(inner(message, kind), message)
    if found is None or not (found.text.strip() or found.files or found.press):
        return _placeholder(message, kind)
    return found


def _text(body: Json, _: Json) -> Said:
    return Said(text(body, "body"))


def _media(body: Json, message: Json) -> Said | None:
    kind = text(message, "type")
    media_id, mime = text(body, "id", 200), text(body, "mime_type", 100).partition(";")[0].strip().lower()
    if not media_id:
        return None
    name = text(body, "filename", 200) or f"{kind}.{ENDINGS.get(mime, 'bin')}"
    source = {"media_id": media_id, "sha256": text(body, "sha256", 100)}
    file = RemoteFile(KINDS[kind], name, mime or "application/octet-stream", None, source)
    return Said(text(body, "caption"), (file,), meta={"voice": True} if flag(body, "voice") else {})


def _location(body: Json, _: Json) -> Said:
    place = ", ".join(part for part in (text(body, "name", 300), text(body, "address", 500)) if part)
    where = f"{text(body, 'latitude', 24)}, {text(body, 'longitude', 24)}"
    # Names of places are written by whoever put them on the map.
    meta = {"sources": ["a shared location"]} if place else {}
    return Said(f"Location: {place} ({where})" if place else f"Location: {where}", meta=meta)


def _contacts(_: Json, message: Json) -> Said:
    people = [_contact(one) for one in each(message, "contacts")[:MOST_PEOPLE]]
    return Said("\n".join(f"Contact: {one}" for one in people if one), meta={"sources": ["a shared contact"]})


def _contact(one: Json) -> str:
    name = text(inner(one, "name"), "formatted_name", 200) or text(inner(one, "name"), "first_name", 200)
    ways = [text(phone, "phone", 40) or text(phone, "wa_id", 40) for phone in each(one, "phones")]
    ways += [text(mail, "email", 200) for mail in each(one, "emails")]
    return ", ".join(part for part in (name, text(inner(one, "org"), "company", 200), *ways[:5]) if part)


def _interactive(body: Json, _: Json) -> Said | None:
    kind = text(body, "type", 40)
    if kind in ("button_reply", "list_reply"):
        return Said(press=text(inner(body, kind), "id", 256) or None)
    if kind == "nfm_reply":
        return Said(f"Form: {text(inner(body, kind), 'response_json', 8000)}", meta={"sources": ["a form"]})
    return None


def _button(body: Json, _: Json) -> Said:
    payload = text(body, "payload", 256)
    return Said(press=payload) if PRESS.fullmatch(payload) else Said(text(body, "text") or payload)


def _reaction(body: Json, _: Json) -> Said:
    emoji, about = text(body, "emoji", 40), text(body, "message_id", 200) or None
    return Said(
        f"Reaction: {emoji}" if emoji else "A reaction was taken back.",
        silent=True,
        quotes=about,
        meta={"reaction": True},
    )


def _order(body: Json, _: Json) -> Said:
    lines = [
        f"{text(item, 'quantity', 12) or '1'} × {text(item, 'product_retailer_id', 100)} "
        f"at {text(item, 'item_price', 20)} {text(item, 'currency', 8)}".rstrip()
        for item in each(body, "product_items")[:MOST_ITEMS]
    ]
    note = text(body, "text", 4000)
    return Said("\n".join(["Order:", *lines, *([f"Note: {note}"] if note else [])]))


def _system(body: Json, _: Json) -> Said:
    return Said(text(body, "body", 1000) or "The person's number or id changed.", silent=True, meta={"system": True})


def _edit(body: Json, _: Json) -> Said | None:
    original = text(body, "original_message_id", 200)
    if not original or text(inner(body, "message"), "type") == "edit":
        return None
    return replace(said(inner(body, "message")), edits=original)


def _revoke(body: Json, _: Json) -> Said:
    original = text(body, "original_message_id", 200) or None
    return Said("[A message was deleted by its sender.]", silent=True, edits=original)


def _placeholder(message: Json, kind: str) -> Said:
    """A message WhatsApp does not pass on, or of a type that did not exist when this was written."""
    what = text(inner(message, "unsupported"), "type", 40) or (kind if kind != "unsupported" else "")
    shown = re.sub(r"\W+", " ", what).strip() or "unknown"
    return Said(f"[A message of a type that cannot be read here: {shown}.]", silent=True, meta={"placeholder": True})


READERS: dict[str, Callable[[Json, Json], Said | None]] = {
    "text": _text,
    **dict.fromkeys(KINDS, _media),
    "location": _location,
    "contacts": _contacts,
    "interactive": _interactive,
    "button": _button,
    "reaction": _reaction,
    "order": _order,
    "system": _system,
    "edit": _edit,
    "revoke": _revoke,
}
