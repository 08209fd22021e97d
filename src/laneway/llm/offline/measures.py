"""The figures of `server_info` that can be compared with a limit, each with the words that say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Facts = Mapping[str, Any]

MB_PER_GB = 1024


class Unit(StrEnum):
    PERCENT = "%"
    GB = "GB"
    NONE = ""


@dataclass(frozen=True)
class Measure:
    """What is to be looked at: the room in use or left, a rate, or what one program uses."""

    topic: str
    unit: Unit
    free: bool = False
    mount: str | None = None
    minutes: str = "1"
    program: str | None = None


@dataclass(frozen=True)
class Figure:
    """A figure that was read, and the words that say it."""

    said: str
    value: float
    is_named: bool = False
    """True if the words begin with a name, which is written as it is."""

    @property
    def first(self) -> str:
        """The words at the beginning of a sentence."""
        return self.said if self.is_named else self.said[:1].upper() + self.said[1:]


class Unreadable(ValueError):
    """What was to be looked at is not there; the message is a sentence for the user."""


def figures(measure: Measure, facts: Facts) -> list[Figure]:
    """Every figure of this measure among the facts of its topic: one per disk, else one."""
    if measure.program is not None:
        return [_of_program(measure.unit, measure.program, facts)]
    if measure.topic == "disk":
        return _of_disks(measure, facts)
    if measure.topic == "cpu":
        return [Figure(f"the CPU is {facts['used_percent']:g} % busy", facts["used_percent"])]
    if measure.topic == "load":
        average = facts[f"{measure.minutes}_min"]
        return [Figure(f"the load average is {average:g} ({measure.minutes} min)", average)]
    if measure.topic == "swap" and not facts["total_gb"]:
        raise Unreadable("This server has no swap.")
    return [_of_room(measure, measure.topic, facts)]


def _of_disks(measure: Measure, facts: Facts) -> list[Figure]:
    disks = [disk for disk in facts["disks"] if measure.mount in (None, disk["mount"])]
    if not disks:
        where = f" at {measure.mount}" if measure.mount else ""
        raise Unreadable(f"No disk{where} is visible from here.")
    return [_of_room(measure, f"the disk at {disk['mount']}", disk) for disk in disks]


def _of_room(measure: Measure, name: str, facts: Facts) -> Figure:
    """How much of a disk, of the memory or of the swap is in use or left."""
    if measure.unit is Unit.PERCENT:
        value = round(100 - facts["used_percent"], 1) if measure.free else facts["used_percent"]
    else:
        value = _free_gb(facts) if measure.free else facts["used_gb"]
    if measure.unit is Unit.PERCENT and not measure.free:
        return Figure(f"{name} is {value:g} % {'full' if measure.topic == 'disk' else 'used'}", value)
    return Figure(f"{name} has {value:g} {measure.unit} {'free' if measure.free else 'used'}", value)


def _free_gb(facts: Facts) -> float:
    told = facts.get("free_gb", facts.get("available_gb"))
    return float(told) if told is not None else round(facts["total_gb"] - facts["used_gb"], 1)


def _of_program(unit: Unit, program: str, facts: Facts) -> Figure:
    if not facts["running"]:
        raise Unreadable(f"{program} is not running.")
    if unit is Unit.NONE:
        return Figure(f"{program} is running", facts["matches"], is_named=True)
    if unit is Unit.PERCENT:
        used = facts["matching_cpu_percent"]
        return Figure(f"{program} uses {used:g} % CPU", used, is_named=True)
    used = facts["matching_memory_mb"]
    return Figure(f"{program} uses {used:g} MB of memory", used / MB_PER_GB, is_named=True)
