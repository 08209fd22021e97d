"""What a Telegram message says and carries: its text, its files, and a few words in place of what is neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from laneway.channels.telegram.fields import Fields, decimal, entities, full_name, marked, number, part, parts, words
from laneway.channels.telegram.message_fields import ENVELOPE, SERVICE
from laneway.domain.conversation import RemoteFile

LARGEST_FILE = 20 * 1024 * 1024
"""Telegram hands bots no larger file."""


_BROUGHT = {"venue": "a shared location", "contact": "a shared contact"}


@dataclass(frozen=True, slots=True)
class Content:
    text: str
    files: tuple[RemoteFile, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


def content_of(message: Fields) -> Content | None:
    """What was said and sent; None for what Telegram itself wrote."""
    kinds = message.keys() - ENVELOPE
    if kinds and kinds <= SERVICE:
        return None
    file = next((make(message) for kind, make in _FILES.items() if message.get(kind)), None)
    text = _with_links(message)
    told = next((tell(part(message, kind)) for kind, tell in _TOLD.items() if part(message, kind)), "")
    if not text and not told and file is None:
        told = _unreadable(sorted(kinds - SERVICE))
    said = "\n".join(line for line in (text, told) if line)
    meta: dict[str, Any] = {"voice": True} if message.get("voice") else {}
    # Names of places and people are written by others.
    brought = [source for kind, source in _BROUGHT.items() if part(message, kind)]
    return Content(said, () if file is None else (file,), meta | ({"sources": brought} if brought else {}))


def _with_links(message: Fields) -> str:
    """The text or caption, where each link behind words stands after them."""
    text = words(message, "text") or words(message, "caption")
    for entity in sorted(entities(message), key=lambda one: -(number(one, "offset") or 0)):
        begin, end = marked(text, entity)
        url = words(entity, "url")
        if entity.get("type") == "text_link" and url and begin < end and text[begin:end].strip() != url:
            text = f"{text[:end]} ({url}){text[end:]}"
    return text


def _file(of: Fields, kind: str, name: str, mime: str, **meta: Any) -> RemoteFile:
    seconds = number(of, "duration")
    measures = {"seconds": seconds, "width": number(of, "width"), "height": number(of, "height"), **meta}
    return RemoteFile(
        kind=kind,
        name=_safe(words(of, "file_name")) or name,
        mime=words(of, "mime_type")[:100] or mime,
        size=number(of, "file_size"),
        source={"file_id": words(of, "file_id"), "unique_id": words(of, "file_unique_id")},
        meta={key: value for key, value in measures.items() if value is not None},
    )


def _safe(name: str) -> str:
    """The last part of a file's name; anybody may choose any."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(one for one in last if one.isprintable()).strip(". ")[-120:]


def _voice(message: Fields) -> RemoteFile:
    return _file(part(message, "voice"), "voice", "voice.ogg", "audio/ogg")


def _audio(message: Fields) -> RemoteFile:
    audio = part(message, "audio")
    return _file(audio, "voice", _safe(words(audio, "title")) or "audio.mp3", "audio/mpeg")


def _photo(message: Fields) -> RemoteFile:
    """The largest size that can be fetched."""
    sizes = parts(message, "photo")
    small = [one for one in sizes if (number(one, "file_size") or 0) <= LARGEST_FILE]
    largest = max(small or sizes or [{}], key=lambda one: (number(one, "width") or 0) * (number(one, "height") or 0))
    return _file(largest, "image", "photo.jpg", "image/jpeg")


def _document(message: Fields) -> RemoteFile:
    document = part(message, "document")
    family = words(document, "mime_type").partition("/")[0]
    kind = {"image": "image", "audio": "voice", "video": "video"}.get(family, "file")
    return _file(document, kind, "document", "application/octet-stream")


def _sticker(message: Fields) -> RemoteFile:
    sticker = part(message, "sticker")
    if sticker.get("is_animated"):
        return _file(sticker, "sticker", "sticker.tgs", "application/x-tgsticker")
    if sticker.get("is_video"):
        return _file(sticker, "sticker", "sticker.webm", "video/webm")
    return _file(sticker, "sticker", "sticker.webp", "image/webp")


def _of(kind: str, what: str, name: str, mime: str) -> Callable[[Fields], RemoteFile]:
    return lambda message: _file(part(message, what), kind, name, mime)


_FILES: dict[str, Callable[[Fields], RemoteFile]] = {
    "voice": _voice,
    "audio": _audio,
    "photo": _photo,
    # A GIF comes as an animation and, for older bots, once more as a document.
    "animation": _of("video", "animation", "animation.mp4", "video/mp4"),
    "video": _of("video", "video", "video.mp4", "video/mp4"),
    "video_note": _of("video", "video_note", "video-note.mp4", "video/mp4"),
    "document": _document,
    "sticker": _sticker,
}


def _tell_sticker(sticker: Fields) -> str:
    return " ".join(filter(None, ("[sticker", words(sticker, "emoji")[:16]))) + "]"


def _tell_venue(venue: Fields) -> str:
    where = ", ".join(filter(None, (words(venue, "title"), words(venue, "address"), _place(part(venue, "location")))))
    return f"[place: {where}]"


def _tell_location(location: Fields) -> str:
    live = ", live" if number(location, "live_period") else ""
    return f"[location: {_place(location) or 'unknown'}{live}]"


def _place(location: Fields) -> str:
    latitude, longitude = decimal(location, "latitude"), decimal(location, "longitude")
    return "" if latitude is None or longitude is None else f"{latitude:.6g}, {longitude:.6g}"


def _tell_contact(contact: Fields) -> str:
    return f"[contact: {', '.join(filter(None, (full_name(contact), words(contact, 'phone_number'))))}]"


def _tell_dice(dice: Fields) -> str:
    return f"[{words(dice, 'emoji')[:16] or 'dice'} shows {number(dice, 'value')}]"


def _tell_poll(poll: Fields) -> str:
    options = "; ".join(words(one, "text") for one in parts(poll, "options"))
    return f"[poll: {words(poll, 'question')} Choices: {options}]"


def _tell_checklist(checklist: Fields) -> str:
    tasks = "; ".join(words(one, "text") for one in parts(checklist, "tasks"))
    return f"[checklist: {words(checklist, 'title')}: {tasks}]"


_TOLD: dict[str, Callable[[Fields], str]] = {
    "sticker": _tell_sticker,
    # A venue brings its location along once more.
    "venue": _tell_venue,
    "location": _tell_location,
    "contact": _tell_contact,
    "dice": _tell_dice,
    "poll": _tell_poll,
    "checklist": _tell_checklist,
}


def _unreadable(kinds: list[str]) -> str:
    named = ", ".join(kind[:40].replace("_", " ") for kind in kinds[:3] if kind.isprintable()) or "unknown"
    return f"[a message of a kind that cannot be read here: {named}]"
