"""Reads a webhook: entry × changes × messages, statuses and errors; whatever one of them is like, the others count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from laneway.channels.arrival import Arrival
from laneway.channels.whatsapp_cloud.fields import Json, each, flag, inner, moment, text
from laneway.channels.whatsapp_cloud.kinds import said
from laneway.domain.storable import storable

CHANNEL = "whatsapp"
USER_ID = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")
"""A business-scoped user id: what stands for a person whose phone number is not shown."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a message of ours got; `error` says why it got no further."""

    id: str
    status: str
    at: datetime | None
    code: int | None = None
    error: str = ""
    category: str = ""
    """What the message is billed as; empty if this status says nothing of money."""
    billable: bool = False
    pricing: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Notice:
    """What one webhook holds."""

    arrivals: list[Arrival] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What Meta itself complains about, and what could not be read at all."""
    foreign: list[str] = field(default_factory=list)
    """Number ids that are not ours."""


def read(payload: object, number_id: str) -> Notice:
    """Everything in the payload that is meant for our number, in the order it stands there."""
    notice = Notice()
    for value in _values(payload):
        theirs = text(inner(value, "metadata"), "phone_number_id", 64)
        if theirs != number_id:
            notice.foreign.append(theirs)
            continue
        for message in each(value, "messages"):
            arrival = _arrival(message, each(value, "contacts"))
            if arrival is None:
                notice.faults.append("a message without an id or a sender")
            else:
                notice.arrivals.append(arrival)
        notice.statuses += [found for one in each(value, "statuses") if (found := _status(one)) is not None]
        notice.faults += [complaint(error) for error in each(value, "errors")]
    return notice


def _values(payload: object) -> Iterator[Json]:
    for entry in each(payload, "entry"):
        for change in each(entry, "changes"):
            # Templates, account news and the like have other fields, and nobody to answer.
            if text(change, "field") == "messages":
                yield inner(change, "value")


def _arrival(message: Json, contacts: list[Json]) -> Arrival | None:
    wamid = text(message, "id", 200)
    addresses = _addresses(message, contacts)
    if not wamid or not wamid.isprintable() or not addresses:
        return None
    content = said(message)
    context, group = inner(message, "context"), text(message, "group_id", 200)
    return Arrival(
        CHANNEL,
        addresses[0],
        wamid,
        name=_name(message, contacts),
        also=tuple(addresses[1:]),
        thread=group or None,
        text=content.text,
        files=content.files,
        press=content.press,
        reply_to=content.quotes or text(context, "id", 200) or None,
        edits=content.edits,
        # Nobody addresses a business in a group by mistake only; it is stored, and answered by people.
        silent=content.silent or bool(group),
        meta={"message_key": content.edits or wamid, **content.meta, **_about(message, context)},
    )


def _about(message: Json, context: Json) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    if said_at := moment(message, "timestamp"):
        meta["said_at"] = said_at.isoformat()
    if flag(context, "forwarded") or flag(context, "frequently_forwarded"):
        meta["forwarded"] = True
    if referral := inner(message, "referral"):
        meta["referral"] = {key: text(referral, key, 300) for key in ("source_type", "source_id", "headline")}
    return meta


def _addresses(message: Json, contacts: list[Json]) -> list[str]:
    """Every address of the sender, the one to answer first: a new number before the old, a phone before an id."""
    system = inner(message, "system") if text(message, "type") == "system" else {}
    known = [
        text(system, "wa_id", 200) or text(system, "new_wa_id", 200),
        text(message, "from", 200),
        *(text(contact, "wa_id", 200) for contact in contacts if len(contacts) == 1 and not system),
        text(system, "user_id", 200),
        text(message, "from_user_id", 200),
        text(message, "from_parent_user_id", 200),
    ]
    for contact in _of_sender(message, contacts):
        known += [text(contact, "user_id", 200), text(contact, "parent_user_id", 200)]
    plain = [address.lstrip("+") for address in known]
    return list(dict.fromkeys(one for one in plain if is_phone(one) or USER_ID.fullmatch(one)))


def is_phone(address: str) -> bool:
    return address.isascii() and address.isdecimal() and 5 <= len(address) <= 20


def _of_sender(message: Json, contacts: list[Json]) -> list[Json]:
    """The contacts that are the sender: by phone or user id, or the only one there is."""
    if len(contacts) == 1:
        return contacts
    phone, user = text(message, "from", 200), text(message, "from_user_id", 200)
    return [
        one
        for one in contacts
        if (phone and text(one, "wa_id", 200) == phone) or (user and text(one, "user_id", 200) == user)
    ]


def _name(message: Json, contacts: list[Json]) -> str:
    profiles = [inner(one, "profile") for one in _of_sender(message, contacts)]
    return next((name for one in profiles if (name := text(one, "name", 200) or text(one, "username", 200))), "")


def _status(one: Json) -> Status | None:
    wamid, status = text(one, "id", 200), text(one, "status", 40)
    if not wamid or not status:
        return None
    errors = each(one, "errors")
    pricing = inner(one, "pricing") or inner(inner(one, "conversation"), "pricing")
    shown = {key: pricing[key] for key in ("category", "type", "pricing_model", "billable") if key in pricing}
    return Status(
        wamid,
        status,
        moment(one, "timestamp"),
        _code(errors[0]) if errors else None,
        complaint(errors[0]) if errors else "",
        text(pricing, "category", 60),
        _billable(pricing),
        {key: storable(value) for key, value in shown.items() if isinstance(value, str | bool)},
    )


def _billable(pricing: Json) -> bool:
    """Whether money is due: newer webhooks say so in `type`, older ones in `billable`."""
    kind = text(pricing, "type", 60)
    return kind == "regular" if kind else flag(pricing, "billable")


def complaint(error: Json) -> str:
    """An error of Meta's in one line: its title, what it says of this case, and its code."""
    title = text(error, "title", 200) or text(error, "message", 200) or "unknown error"
    details = text(inner(error, "error_data"), "details", 400)
    code = text(error, "code", 12)
    said_twice = not details or details == title
    return f"{title}{'' if said_twice else f': {details}'}{f' ({code})' if code else ''}"


def _code(error: Json) -> int | None:
    digits = text(error, "code", 12)
    return int(digits) if digits.isascii() and digits.isdecimal() else None
