"""What psutil and the kernel say about this server, one function per topic; all of them block."""

from __future__ import annotations

import os
import platform
import re
import socket
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from laneway.clock import SystemClock, local
from laneway.domain.redaction import redacted

Facts = dict[str, Any]

GIB = 1024**3
SAMPLE_SECONDS = 0.2
TOP = 5
# The kernel keeps 15 characters of a name; psutil takes longer ones from the command line, which we never show.
KERNEL_NAME_LENGTH = 15
NO_REAL_DISK = {"squashfs", "iso9660", "overlay", "tmpfs", "devtmpfs"}
PROGRAMS = {
    "postgresql": ("postgres",),
    "apache": ("apache2", "httpd"),
    "mongodb": ("mongod",),
    "ssh": ("sshd",),
    "docker": ("dockerd", "docker"),
    "mariadb": ("mariadbd", "mysqld"),
    "mysql": ("mysqld", "mariadbd"),
    "redis": ("redis-server", "valkey-server"),
}


def uptime() -> Facts:
    now, booted = SystemClock().now(), datetime.fromtimestamp(psutil.boot_time(), UTC)
    seconds = max(0, int((now - booted).total_seconds()))
    return {"seconds": seconds, "text": _in_words(seconds), "since": _written(booted)}


def load() -> Facts:
    one, five, fifteen = (round(value, 2) for value in psutil.getloadavg())
    return {"1_min": one, "5_min": five, "15_min": fifteen, "cores": psutil.cpu_count() or 1}


def cpu() -> Facts:
    used = psutil.cpu_percent(interval=SAMPLE_SECONDS)
    cores, physical = psutil.cpu_count() or 1, psutil.cpu_count(logical=False)
    return {"used_percent": used, "cores": cores, "physical_cores": physical, "model": _cpu_model()}


def _cpu_model() -> str:
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", told, re.M)
    return found.group(1).strip() if found else platform.machine()


def disk() -> Facts:
    mounts = {"/": "/"} | {
        part.mountpoint: part.device
        for part in psutil.disk_partitions(all=False)
        if part.fstype not in NO_REAL_DISK and not part.mountpoint.startswith(("/snap/", "/boot/efi"))
    }
    found = [_one_disk(mount) for mount in sorted(mounts) if Path(mount).is_dir()]
    return {"disks": [disk for disk in found if disk["total_gb"] > 0]}


def _one_disk(mount: str) -> Facts:
    usage = psutil.disk_usage(mount)
    return {
        "mount": mount,
        "used_percent": usage.percent,
        "free_gb": _gb(usage.free),
        "used_gb": _gb(usage.used),
        "total_gb": _gb(usage.total),
    }


def memory() -> Facts:
    told = psutil.virtual_memory()
    return {
        "used_percent": told.percent,
        "available_gb": _gb(told.available),
        "used_gb": _gb(told.total - told.available),
        "total_gb": _gb(told.total),
    }


def swap() -> Facts:
    told = psutil.swap_memory()
    return {"used_percent": told.percent, "used_gb": _gb(told.used), "total_gb": _gb(told.total)}


def processes(asked: str | None) -> Facts:
    alive = list(psutil.process_iter())
    for one in alive:
        _quietly(one.cpu_percent)
    time.sleep(SAMPLE_SECONDS)
    seen = [read for one in alive if (read := _one_process(one)) is not None]
    found: Facts = {
        "count": len(seen),
        "by_cpu": sorted(seen, key=lambda one: (-one["cpu_percent"], one["pid"]))[:TOP],
        "by_memory": sorted(seen, key=lambda one: (-one["memory_mb"], one["pid"]))[:TOP],
    }
    return found if asked is None else found | _named(asked, seen)


def _one_process(one: psutil.Process) -> Facts | None:
    try:
        memory = one.memory_info().rss / 1024**2
        name, cpu = _short_name(one.name()), one.cpu_percent()
    except psutil.Error:
        return None
    return {"name": name, "pid": one.pid, "cpu_percent": round(cpu, 1), "memory_mb": round(memory, 1)}


def _named(asked: str, seen: list[Facts]) -> Facts:
    wanted = PROGRAMS.get(asked.lower(), (asked.lower(),))
    matching = sorted((one for one in seen if _is_one_of(one["name"], wanted)), key=lambda one: int(one["pid"]))
    return {
        "asked": asked,
        "running": bool(matching),
        "matches": len(matching),
        "matching": matching[:TOP],
        "matching_cpu_percent": round(sum(one["cpu_percent"] for one in matching), 1),
        "matching_memory_mb": round(sum(one["memory_mb"] for one in matching), 1),
    }


def _is_one_of(name: str, wanted: Sequence[str]) -> bool:
    """True for `redis-server` when redis is wanted, not for `sshd` when sh is."""
    return any(re.search(rf"(?:^|[^a-z0-9]){re.escape(want)}", name.lower()) for want in wanted)


def _short_name(name: str) -> str:
    if len(name) > KERNEL_NAME_LENGTH:
        name = (name.split() or [name])[0].rstrip(":")
    return str(redacted(name))


def _quietly(measure: Callable[[], float]) -> None:
    try:
        measure()
    except psutil.Error:
        return


def time_and_date() -> Facts:
    now = local(SystemClock().now())
    return {
        "date": now.strftime("%Y-%m-%d"),
        "weekday": now.strftime("%A"),
        "time": now.strftime("%H:%M:%S"),
        "zone": _zone_name(now),
        "utc_offset": now.strftime("%z"),
        "utc": now.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S"),
    }


def _zone_name(now: datetime) -> str:
    named = os.environ.get("TZ", "").lstrip(":") or _linked_zone()
    abbreviation = now.tzname() or "UTC"
    return named if "/" in named and not named.startswith("/") else abbreviation


def _linked_zone() -> str:
    target = str(Path("/etc/localtime").resolve())
    return target.split("/zoneinfo/", 1)[1] if "/zoneinfo/" in target else ""


def operating_system() -> Facts:
    return {
        "name": _distribution(),
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "hostname": socket.gethostname(),
        "python": platform.python_version(),
    }


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.mac_ver()[0] or platform.release()}".strip()


def network() -> Facts:
    state = psutil.net_if_stats()
    found = [
        {"name": name, "up": name in state and state[name].isup, "addresses": addresses}
        for name, entries in sorted(psutil.net_if_addrs().items())
        if (addresses := _ip_addresses(entries))
    ]
    return {"hostname": socket.gethostname(), "interfaces": found}


def _ip_addresses(entries: Sequence[Any]) -> list[str]:
    kinds = (socket.AF_INET, socket.AF_INET6)
    return [entry.address.split("%")[0] for entry in entries if entry.family in kinds]


def users() -> Facts:
    sessions = [
        {
            "name": user.name,
            "terminal": user.terminal or "",
            "since": _written(datetime.fromtimestamp(user.started, UTC)),
        }
        for user in psutil.users()
    ]
    return {"count": len(sessions), "sessions": sessions}


def _gb(amount: int) -> float:
    return round(amount / GIB, 1)


def _written(moment: datetime) -> str:
    here = local(moment)
    return f"{here:%Y-%m-%d %H:%M} {_zone_name(here)}"


def _in_words(seconds: int) -> str:
    days, hours, minutes = seconds // 86400, seconds % 86400 // 3600, seconds % 3600 // 60
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    said = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count]
    return ", ".join(said) or "less than a minute"
