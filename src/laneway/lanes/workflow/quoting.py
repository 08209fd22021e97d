"""Values as messages show them: in JSON's words, short, and with every quote closed."""

from __future__ import annotations

import json
from typing import Any

LONGEST = 80


def short(text: str, most: int = LONGEST) -> str:
    """The text, or its beginning and a sign that it goes on."""
    return text if len(text) <= most else text[: most - 3] + "…"


def quoted(text: str, most: int = LONGEST) -> str:
    """The text in single quotes, cut inside of them."""
    return repr(short(text, most))


def shown(value: Any) -> str:
    """A value as a word or two: objects and lists by what they are."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return quoted(value) if isinstance(value, str) else short(json.dumps(value, ensure_ascii=False))


def named(value: Any) -> str:
    """A name as it is, and what is no name in JSON's words."""
    return short(value) if isinstance(value, str) else shown(value)


def in_full(value: Any) -> str:
    """A value as JSON; where it is cut, what was opened first is closed."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else short(text) + (text[-1] if isinstance(value, str | dict | list) else "")
