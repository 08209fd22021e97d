"""What the loopback Bot API knows: chats, messages, drafts, files, button presses."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from .telegram_orders import Refused, bad

BOT = {"id": 7000000001, "is_bot": True, "first_name": "Laneway", "username": "laneway_test_bot"}


@dataclass
class Chat:
    """A chat the bot may be in."""

    id: int
    type: str = "private"
    blocked: bool = False
    migrated_to: int | None = None
    topics: set[int] = field(default_factory=set)
    """The topics of a forum; the general one (1) is never named when sending."""

    def json(self) -> dict[str, Any]:
        """The chat as it travels."""
        named = {"first_name": f"Person {self.id}"} if self.type == "private" else {"title": f"Group {self.id}"}
        return {"id": self.id, "type": self.type, **named, **({"is_forum": True} if self.topics else {})}


@dataclass
class Message:
    """A message of the bot as its readers see it now."""

    message_id: int
    chat: Chat
    text: str
    entities: list[dict[str, Any]] = field(default_factory=list)
    markup: dict[str, Any] | None = None
    topic: int | None = None
    silent: bool = False
    deleted: bool = False

    @property
    def buttons(self) -> list[list[tuple[str, str]]]:
        """The rows of its buttons: what each says and sends."""
        rows = (self.markup or {}).get("inline_keyboard", [])
        return [[(button["text"], button.get("callback_data", "")) for button in row] for row in rows]

    def json(self) -> dict[str, Any]:
        """The message as it travels."""
        answer: dict[str, Any] = {
            "message_id": self.message_id, "date": int(time.time()), "chat": self.chat.json(), "from": BOT,
            "text": self.text, "entities": self.entities,
        }  # fmt: skip
        if self.markup:
            answer["reply_markup"] = self.markup
        if self.topic:
            answer |= {"message_thread_id": self.topic, "is_topic_message": True}
        return answer


@dataclass
class World:
    """Everything behind the API, safe to look at from a test's thread."""

    chats: dict[int, Chat] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    drafts: list[tuple[int, int, str]] = field(default_factory=list)
    """(chat, draft, text), one per sendMessageDraft."""
    actions: list[tuple[int, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    """By file id."""
    queries: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    """Button presses by id: None while unanswered, then what the bot answered; expired ones are gone."""
    commands: list[dict[str, str]] = field(default_factory=list)
    webhook: dict[str, Any] = field(default_factory=dict)
    updates: list[dict[str, Any]] = field(default_factory=list)
    """What getUpdates has not been told to forget."""
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1001))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def chat(self, chat: int, kind: str | None = None) -> Chat:
        """The chat, which exists from now on."""
        kind = kind or ("private" if chat > 0 else "supergroup" if str(chat).startswith("-100") else "group")
        return self.chats.setdefault(chat, Chat(chat, kind))

    def next_message_id(self) -> int:
        """A message id nobody else has."""
        with self._lock:
            return next(self._ids)

    def file(self, content: bytes) -> str:
        """The id of a file that can be fetched from now on."""
        file_id = f"AwACAgIAAxkB-{len(self.files)}"
        self.files[file_id] = content
        return file_id

    def reachable(self, params: dict[str, Any]) -> Chat:
        """The chat a request names, or the refusal the real one gives."""
        try:
            chat = self.chats[int(params.get("chat_id", ""))]
        except (KeyError, ValueError):
            raise bad("chat not found" if params.get("chat_id") else "chat_id is empty") from None
        if chat.migrated_to:
            raise bad("group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat.migrated_to)
        if chat.blocked:
            who = "was blocked by the user" if chat.type == "private" else f"was kicked from the {chat.type} chat"
            raise Refused(403, f"Forbidden: bot {who}")
        return chat

    def find(self, params: dict[str, Any], wish: str) -> Message:
        """The message a request names."""
        chat = self.reachable(params)
        for message in self.shown(chat.id):
            if str(message.message_id) == str(params.get("message_id")):
                return message
        raise bad(f"message to {wish} not found")

    def shown(self, chat: int | None = None) -> list[Message]:
        """The messages that stand in the chat (or in any), oldest first."""
        return [m for m in self.messages if not m.deleted and chat in (None, m.chat.id)]
