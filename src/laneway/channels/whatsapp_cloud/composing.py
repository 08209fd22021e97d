"""What is posted to the Graph API: texts, reply buttons, lists, templates and files, each within WhatsApp's limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from laneway.channels.contract import Button, Part
from laneway.channels.whatsapp_cloud.formatting import formatted
from laneway.channels.whatsapp_cloud.reading import USER_ID
from laneway.channels.whatsapp_cloud.splitting import length, shortened, split

Json = dict[str, Any]
MOST_TEXT, MOST_BUTTON_BODY, MOST_LIST_BODY = 4096, 1024, 4096
MOST_BUTTONS, MOST_ROWS = 3, 10
TITLE, ROW_TITLE, DESCRIPTION = 20, 24, 72
MOST_PARAMETER = 900
"""A template with its text may have 1024 characters; the rest is left to its own words."""

CHOOSE = "Choose"
IMAGES = frozenset({"image/jpeg", "image/png"})
AUDIO = frozenset({"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"})
VIDEOS = frozenset({"video/mp4", "video/3gpp"})


def parts(text: str, buttons: Sequence[Button], room: int) -> list[Part]:
    """The reply as messages, the buttons on the last; `room` is kept free in each for a word before it.

    More buttons than a list can hold become lines with numbers, to be answered by typing one.
    """
    shown = formatted(text)
    if len(buttons) > MOST_ROWS:
        lines = [f"{number}. {button.text}" for number, button in enumerate(buttons, 1)]
        # A question usually numbers its choices itself.
        shown = shown if all(line in shown for line in lines) else "\n".join([shown, *lines])
        buttons = ()
    body = MOST_TEXT if not buttons else MOST_BUTTON_BODY if len(buttons) <= MOST_BUTTONS else MOST_LIST_BODY
    last = body - room
    pieces = split(shown, MOST_TEXT - room)
    if buttons and length(pieces[-1]) > last:
        pieces[-1:] = split(pieces[-1], last)
    texts = [piece for piece in pieces if piece.strip()] or ["…"]
    return [*(Part(piece) for piece in texts[:-1]), Part(texts[-1], buttons=tuple(buttons))]


def file_parts(meta: Mapping[str, Any]) -> list[Part]:
    """The files that come with a reply, each a message before its text."""
    files = [file for file in meta.get("files", []) if isinstance(file, dict) and file.get("artifact")]
    return [
        Part("", {"artifact": file["artifact"], "name": str(file.get("name") or "file"), "mime": _mime(file)})
        for file in files
    ]


def _mime(file: Mapping[str, Any]) -> str:
    return str(file.get("mime") or "application/octet-stream").partition(";")[0].strip().lower()


def recipient(address: str) -> Json:
    """Whom a message goes to: a phone number in `to`, a business-scoped user id in `recipient`.

    An id in `to` is accepted and never arrives.
    """
    whom = {"recipient": address} if USER_ID.fullmatch(address) else {"to": address}
    return {"messaging_product": "whatsapp", "recipient_type": "individual", **whom}


def message(text: str, buttons: Sequence[Button]) -> Json:
    """A text, with reply buttons or a list if there is something to choose."""
    if not buttons:
        return {"type": "text", "text": {"body": text, "preview_url": False}}
    if len(buttons) <= MOST_BUTTONS:
        titles = _titles(buttons, TITLE)
        replies = [
            {"type": "reply", "reply": {"id": button.data, "title": title}}
            for button, title in zip(buttons, titles, strict=True)
        ]
        return _interactive("button", text, {"buttons": replies})
    rows = [_row(button, title) for button, title in zip(buttons, _titles(buttons, ROW_TITLE), strict=True)]
    return _interactive("list", text, {"button": CHOOSE, "sections": [{"title": CHOOSE, "rows": rows}]})


def template(name: str, language: str, text: str) -> Json | None:
    """The approved template with the text as its parameter, or None if it does not fit."""
    # Meta refuses line breaks, tabs and more than four spaces in a parameter.
    line = re.sub(r"\s*\n\s*", " · ", text.strip())
    line = re.sub(r"[\t ]+", " ", line)
    if not name or not line or length(line) > MOST_PARAMETER:
        return None
    body = {"type": "body", "parameters": [{"type": "text", "text": line}]}
    return {"type": "template", "template": {"name": name, "language": {"code": language}, "components": [body]}}


def media(mime: str, media_id: str, name: str, caption: str = "") -> Json:
    """A file that has been uploaded, shown as what it is; what WhatsApp cannot show goes as a document."""
    kind = "image" if mime in IMAGES else "audio" if mime in AUDIO else "video" if mime in VIDEOS else "document"
    content: Json = {"id": media_id}
    if kind == "document":
        content["filename"] = name
    if caption and kind != "audio":
        content["caption"] = caption[:MOST_BUTTON_BODY]
    return {"type": kind, kind: content}


def read_receipt(wamid: str, typing: bool) -> Json:
    """The person sees that the message was read, and for at most 25 seconds that somebody types."""
    receipt: Json = {"messaging_product": "whatsapp", "status": "read", "message_id": wamid}
    return receipt | ({"typing_indicator": {"type": "text"}} if typing else {})


def _interactive(kind: str, text: str, action: Json) -> Json:
    return {"type": "interactive", "interactive": {"type": kind, "body": {"text": text}, "action": action}}


def _row(button: Button, title: str) -> Json:
    whole = " ".join(button.text.split())
    described = {} if whole == title else {"description": shortened(whole, DESCRIPTION)}
    return {"id": button.data, "title": title, **described}


def _titles(buttons: Sequence[Button], most: int) -> list[str]:
    """Short titles, no two alike: WhatsApp refuses a message that offers the same words twice."""
    found: list[str] = []
    for number, button in enumerate(buttons, 1):
        title = shortened(button.text, most) or str(number)
        if title in found:
            title = f"{number}. {shortened(button.text, most - len(str(number)) - 2)}"
        found.append(title)
    return found
