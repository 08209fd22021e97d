"""An event of a session as JSON, and back: what the HTTP door gives out and a rehearsal reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from laneway.domain.keepable import keepable
from laneway.domain.session import EventKind, SessionEvent, Tokens

_PLAIN = (
    "text", "tool", "call_id", "failed", "result_hash", "model", "cwd", "context_window", "context_used", "side",
    "offset", "part", "turn_ended",
)  # fmt: skip


def as_json(event: SessionEvent) -> dict[str, Any]:
    """The event without secrets; fields that say nothing are left out."""
    told = {name: value for name in _PLAIN if (value := getattr(event, name))}
    told |= {"arguments": keepable(event.arguments)} if event.arguments else {}
    told |= {"tokens": asdict(event.tokens)} if event.tokens else {}
    told |= {"cost": str(event.cost)} if event.cost is not None else {}
    named = {"session_id": event.session_id, "provider": event.provider, "kind": event.kind.value}
    return named | {"at": event.at.isoformat()} | told


def from_json(told: Mapping[str, Any]) -> SessionEvent:
    """The event that `as_json` wrote."""
    return SessionEvent(
        str(told["session_id"]), str(told["provider"]), EventKind(told["kind"]), datetime.fromisoformat(told["at"]),
        arguments=dict(told.get("arguments", {})), tokens=Tokens(**told.get("tokens", {})),
        cost=Decimal(told["cost"]) if "cost" in told else None,
        **{name: told[name] for name in _PLAIN if name in told},
    )  # fmt: skip
