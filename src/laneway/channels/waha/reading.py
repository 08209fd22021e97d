"""Reads what a bridge tells us: each event becomes one of the few things we act on, or nothing."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from typing import Any

from laneway.channels.waha import contents, ids
from laneway.channels.waha.contents import Json, part, text
from laneway.channels.waha.media import files_of
from laneway.domain.conversation import RemoteFile
from laneway.errors import BadInput

MESSAGES = ("message", "message.any")
ACKS = {-1: ("failed", 2), 1: ("sent", 1), 2: ("delivered", 3), 3: ("read", 4), 4: ("played", 5)}
"""How far a message of ours got, and how that ranks: nothing goes back, except that what failed may yet arrive."""

UNREADABLE = "[A message of a kind that cannot be read here]"
DELETED = "[The sender deleted an earlier message.]"


@dataclass(frozen=True, slots=True)
class Me:
    """Who we are on WhatsApp: our number and our hidden id."""

    addresses: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: object) -> Me:
        return cls(frozenset(ids.chat(part(given, key)) for key in ("id", "lid", "jid")) - {""})

    def in_text(self, said: str) -> bool:
        """Whether a text names us as mentions do."""
        return any(re.search(rf"@{re.escape(ids.user(one))}(?!\d)", said) for one in self.addresses)

    def cut_from(self, said: str) -> str:
        """The text without our name in it."""
        for one in self.addresses:
            said = re.sub(rf"\s?@{re.escape(ids.user(one))}(?!\d)[,:]?", "", said)
        return said.strip()


@dataclass(frozen=True, slots=True)
class Said:
    """Somebody said something, in a chat of two or in a group."""

    key: str
    """What the message is recognised by."""
    external_id: str
    chat: str
    sender: str
    alias: str = ""
    """The sender's other id, if the bridge told it."""
    name: str = ""
    text: str = ""
    files: tuple[RemoteFile, ...] = ()
    reply_to: str | None = None
    quoted: str = ""
    edits: str | None = None
    silent: bool = False
    addressed: bool = True
    """In a group: whether it is meant for us."""
    sent_at: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def in_group(self) -> bool:
        return ids.kind(self.chat) is ids.Kind.GROUP


@dataclass(frozen=True, slots=True)
class Acked:
    """A message of ours got so far."""

    key: str
    status: str
    rank: int


@dataclass(frozen=True, slots=True)
class Changed:
    """The session has another status."""

    status: str


Heard = Said | Acked | Changed | None


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event as it came: its own id, its kind, whose session, who we are there, and what it is about."""

    id: str
    event: str
    session: str | None
    me: Me
    payload: Json


def opened(body: object) -> Envelope:
    """The event in its envelope; a bare message (`chatId`, `id`, `body`, `fromMe`) is one of the kind `message`."""
    if not isinstance(body, dict):
        raise BadInput("The body is not a JSON object.", hint="Send one event of the bridge.")
    if "event" not in body and "chatId" in body:
        bare = {"from": body["chatId"], "participant": body.get("author"), **body}
        return Envelope("", "message", None, Me(), bare)
    event, payload = body.get("event"), body.get("payload")
    if not isinstance(event, str) or not isinstance(payload, dict):
        raise BadInput("The event has no `event` or no `payload`.", hint="Send one event of the bridge.")
    id_, session = body.get("id"), body.get("session")
    known = id_ if isinstance(id_, str) and 0 < len(id_) <= 100 and id_.isprintable() else ""
    return Envelope(known, event, text(session), Me.of(body.get("me")), payload)


def read(envelope: Envelope) -> Heard:
    """What the event means to us; None if nothing."""
    payload, event = envelope.payload, envelope.event
    if event in MESSAGES:
        return message(payload, envelope.me)
    if event == "message.edited":
        return _edited(payload, envelope)
    if event == "message.revoked":
        return _revoked(payload, envelope)
    if event == "message.reaction":
        return _reaction(payload, envelope.me)
    if event == "poll.vote":
        return _vote(payload, envelope.me)
    if event == "message.ack":
        return _ack(payload)
    if event == "session.status":
        return Changed(text(payload.get("status")))
    return None


def message(payload: Json, me: Me) -> Said | None:
    """The message, if it is one that somebody else sent to us or to a group of ours."""
    chat = ids.chat(payload.get("from"))
    sender = _sender(payload, chat)
    ours = payload.get("fromMe") is True or (ids.is_ours(payload.get("id")) and payload.get("fromMe") is not False)
    if ours or not sender or sender in me.addresses:
        return None
    files, instead = files_of(payload)
    said = "\n".join(one for one in (contents.words(payload), instead) if one.strip())
    full = payload.get("id")
    key = ids.message_key(full, chat) or _fingerprint("message", chat, sender, payload.get("timestamp"), said)
    reply_to, quoted, of_ours = _quote(payload, me)
    in_group = ids.kind(chat) is ids.Kind.GROUP
    addressed = not in_group or of_ours or bool(contents.mentioned(payload) & me.addresses) or me.in_text(said)
    said = me.cut_from(said) if in_group else said
    sent_at = _seconds(payload.get("timestamp"))
    meta: Json = {"message_key": key, "waha_id": _full(full), "sent_at": sent_at, "chat": chat}
    meta["sources"] = contents.brought(payload) or None
    return Said(
        key, key, chat, sender,
        alias=_alias(payload, sender), name=contents.sender_name(payload), text=said or ("" if files else UNREADABLE),
        files=files, reply_to=reply_to, quoted=quoted, silent=not said and not files, addressed=addressed,
        sent_at=sent_at, meta=_given(meta) | ({"forwarded": True} if contents.forwarded(payload) else {}),
    )  # fmt: skip


def _edited(payload: Json, envelope: Envelope) -> Said | None:
    """The new words of a message, which take the place of the old ones."""
    said = message(payload, envelope.me)
    if said is None:
        return None
    replaces = ids.message_key(payload.get("editedMessageId"), said.chat) or said.key
    once = f"edit:{_fingerprint(envelope.id or said.text, replaces, said.key)}"
    return replace(said, key=replaces, external_id=once, edits=replaces, meta=said.meta | {"message_key": replaces})


def _revoked(payload: Json, envelope: Envelope) -> Said | None:
    """That a message was taken back; what it said is not repeated."""
    after = payload.get("after") if isinstance(payload.get("after"), dict) else payload.get("before")
    said = message({**after, "body": "", "hasMedia": False, "media": None}, envelope.me) if after else None
    if said is None:
        return None
    gone = ids.message_key(payload.get("revokedMessageId"), said.chat) or said.key
    meta = {"chat": said.chat}
    once = f"revoked:{_fingerprint(gone, said.chat)}"
    return replace(said, key=gone, external_id=once, edits=gone, text=DELETED, silent=True, meta=meta)


def _reaction(payload: Json, me: Me) -> Said | None:
    """That somebody reacted to a message: on record, and nothing is done about it."""
    said = message({**payload, "body": "", "hasMedia": False}, me)
    if said is None:
        return None
    emoji = "".join(c for c in text(part(payload, "reaction", "text")) if c.isprintable())[:16]
    about = ids.message_hash(part(payload, "reaction", "messageId"))
    once = f"reaction:{_fingerprint(said.key, said.sender, about, emoji, payload.get('timestamp'))}"
    words = f"[Reacted with {emoji} to a message.]" if emoji else "[Took back a reaction to a message.]"
    return replace(
        said, external_id=once, text=words, silent=True, reply_to=about or None, meta={"chat": said.chat}
    )  # fmt: skip


def _vote(payload: Json, me: Me) -> Said | None:
    vote = payload.get("vote")
    said = message({**vote, "body": ""}, me) if isinstance(vote, dict) else None
    if said is None:
        return None
    chosen = [text(one)[:100] for one in (part(vote, "selectedOptions") or []) if isinstance(one, str)][:12]
    words = f"[Voted in a poll: {', '.join(chosen)}]" if chosen else "[Took back a vote in a poll.]"
    once = f"vote:{_fingerprint(said.key, said.sender, words, part(vote, 'timestamp'))}"
    return replace(said, external_id=once, text=words, silent=True, meta={"chat": said.chat})


def _ack(payload: Json) -> Acked | None:
    known = ACKS.get(payload["ack"]) if type(payload.get("ack")) is int else None
    key = ids.message_key(payload.get("id"), ids.chat(payload.get("from")))
    return None if known is None or not key else Acked(key, *known)


def _sender(payload: Json, chat: str) -> str:
    """Who wrote; empty for channels, statuses and what is no chat."""
    if ids.is_person(chat):
        return chat
    if ids.kind(chat) is not ids.Kind.GROUP:
        return ""
    found = ids.chat(payload.get("participant")) or ids.chat(payload.get("author"))
    return found if ids.is_person(found) else ""


def _alias(payload: Json, sender: str) -> str:
    """The same person's id of the other kind, as the engine vouches."""
    wanted = ids.Kind.LID if ids.kind(sender) is ids.Kind.PERSON else ids.Kind.PERSON
    return next((one for one in contents.other_names(payload) if ids.kind(one) is wanted), "")


def _quote(payload: Json, me: Me) -> tuple[str | None, str, bool]:
    """What the message answers, its words, and whether they are ours."""
    quoted = payload.get("replyTo")
    if not isinstance(quoted, dict):
        return None, "", False
    found = ids.message_hash(quoted.get("id"))
    ours = ids.is_ours(quoted.get("id")) or ids.chat(quoted.get("participant")) in me.addresses
    return found[:160] or None, text(quoted.get("body")), ours


def _seconds(given: object) -> int | None:
    """A moment in seconds since 1970; events also give it in milliseconds, or as a string."""
    try:
        found = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    found = found / 1000 if found > 1e11 else found
    return int(found) if 0 < found < 1e11 else None


def _full(given: object) -> str | None:
    """A message's id as the bridge wants it back when we answer it."""
    given = given.get("_serialized") if isinstance(given, dict) else given
    return given if isinstance(given, str) and 0 < len(given) <= 250 and given.isprintable() else None


def _given(meta: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if value is not None}


def _fingerprint(*parts: object) -> str:
    return hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:40]
