"""What one update of Telegram means for us: something that arrived, a press, a group that moved, or nothing.

An update comes as JSON and stays JSON. Telegram repeats what it is not sure we have, so every arrival carries a key
made of the update's id, the chat and the message: the same update is recognised, and another one that was given the
same number (they are drawn anew after a week of silence) is not taken for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from laneway.channels.arrival import Arrival
from laneway.channels.telegram.addressing import Us, addressed, answered, without_call
from laneway.channels.telegram.contents import Content, content_of
from laneway.channels.telegram.fields import Fields, full_name, number, part, words
from laneway.channels.telegram.message_fields import ENVELOPE

NAME = "telegram"
ASKED_FOR = ("message", "edited_message", "callback_query", "business_message", "edited_business_message")
"""The kinds of updates we ask Telegram for."""

_MESSAGES = {
    "message": (False, False),
    "edited_message": (True, False),
    "business_message": (False, True),
    "edited_business_message": (True, True),
}
"""For each kind of update with a message, whether it is an edit, and whether it is out of the owner's own chats."""

_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name", "via_bot")
LONGEST_QUOTE = 4096


@dataclass(frozen=True, slots=True)
class Reading:
    """An update as we understand it; `note` says why there is nothing to do, `odd` that there should be."""

    arrival: Arrival | None = None
    query: str | None = None
    """The id of the press that must be answered."""
    pressed: tuple[int, int] | None = None
    """The chat and the message the pressed button stands at."""
    moved: tuple[int, int] | None = None
    """The group that became a supergroup: its id before and after."""
    note: str = ""
    odd: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message stands."""

    update: int
    chat: int
    message: int

    @property
    def external_id(self) -> str:
        return f"{self.update}:{self.chat}:{self.message}"

    @property
    def key(self) -> str:
        return message_key(self.chat, self.message)


def message_key(chat: int, message: int) -> str:
    """The name of a message on this channel; message ids count anew in every chat."""
    return f"{chat}:{message}"


def read(update: Fields, us: Us) -> Reading:
    """What the update means."""
    update_id = number(update, "update_id")
    if update_id is None:
        return Reading(note="It has no update_id.", odd=True)
    if part(update, "callback_query"):
        return _press(update_id, part(update, "callback_query"))
    for kind, (edited, business) in _MESSAGES.items():
        if part(update, kind):
            return _message(update_id, part(update, kind), us, edited, business)
    kinds = ", ".join(sorted(key[:40] for key in update if key != "update_id")) or "none"
    return Reading(note=f"Nothing is done with updates of this kind: {kinds}.")


def message_in(update: Fields) -> Fields:
    """The message an update brings, if it brings one."""
    return next((part(update, kind) for kind in _MESSAGES if part(update, kind)), {})


def _press(update_id: int, query: Fields) -> Reading:
    presser, query_id, data = number(part(query, "from"), "id"), words(query, "id"), words(query, "data")
    message = part(query, "message")
    chat, number_there = number(part(message, "chat"), "id"), number(message, "message_id")
    if presser is None or not query_id:
        return Reading(note="A press without presser.", odd=True)
    if chat is None or number_there is None or not data:
        return Reading(query=query_id, note="The pressed button is none of ours.")
    arrival = Arrival(
        channel=NAME,
        address=str(presser),
        external_id=f"{update_id}:{chat}:{query_id}",
        name=full_name(part(query, "from")),
        thread=_thread(chat, message),
        press=data,
        meta={"message_key": message_key(chat, number_there)},
    )
    return Reading(arrival, query=query_id, pressed=(chat, number_there))


def _message(update_id: int, message: Fields, us: Us, edited: bool, business: bool) -> Reading:
    chat, message_id = number(part(message, "chat"), "id"), number(message, "message_id")
    if chat is None or message_id is None:
        return Reading(note="A message without chat or number.", odd=True)
    moved = _moved(chat, message)
    if moved is not None:
        return Reading(moved=moved, note="The group became a supergroup.")
    sender = _sender(message)
    if sender is None or part(message, "chat").get("type") == "channel":
        return Reading(note="Posts of channels and of other bots are not answered.")
    content = content_of(message)
    if content is None:
        return Reading(note="Telegram's own notes in a chat are not answered.")
    place = _Place(update_id, chat, message_id)
    arrival = _arrival(place, message, sender, content, us)
    if business:
        # The owner's chats with others: written down where the address is known, and never answered.
        thread = f"business/{words(message, 'business_connection_id')[:80]}/{chat}"
        arrival = replace(arrival, thread=thread, silent=True)
    if edited:
        arrival = _edited(arrival, message, place)
    return Reading(arrival)


def _arrival(place: _Place, message: Fields, sender: Fields, content: Content, us: Us) -> Arrival:
    quoted, others = _quoted(message, us)
    meta: dict[str, Any] = {"message_key": place.key, **content.meta}
    if any(message.get(key) for key in _FORWARDED):
        meta["forwarded"] = True
    if others:
        meta["sources"] = [*meta.get("sources", []), "a quoted message"]
    if words(message, "media_group_id"):
        meta["album"] = words(message, "media_group_id")[:40]
    earlier = number(answered(message), "message_id")
    return Arrival(
        channel=NAME,
        address=str(number(sender, "id")),
        external_id=place.external_id,
        name=full_name(sender),
        thread=_thread(place.chat, message),
        text=without_call(content.text, us) or content.text,
        files=content.files,
        reply_to=None if earlier is None else message_key(place.chat, earlier),
        quoted=quoted,
        silent=not addressed(message, us),
        meta=meta,
    )


def _edited(arrival: Arrival, message: Fields, place: _Place) -> Arrival:
    # A live location reports itself by edits, every few seconds; nobody asked anything anew.
    if part(message, "location"):
        return replace(arrival, silent=True)
    return replace(arrival, edits=place.key, meta={**arrival.meta, "edited": True})


def _sender(message: Fields) -> Fields | None:
    """Who speaks: a person, or the chat in whose name somebody does; None for other bots and for channels' copies."""
    if message.get("is_automatic_forward"):
        return None
    chat = part(message, "sender_chat")
    if number(chat, "id") is not None:
        # An administrator who hides behind the group is somebody, but nobody knows who.
        return chat
    person = part(message, "from")
    return None if number(person, "id") is None or person.get("is_bot") is True else person


def _thread(chat: int, message: Fields) -> str:
    """The thread's name: the chat, and in a forum its topic; the general topic has the number 1."""
    topic = number(message, "message_thread_id") if message.get("is_topic_message") is True else None
    if topic is None and part(message, "chat").get("is_forum") is True and not _is_private(message):
        topic = 1
    return str(chat) if topic is None else f"{chat}/{topic}"


def _quoted(message: Fields, us: Us) -> tuple[str, bool]:
    """The words it answers, and whether they are somebody else's: neither ours nor the sender's."""
    earlier, outside = answered(message), part(message, "external_reply")
    source = outside or earlier
    if not source:
        return "", False
    content = None if outside else content_of(earlier)
    text = words(part(message, "quote"), "text") or (content.text if content else "") or _kind_of(outside)
    author = None if outside else number(part(earlier, "from"), "id")
    known = author is not None and author in (us.id, number(part(message, "from"), "id"))
    forwarded = any(earlier.get(key) for key in _FORWARDED)
    return text[:LONGEST_QUOTE], not known or forwarded


def _kind_of(outside: Fields) -> str:
    told = {key: value for key, value in outside.items() if key != "origin" and key not in ENVELOPE}
    content = content_of(told) if told else None
    return content.text if content else ""


def _moved(chat: int, message: Fields) -> tuple[int, int] | None:
    to, since = number(message, "migrate_to_chat_id"), number(message, "migrate_from_chat_id")
    return (chat, to) if to is not None else (since, chat) if since is not None else None


def _is_private(message: Fields) -> bool:
    return part(message, "chat").get("type") == "private"
