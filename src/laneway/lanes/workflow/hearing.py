"""An event as triggers, waiting nodes and runs see it: the sender's fields first, and what is ours beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.domain.judgement import Event
from laneway.errors import BadInput, LanewayError
from laneway.lanes.workflow.conditions import Erred, compiled

OURS = "$laneway"
"""The one field of an event's data that is not the sender's."""
EVENT_NAMES = ("output", "event")
"""What the condition of an event trigger, or of a wait for an event, may speak of: the event's fields, and ours."""


@dataclass(frozen=True)
class Heard:
    """An event: `seen` are its fields, `about` is what we know of it, whatever its sender called fields of its own."""

    seen: dict[str, Any]
    about: dict[str, Any]

    @property
    def kept(self) -> dict[str, Any]:
        """Both in one, for a node that waits; `parted` takes them apart again."""
        return {**self.seen, OURS: self.about}


def sent(data: Mapping[str, Any], id: str | None) -> dict[str, Any]:
    """The body of an event that somebody outside sent, under a name of its own if it gave one."""
    if OURS in data:
        raise BadInput(f"The field `{OURS}` of an event is ours.", hint="Give it another name.")
    return {**data, **({OURS: {"sent_as": id}} if id else {})}


def heard_of(event: Event) -> Heard:
    """The event; a field of its data hides ours of the same name in `seen`, never in `about`."""
    about: dict[str, Any] = {"kind": event.kind, "id": event.id, "at": event.created_at.isoformat()}
    about |= {"job_id": str(event.job_id) if event.job_id else None}
    body = dict(event.body)
    about |= body.pop(OURS, {}) if event.job_id is None else {}
    return Heard({**about, **body}, about)


def parted(kept: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the event said, and what we know of it."""
    return {key: value for key, value in kept.items() if key != OURS}, dict(kept.get(OURS) or {})


def verdict(condition: str | None, heard: Heard) -> bool | Erred:
    """Whether the condition is true of the event; Erred if that cannot be worked out."""
    if not condition:
        return True
    try:
        return compiled(condition, EVENT_NAMES).value(heard.seen, event=heard.about)
    except LanewayError as error:
        return Erred(str(error))
