"""When a schedule is due: cron lines read on the clocks of a time zone, right on the days those clocks change.

What has hours of its own goes by the clock on the wall: a time the clocks jump over comes at the jump, once, and a
time they show twice comes the first time only. What comes every hour or more often goes by elapsed time.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from laneway.errors import BadInput
from laneway.language.rhythm import EXAMPLES
from laneway.language.times import zone_named

MOST_COUNTED = 1000
"""So many times that were missed are counted one by one."""


def following(cron: str, zone: str, after: datetime) -> datetime:
    """The first time after `after`, in UTC; BadInput if the line is wrong or its time never comes."""
    try:
        return next(_times(cron, zone_named(zone), after))
    except CronSimError as error:
        raise BadInput(f"`{cron[:60]}` is not a cron line: {str(error).lower()}.", hint=EXAMPLES) from None
    except (StopIteration, RuntimeError, OverflowError):
        raise BadInput(f"`{cron[:60]}` never comes.", hint=EXAMPLES) from None


def coming(cron: str, zone: str, after: datetime, count: int) -> list[datetime]:
    """The next `count` times after `after`."""
    times: list[datetime] = []
    while len(times) < count:
        times.append(following(cron, zone, times[-1] if times else after))
    return times


def due(cron: str, zone: str, first: datetime, now: datetime) -> list[datetime]:
    """The times from `first` on that have come, oldest first; only the first of very many."""
    times = [first]
    while len(times) < MOST_COUNTED and (following_one := following(cron, zone, times[-1])) <= now:
        times.append(following_one)
    return times


def _times(cron: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    if len(cron.split()) != 5:
        raise CronSimError("wrong number of fields")
    here = after.astimezone(zone)
    if cron.split()[1] == "*":
        yield from (moment.astimezone(UTC) for moment in CronSim(cron, here))
        return
    for naive in CronSim(cron, here.replace(tzinfo=None)):
        moment = _on_the_wall(naive, zone)
        # While the clocks show an hour for the second time, its times have been already.
        if moment > after:
            yield moment


def _on_the_wall(naive: datetime, zone: ZoneInfo) -> datetime:
    """When clocks first show this time, or the moment they jump over it."""
    while True:
        moment = naive.replace(tzinfo=zone, fold=0).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None) == naive:
            return moment
        naive += timedelta(minutes=1)
