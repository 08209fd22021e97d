"""What a message of a bridge holds, in words; each engine has its own places for it, and all are looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from laneway.channels.waha import ids
from laneway.domain.storable import storable

Json = dict[str, Any]
LONGEST_NAME, MOST_CARDS, MOST_OPTIONS = 80, 5, 12
_CARD_LINE = re.compile(r"^(?P<what>FN|TEL|ORG|EMAIL)(?:;[^:\r\n]{0,200})?:(?P<value>[^\r\n]{1,200})", re.MULTILINE)


def part(value: object, *names: str) -> Any:
    """What stands under these names, one inside the other; None if the way ends before."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text(value: object) -> str:
    """The text, fit to be stored; empty if it is none."""
    return str(storable(value)) if isinstance(value, str) else ""


def inner(payload: Json) -> Iterator[Json]:
    """What engines call the message's content: `_data.message.…` (NOWEB), `_data.Message.…` (GOWS)."""
    for name in ("message", "Message"):
        content = part(payload, "_data", name)
        yield from (one for one in (content or {}).values() if isinstance(one, dict))


def contexts(payload: Json) -> Iterator[Json]:
    """What is said about the message beside its content: quotes, mentions, forwarding."""
    for content in inner(payload):
        found = content.get("contextInfo")
        if isinstance(found, dict):
            yield found


def kind_of(payload: Json) -> str:
    """How the engine calls this kind of message; empty if it does not say."""
    return text(part(payload, "_data", "type")) or text(payload.get("type"))


def sender_name(payload: Json) -> str:
    """How the sender calls themselves, in one short line; hostile text."""
    data = payload.get("_data")
    found = (part(data, "notifyName"), part(data, "pushName"), part(data, "Info", "PushName"))
    name = next((one for one in found if isinstance(one, str) and one.strip()), "")
    return "".join(c if c.isprintable() else " " for c in name).strip()[:LONGEST_NAME]


def other_names(payload: Json) -> Iterator[str]:
    """Ids that engines give beside the sender's: the number of a hidden id, or the other way round."""
    data = payload.get("_data")
    for way in (
        ("key", "remoteJidAlt"), ("key", "participantAlt"), ("key", "senderPn"), ("key", "senderLid"),
        ("key", "participantPn"), ("key", "participantLid"), ("Info", "SenderAlt"),
    ):  # fmt: skip
        found = ids.chat(part(data, *way))
        if found:
            yield found


def mentioned(payload: Json) -> set[str]:
    """Who is mentioned in the message."""
    lists = [payload.get("mentionedIds"), part(payload, "_data", "mentionedJidList")]
    lists += [context.get(name) for context in contexts(payload) for name in ("mentionedJid", "mentionedJID")]
    return {ids.chat(one) for found in lists if isinstance(found, list) for one in found} - {""}


def forwarded(payload: Json) -> bool:
    """Whether these are somebody else's words, passed on."""
    said = (payload.get("isForwarded"), part(payload, "_data", "isForwarded"))
    return any(one is True for one in (*said, *(context.get("isForwarded") for context in contexts(payload))))


def words(payload: Json) -> str:
    """The message as text; empty if it has none."""
    # Of places and contact cards some engines give a picture or the raw card as the body.
    return _place(payload) or _cards(payload) or _poll(payload) or text(payload.get("body"))


def brought(payload: Json) -> list[str]:
    """Whose words come along: names of places and people are written by others."""
    named = _place(payload).endswith(")]")
    return [*(["a shared location"] if named else []), *(["a shared contact"] if _cards(payload) else [])]


def _place(payload: Json) -> str:
    place = payload.get("location")
    place = place if isinstance(place, dict) else part(payload, "_data", "message", "locationMessage")
    latitude = part(place, "latitude") or part(place, "degreesLatitude")
    longitude = part(place, "longitude") or part(place, "degreesLongitude")
    try:
        where = f"{float(latitude):.6f}, {float(longitude):.6f}"
    except (TypeError, ValueError):
        return ""
    named = (text(part(place, key)).strip() for key in ("name", "title", "description", "address"))
    about = ", ".join(dict.fromkeys(one for one in named if one))[:300]
    return f"[Location: {where}{f' ({about})' if about else ''}]"


def _cards(payload: Json) -> str:
    cards = payload.get("vCards")
    raw = cards if isinstance(cards, list) else []
    if not raw and kind_of(payload) in ("vcard", "multi_vcard"):
        raw = [payload.get("body")]
    if not raw:
        raw = [one.get("vcard") for one in inner(payload)]
    shown = [_card(text(one)) for one in raw if isinstance(one, str) and "BEGIN:VCARD" in one.upper()][:MOST_CARDS]
    return "\n".join(f"[Contact card: {one}]" for one in shown)


def _card(card: str) -> str:
    found = [(line["what"], line["value"].strip()) for line in _CARD_LINE.finditer(card)]
    shown = ", ".join(dict.fromkeys(value for _, value in sorted(found, key=lambda one: one[0] != "FN")))
    return shown[:300] or "empty"


def _poll(payload: Json) -> str:
    name, options = part(payload, "_data", "pollName"), part(payload, "_data", "pollOptions")
    for key in ("pollCreationMessage", "pollCreationMessageV2", "pollCreationMessageV3"):
        for message in ("message", "Message"):
            poll = part(payload, "_data", message, key)
            if isinstance(poll, dict):
                name, options = poll.get("name"), poll.get("options")
    if not isinstance(name, str):
        return ""
    given = options if isinstance(options, list) else []
    labels = [text(part(one, "optionName")) or text(part(one, "name")) for one in given[:MOST_OPTIONS]]
    listed = ", ".join(label for label in labels if label)
    return f"[Poll: {text(name).strip()}{f' ({listed})' if listed else ''}]"
