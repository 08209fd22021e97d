"""trigger: a cron schedule can be read, fires one day, and its time zone exists; a webhook's secret is a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from laneway.lanes.workflow.document import Document
from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.references import whole

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


def cron(schedule: str) -> str:
    """The schedule in five fields."""
    return ALIASES.get(schedule.strip().lower(), schedule.strip())


def triggers(document: Document) -> Iterator[Finding]:
    for index, trigger in enumerate(document.get("triggers", [])):
        wrong = _CHECKS.get(trigger["type"], lambda _: None)(trigger)
        if wrong:
            key, message, repair = wrong
            yield Finding(
                "trigger", f"Trigger {index} ({trigger['type']}): {message}.", repair, None, f"/triggers/{index}/{key}"
            )


def _cron(trigger: Mapping[str, Any]) -> tuple[str, str, str] | None:
    zone = trigger.get("timezone", "UTC")
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return "timezone", f"the time zone {zone!r} is unknown", "Use an IANA name such as Europe/Berlin."
    schedule = trigger["schedule"]
    try:
        next(CronSim(cron(schedule), datetime(2026, 1, 1, tzinfo=UTC)))
    except (CronSimError, StopIteration):
        return (
            "schedule",
            f"the schedule {schedule!r} cannot be read or never comes",
            "Write five fields: minute, hour, day of month, month, day of week, such as 0 9 * * 1-5.",
        )
    return None


def _webhook(trigger: Mapping[str, Any]) -> tuple[str, str, str] | None:
    secret = trigger.get("secret")
    reference = whole(secret) if isinstance(secret, str) else None
    if secret is not None and (reference is None or reference.root != "secrets" or not reference.parts):
        return "secret", "the secret is written out", "Write $secrets.NAME; secrets are never stored in a workflow."
    return None


_CHECKS = {"cron": _cron, "webhook": _webhook}
