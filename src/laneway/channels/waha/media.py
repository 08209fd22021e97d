"""Files of messages: fetched later, from our bridge only, whatever address an event names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from laneway.channels.waha.contents import Json, kind_of, part, text
from laneway.domain.conversation import RemoteFile

FOLDER = "/api/files/"
_SAFE = re.compile(r"/api/files/[A-Za-z0-9][A-Za-z0-9._@=+%/-]{0,400}", re.ASCII)
_ENDINGS = {"voice": ".ogg", "image": ".jpg", "video": ".mp4", "sticker": ".webp", "file": ".bin"}
_NAMES = {"voice": "A voice note", "image": "An image", "video": "A video", "sticker": "A sticker", "file": "A file"}
_TYPES = {"ptt": "voice", "audio": "voice", "image": "image", "video": "video", "sticker": "sticker"}
_CONTENTS = {"audioMessage": "voice", "imageMessage": "image", "videoMessage": "video", "stickerMessage": "sticker"}


def path_of(url: object) -> str | None:
    """The file's place on the bridge, if the address can be one of its files.

    Only the path is taken, so that nothing but our bridge is ever asked, and no key that the address may hold is kept.
    """
    if not isinstance(url, str):
        return None
    try:
        path = urlsplit(url.strip()).path
    except ValueError:
        return None
    parts = unquote(unquote(path)).split("/")
    if not _SAFE.fullmatch(path) or ".." in parts or "." in parts or "" in parts[1:] or "\\" in unquote(path):
        return None
    return path


def files_of(payload: Json) -> tuple[tuple[RemoteFile, ...], str]:
    """The message's file, if it can be fetched, else words in its place; both empty if it has none."""
    media = payload.get("media")
    media = media if isinstance(media, dict) else {}
    url = media.get("url") or payload.get("mediaUrl")
    if payload.get("hasMedia") is not True and not url:
        return (), ""
    mime = text(media.get("mimetype")) or text(part(payload, "_data", "mimetype")) or "application/octet-stream"
    kind = _kind(payload, mime)
    path = path_of(url)
    if path is None:
        return (), _missing(kind, media, named_elsewhere=bool(url))
    meta: dict[str, Any] = {}
    seconds = part(payload, "_data", "duration")
    if str(seconds).isdecimal():
        meta["seconds"] = int(str(seconds)[:6])
    return (RemoteFile(kind, _name(media, kind, path), mime[:100], _size(payload), {"path": path}, meta),), ""


def _kind(payload: Json, mime: str) -> str:
    named = _TYPES.get(kind_of(payload))
    if named is None:
        contents = part(payload, "_data", "message") or part(payload, "_data", "Message") or {}
        named = next((kind for key, kind in _CONTENTS.items() if isinstance(contents, dict) and key in contents), None)
    if named is None:
        family = mime.partition("/")[0]
        named = {"audio": "voice", "image": "image", "video": "video"}.get(family, "file")
    return named


def _name(media: Json, kind: str, path: str) -> str:
    given = text(media.get("filename")).replace("\\", "/").rpartition("/")[2]
    given = "".join(c for c in given if c.isprintable()).strip()[:120]
    return given or f"{kind}{PurePosixPath(path).suffix[:10] or _ENDINGS[kind]}"


def _size(payload: Json) -> int | None:
    size = part(payload, "_data", "size")
    # Whoever sends a file may say any size; no database holds every one, and it is measured when it is fetched.
    return size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**53 else None


def _missing(kind: str, media: Json, *, named_elsewhere: bool) -> str:
    """What is said in place of a file; there being none is normal, bridges download what they are told to."""
    name = text(media.get("filename"))[:120]
    why = "lies where it is not fetched from" if named_elsewhere else "was not downloaded by the bridge"
    return f"[{_NAMES[kind]}{f' ({name})' if name else ''} that {why}]"
