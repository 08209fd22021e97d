"""WhatsApp's ids as bridges write them: who or what a chat is, and which message is meant.

A phone number (`…@c.us`) and a hidden id (`…@lid`) are two names of one person; the digits of the one mean nothing, or
somebody else, behind the other's suffix. So no function here ever puts another suffix behind digits, except that
`@s.whatsapp.net`, which is `@c.us` inside the engines, becomes it.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

PERSON, GROUP, LID = "@c.us", "@g.us", "@lid"
_CHAT = re.compile(r"(?P<name>[\w.+-]{1,64})(?::\d{1,5})?@(?P<realm>[a-z.]{1,20})", re.ASCII)
_DIGITS = re.compile(r"\d{5,20}")
_HASH = re.compile(r"[0-9A-Za-z]{16,64}", re.ASCII)
_FULL = re.compile(r"(?:true|false)_[^_\s]{1,80}_(?P<hash>[^_\s]{1,128})(?:_[^_\s]{1,80})?")


class Kind(StrEnum):
    """What stands behind an id."""

    PERSON = "person"
    LID = "lid"
    GROUP = "group"
    NEWSLETTER = "newsletter"
    BROADCAST = "broadcast"
    UNKNOWN = "unknown"


_KINDS = {
    "c.us": Kind.PERSON,
    "lid": Kind.LID,
    "g.us": Kind.GROUP,
    "newsletter": Kind.NEWSLETTER,
    "broadcast": Kind.BROADCAST,
}


def chat(given: object) -> str:
    """The id as we keep it: no device number, `@c.us` for `@s.whatsapp.net`; empty if it is no id at all."""
    # Some engines wrap it: {"_serialized": "4915…@c.us", "user": "4915…", …}.
    given = given.get("_serialized") if isinstance(given, dict) else given
    found = _CHAT.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        return ""
    realm = "c.us" if found["realm"] == "s.whatsapp.net" else found["realm"]
    return f"{found['name']}@{realm}"


def kind(address: str) -> Kind:
    """What the id names; a person's must be digits only."""
    name, _, realm = address.rpartition("@")
    found = _KINDS.get(realm, Kind.UNKNOWN)
    if found in (Kind.PERSON, Kind.LID) and not _DIGITS.fullmatch(name):
        return Kind.UNKNOWN
    return found


def is_person(address: str) -> bool:
    """Whether this is one person, by phone number or by hidden id."""
    return kind(address) in (Kind.PERSON, Kind.LID)


def user(address: str) -> str:
    """What stands before the suffix, as mentions in a text write it."""
    return address.partition("@")[0]


def message_hash(given: object) -> str:
    """The part of a message's id that all its spellings share; what is not of that form is returned whole.

    One message may be `false_4915…@c.us_3EB0…` in an event, `false_123…@lid_3EB0…` in the history, and `3EB0…` where
    another one quotes it.
    """
    if isinstance(given, dict):
        given = given.get("_serialized") or given.get("id")
    if not isinstance(given, str):
        return ""
    found = _FULL.fullmatch(given.strip())
    return found["hash"] if found else given.strip()


def message_key(given: object, chat_id: str) -> str:
    """What a message is recognised by, whichever way it comes; empty if it has no id.

    WhatsApp's own hashes are random and long. Shorter ids, as other bridges count them, are only unique in their chat.
    """
    found = message_hash(given)
    if not found:
        return ""
    if _HASH.fullmatch(found):
        return found
    whole = f"{chat_id}/{found}"
    return whole if len(whole) <= 160 and whole.isprintable() else hashlib.sha256(whole.encode()).hexdigest()


def is_ours(given: object) -> bool:
    """Whether a message's full id says that we wrote it."""
    given = given.get("_serialized") if isinstance(given, dict) else given
    return isinstance(given, str) and given.startswith("true_")
