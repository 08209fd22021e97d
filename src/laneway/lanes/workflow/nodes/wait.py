"""`wait`: lets time pass, or waits for an event, without holding a worker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.workflow.hands import Doing, Done, Failed, Kind, Outcome, Waits
from laneway.lanes.workflow.hearing import parted

LONGEST = timedelta(days=366)


async def waited(doing: Doing) -> Outcome:
    """Its output says until when it waited and, where it waited for an event, which came; none in time fails it."""
    waits = doing.record.waits
    if waits is None:
        waits = _wanted(doing)
    until = datetime.fromisoformat(waits["until"]) if waits.get("until") else None
    if waits.get("came") is not None:
        event, about = parted(waits["came"])
        told = {"event": event, "about": about, "waited_until": doing.clock.now().isoformat()}
        return Done(told, ("an event",))
    if until is not None and until <= doing.clock.now():
        if waits.get("event"):
            return Failed(f"No event `{waits['event']}` came in time.", retryable=False, code="timeout")
        return Done({"waited_until": until.isoformat()})
    return Waits(waits, until)


def _wanted(doing: Doing) -> dict[str, Any]:
    config, now = doing.config, doing.clock.now()
    until: datetime | None = None
    if config.get("until"):
        until = _moment(str(config["until"]))
    elif config.get("seconds") is not None or config.get("duration_ms") is not None:
        until = now + _span(config.get("seconds"), config.get("duration_ms"))
    elif config.get("event") and config.get("timeout_ms") is not None:
        until = now + _span(None, config["timeout_ms"])
    elif config.get("event") and doing.own_seconds is not None:
        until = now + timedelta(seconds=doing.own_seconds)
    if until is not None and until - now > LONGEST:
        raise _too_long()
    if config.get("event"):
        condition = {"condition": str(config["condition"])} if config.get("condition") else {}
        return {"event": str(config["event"]), **condition, "until": until.isoformat() if until else None}
    if until is None:
        raise BadInput(f"The node `{doing.name}` does not say what to wait for.", hint="Set seconds, until or event.")
    return {"until": until.isoformat()}


def _span(seconds: Any, milliseconds: Any) -> timedelta:
    try:
        given = float(seconds) if seconds is not None else float(milliseconds) / 1000
        found = timedelta(seconds=min(given, 2 * LONGEST.total_seconds()))
    except (TypeError, ValueError, OverflowError):
        raise BadInput("The time to wait is no number.", hint="Give seconds or duration_ms.") from None
    if found > LONGEST:
        # No calendar has a day for what somebody may write here.
        raise _too_long()
    return found


def _too_long() -> BadInput:
    return BadInput("It would wait for more than a year.", hint="Use a cron trigger.")


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"`{text[:40]}` is no moment.", hint="Write it like 2026-01-31T09:00:00+01:00.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


KIND = Kind("wait", waited, takes=False)
