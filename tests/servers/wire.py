"""What the loopback model servers write alike: pieces, frames, ids and estimates."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .script import CallTool, Turn

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


def event(data: Mapping[str, Any], name: str | None = None, *, piece: bool = False) -> Frame:
    """The data as one server-sent event."""
    return Frame(json.dumps(data, ensure_ascii=False), name, piece)


def new_id(prefix: str) -> str:
    """An id nobody else has, shaped like the provider's."""
    return prefix + secrets.token_hex(12)


def estimate(value: object) -> int:
    """About as many tokens as the value has as text, never zero."""
    return max(1, len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) // 4)


def estimate_turn(turn: Turn) -> int:
    """About as many tokens as the model would have needed to say this, or the number the turn gives."""
    if turn.tokens_out is not None:
        return turn.tokens_out
    text = f"{turn.name} {json.dumps(turn.args)}" if isinstance(turn, CallTool) else turn.text
    return estimate(text) + turn.reasoning_tokens


def words(text: str) -> list[str]:
    """The text in order, one word a piece, or several when there would be too many pieces."""
    parts = re.findall(r"\S+\s*|\s+", text)
    size = -(-len(parts) // MOST_PIECES) or 1
    return ["".join(parts[i : i + size]) for i in range(0, len(parts), size)]


def halves(text: str) -> list[str]:
    """JSON text in two pieces."""
    return [text[: len(text) // 2], text[len(text) // 2 :]]


def text_of(content: object) -> str:
    """The words of a message's content, be it a string or a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(block["text"] for block in content if isinstance(block, dict) and "text" in block)
