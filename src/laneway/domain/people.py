"""People as the owner sees them: who is known, by which addresses, and who has knocked without being let in."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from laneway.domain.conversation import Principal, Role
from laneway.errors import BadInput

LONGEST_NAME = 80
LONGEST_ADDRESS = 200
NUMBERED = frozenset({"whatsapp", "waha"})
"""Channels whose addresses may be phone numbers."""

RANK = {Role.CUSTOMER: 0, Role.OPERATOR: 1, Role.OWNER: 2}
_ADDRESS = re.compile(r"(?P<channel>[a-z][a-z_]{1,31}):(?P<name>\S.*)")
_SIGNS = re.compile(r"[][()<>`*_~|\\#]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Person:
    """A principal with its addresses, the one last used first."""

    id: UUID
    role: Role
    name: str
    host_mode: bool
    created_at: datetime
    blocked_at: datetime | None
    seen_at: datetime | None
    addresses: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who wrote and was not let in; nothing of what was written is kept."""

    address: str
    name: str
    knocks: int
    tries: int
    told_at: datetime | None
    first_at: datetime
    last_at: datetime
    number: int
    """Grows with `last_at`, for paging."""


@dataclass(frozen=True, slots=True)
class Known:
    """An address of somebody we know, and whether it need not be noted that it was used just now."""

    address: str
    principal: Principal
    noted: bool


def cleaned(name: str, instead: str) -> str:
    """A name a provider told, without what cannot be seen or turns text around; `instead` if nothing is left."""
    visible = "".join(" " if c.isspace() else c for c in name if c.isspace() or unicodedata.category(c) not in _UNSEEN)
    return " ".join(visible.split())[:LONGEST_NAME].strip() or instead[:LONGEST_NAME]


def unmarked(name: str) -> str:
    """A name for a text that is shown formatted: nothing in it makes words bold, or a link."""
    return " ".join(_SIGNS.sub(" ", name).split())


def canonical(channel: str, name: str) -> str:
    """An address in the one spelling it is stored in: phone numbers are digits, whatever a person writes."""
    if channel not in NUMBERED:
        return name
    number = re.sub(r"[\s()/-]", "", name).removeprefix("+").removesuffix("@s.whatsapp.net").removesuffix("@c.us")
    if not (number.isascii() and number.isdecimal()):
        return name
    return f"{number}@c.us" if channel == "waha" else number


def full_address(given: str) -> str:
    """`channel:address` as it is stored, or BadInput."""
    parts = _ADDRESS.fullmatch(given.strip())
    if parts is None or len(given) > LONGEST_ADDRESS or not given.isprintable():
        raise BadInput(f"`{given[:60]}` is no address.", hint="Write channel:address, like telegram:123456.")
    return f"{parts['channel']}:{canonical(parts['channel'], parts['name'])}"
