"""The WhatsApp behind a loopback bridge: who is there, what they say, and the events a bridge makes of it."""

from __future__ import annotations

import itertools
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


def event_id() -> str:
    """`evt_` and a ULID in lower case, as WAHA makes them."""
    return "evt_" + "".join(secrets.choice(CROCKFORD) for _ in range(26))


def message_hash() -> str:
    return "3EB0" + secrets.token_hex(9).upper()


@dataclass
class Account:
    """Whose number the bridge has, and what is in its chats."""

    number: str = "4930123456@c.us"
    lid: str = "990011223344@lid"
    lids: dict[str, str] = field(default_factory=dict)
    """Hidden ids and the numbers behind them; an id may be known to have none."""
    chats: dict[str, list[Json]] = field(default_factory=dict)
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    clock: itertools.count[int] = field(default_factory=lambda: itertools.count(int(time.time())))

    @property
    def me(self) -> Json:
        return {"id": self.number, "lid": self.lid, "pushName": "The shop"}

    def message(
        self, sender: str, body: str, *, chat: str | None = None, name: str = "Ann", at: int | None = None, **more: Any
    ) -> Json:
        """Somebody has written in a chat: in theirs with us, or in a group."""
        chat = chat or sender
        of = f"_{sender}" if chat != sender else ""
        made: Json = {
            "id": f"false_{chat}_{message_hash()}{of}", "timestamp": next(self.clock) if at is None else at,
            "from": chat, "fromMe": False, "source": "app", "to": self.number, "participant": sender if of else None,
            "body": body, "hasMedia": False, "media": None, "ack": 1, "ackName": "SERVER", "vCards": [],
            "replyTo": None, "_data": {"notifyName": name, "type": "chat"}, **more,
        }  # fmt: skip
        self.chats.setdefault(chat, []).append(made)
        return made

    def sent(self, chat: str, text: str, hash_: str) -> Json:
        """We have written in a chat."""
        made: Json = {
            "id": f"true_{chat}_{hash_}", "timestamp": next(self.clock), "from": self.number, "fromMe": True,
            "source": "api", "to": chat, "body": text, "hasMedia": False, "media": None, "ack": 1,
        }  # fmt: skip
        self.chats.setdefault(chat, []).append(made)
        return made

    def file(self, name: str, mime: str, content: bytes, base: str) -> Json:
        """A file lies on the bridge; this is what messages say of it."""
        path = f"/api/files/default/{name}"
        self.files[path] = (mime, content)
        return {"url": f"{base}{path}", "mimetype": mime, "filename": None, "error": None}

    def event(self, payload: Json, kind: str = "message", *, session: str = "default", **more: Any) -> Json:
        """What a bridge tells about it."""
        return {
            "id": event_id(), "timestamp": int(time.time() * 1000), "event": kind, "session": session,
            "metadata": {}, "me": self.me, "payload": payload, "engine": "WEBJS",
            "environment": {"version": "2026.8.1", "engine": "WEBJS", "tier": "CORE"}, **more,
        }  # fmt: skip
