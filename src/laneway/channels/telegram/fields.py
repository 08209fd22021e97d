"""Looks into the JSON that Telegram sends: what is missing or of another kind is nothing, and never an error.

Telegram adds fields every month and anybody may write their values, so nothing is taken for granted here.
"""

from __future__ import annotations

from typing import Any

from laneway.domain.storable import storable

Fields = dict[str, Any]
LARGEST = 2**63 - 1


def part(of: Fields, name: str) -> Fields:
    """The object under this name; an empty one if there is none."""
    found = of.get(name)
    return found if isinstance(found, dict) else {}


def parts(of: Fields, name: str) -> list[Fields]:
    """The objects in the list under this name."""
    found = of.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def number(of: Fields, name: str) -> int | None:
    """The whole number under this name, if it is one of 64 bits."""
    found = of.get(name)
    whole = isinstance(found, int) and not isinstance(found, bool) and -LARGEST <= found <= LARGEST
    return found if whole else None


def decimal(of: Fields, name: str) -> float | None:
    """The number under this name."""
    found = of.get(name)
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def words(of: Fields, name: str) -> str:
    """The text under this name, fit to be stored; empty if there is none."""
    found = of.get(name)
    return str(storable(found)) if isinstance(found, str) else ""


def full_name(user: Fields) -> str:
    """A person's or chat's name as Telegram tells it; anybody may choose any."""
    name = f"{words(user, 'first_name')} {words(user, 'last_name')}".strip()
    return " ".join((name or words(user, "title") or words(user, "username")).split())[:120]


def entities(message: Fields) -> list[Fields]:
    """What is marked in a message's text or caption."""
    return parts(message, "entities") or parts(message, "caption_entities")


def marked(text: str, entity: Fields) -> tuple[int, int]:
    """Where an entity stands, as characters from and to; Telegram counts in UTF-16 units."""
    begin, length = number(entity, "offset"), number(entity, "length")
    if begin is None or length is None or begin < 0 or length <= 0:
        return 0, 0
    raw = text.encode("utf-16-le")
    before, upto = raw[: 2 * begin], raw[: 2 * (begin + length)]
    return len(before.decode("utf-16-le", "ignore")), len(upto.decode("utf-16-le", "ignore"))
