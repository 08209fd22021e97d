"""What the dialects of the loopback model servers have in common: pieces, frames, ids and estimates."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from .script import Asked, CallTool, Fail, Json, Turn

MOST_PIECES = 32


@dataclass(frozen=True)
class Frame:
    """One server-sent event; a piece is one that carries a part of the answer's text or arguments."""

    data: str
    name: str | None = None
    piece: bool = False

    def encode(self) -> bytes:
        """The event as it travels."""
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {self.data}\n\n".encode()


@dataclass(frozen=True)
class Reply:
    """A turn as the API would send it, whole and as a stream."""

    body: Json
    frames: list[Frame]

    @property
    def pieces(self) -> int:
        """How many frames carry a part of the answer."""
        return sum(frame.piece for frame in self.frames)


class Dialect(Protocol):
    """One API: how it reads requests, writes turns and reports errors."""

    def asked(self, body: Json) -> Asked:
        """The request in neutral words."""

    def complaint(self, body: Json) -> Fail | None:
        """The error the real API would answer to this request, if any."""

    def reply(self, asked: Asked, turn: Turn) -> Reply:
        """The turn as this API would send it."""

    def error_frame(self, error: Json, sequence: int) -> Frame:
        """The error as an event inside a stream, after so many others."""


def event(data: Mapping[str, Any], name: str | None = None, *, piece: bool = False) -> Frame:
    """The data as one server-sent event."""
    return Frame(json.dumps(data, ensure_ascii=False), name, piece)


def new_id(prefix: str) -> str:
    """An id nobody else has, shaped like the provider's."""
    return prefix + secrets.token_hex(12)


def estimate(text: str) -> int:
    """About as many tokens as the text has, never zero."""
    return max(1, len(text) // 4)


def canonical(value: object) -> str:
    """The value as text, the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def arguments(call: CallTool) -> str:
    """The arguments as the JSON text a model would have written."""
    return call.args if isinstance(call.args, str) else json.dumps(dict(call.args), ensure_ascii=False)


def estimate_turn(turn: Turn) -> int:
    """About as many tokens as the model would have needed to say this, or the number the turn gives."""
    if turn.tokens_out is not None:
        return turn.tokens_out
    texts = [f"{p.name} {arguments(p)}" if isinstance(p, CallTool) else p.text for p in turn.parts]
    return sum(estimate(text) for text in texts) + turn.reasoning_tokens


def words(text: str) -> list[str]:
    """The text in order, one word a piece, or several when there would be too many pieces."""
    return _joined(re.findall(r"\S+\s*|\s+", text))


def slices(text: str) -> list[str]:
    """The JSON text in order, a few characters a piece."""
    return _joined([text[i : i + 8] for i in range(0, len(text), 8)])


def _joined(parts: list[str]) -> list[str]:
    size = -(-len(parts) // MOST_PIECES) or 1
    return ["".join(parts[i : i + size]) for i in range(0, len(parts), size)]


def text_of(content: object) -> str:
    """The words of a message's content, be it a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(block["text"] for block in content if isinstance(block, dict) and "text" in block)
