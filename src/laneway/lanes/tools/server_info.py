"""`server_info`: what this server can tell about itself, read in this process without running any command."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import psutil

# On Python 3.11 pydantic cannot describe the standard library's TypedDict to a model.
from typing_extensions import TypedDict

from laneway.lanes.tools import server_readings as readings
from laneway.lanes.tools.server_logs import SYSTEM_LOGS, newest_lines
from laneway.lanes.tools.server_readings import Facts

Topic = Literal[
    "uptime",
    "load",
    "cpu",
    "disk",
    "memory",
    "swap",
    "processes",
    "logs",
    "time",
    "os",
    "network",
    "users",
]
TOPICS: tuple[Topic, ...] = get_args(Topic)


class ServerInfo(TypedDict):
    """What was read, by topic; `error` says what could not be read and why."""

    status: Literal["success", "error"]
    result: dict[str, Facts]
    error: str | None


ServerInfoTool = Callable[[list[Topic], int, str | None], Awaitable[ServerInfo]]


async def server_info(topics: list[Topic], lines: int = 20, process: str | None = None) -> ServerInfo:
    """Facts about this server now, read-only.

    Args:
        topics: What to read.
        lines: How many of the newest log lines to return, at most 200; for logs.
        process: A program's name, to learn whether it is running; for processes.
    """
    return await asyncio.to_thread(_read, topics, lines, process, SYSTEM_LOGS)


def server_info_with_log(own_log: Path) -> ServerInfoTool:
    """The same tool, which falls back on `own_log` where the system's log files cannot be read."""

    async def with_log(topics: list[Topic], lines: int = 20, process: str | None = None) -> ServerInfo:
        return await asyncio.to_thread(_read, topics, lines, process, (*SYSTEM_LOGS, own_log))

    # A model sees a tool's name and docstring: these two are one tool.
    with_log.__name__, with_log.__doc__ = server_info.__name__, server_info.__doc__
    return with_log


def said_by_others(arguments: Mapping[str, Any], outcome: dict[str, Any]) -> str | None:
    """Whose words an answer brings: log lines, processes and users bear names that strangers may have chosen."""
    foreign = [topic for topic in ("logs", "processes", "users") if topic in (outcome.get("result") or {})]
    return f"this server's {' and '.join(foreign)}" if foreign else None


def _read(topics: Sequence[str], lines: int, process: str | None, logs: Sequence[Path]) -> ServerInfo:
    unknown = [topic for topic in topics if topic not in TOPICS]
    if unknown or not topics:
        wrong = f"Unknown topics: {', '.join(unknown)}." if unknown else "No topic was named."
        return {"status": "error", "result": {}, "error": f"{wrong} Known are {', '.join(TOPICS)}."}
    readers: dict[str, Callable[[], Facts]] = {
        "uptime": readings.uptime,
        "load": readings.load,
        "cpu": readings.cpu,
        "disk": readings.disk,
        "memory": readings.memory,
        "swap": readings.swap,
        "processes": partial(readings.processes, process),
        "logs": partial(newest_lines, logs, lines),
        "time": readings.time_and_date,
        "os": readings.operating_system,
        "network": readings.network,
        "users": readings.users,
    }
    return _gather({topic: readers[topic] for topic in topics})


def _gather(readers: dict[str, Callable[[], Facts]]) -> ServerInfo:
    result: dict[str, Facts] = {}
    problems: list[str] = []
    for topic, read in readers.items():
        try:
            result[topic] = read()
        except (OSError, psutil.Error) as reason:
            problems.append(f"{topic}: {reason}")
    return {
        "status": "success" if result else "error",
        "result": result,
        "error": "; ".join(problems) or None,
    }
