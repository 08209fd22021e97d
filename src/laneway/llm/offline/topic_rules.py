"""The rules that recognise each topic of `server_info` in a question, over concepts and phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from laneway.llm.offline.phrases import found, phrases
from laneway.llm.offline.reading import Reading, read


def _uptime(reading: Reading) -> bool:
    text = reading.text
    if reading.has("uptime") or (found("is_up", text) and not text.startswith(("what", "which"))):
        return True
    return found("up_since", text) and not re.search(
        r"\btop up\b|\byou been (?:alive|here|around|working|doing)\b", text
    )


def _load(reading: Reading) -> bool:
    text = reading.text
    if found("load", text):
        return not found("load_as_verb", text)
    if reading.has("load"):
        return not reading.has("disk", "memory", "speicher", "swap")
    subject = reading.has("server") or not {"it", "this", "thing", "everything", "we"}.isdisjoint(reading.words)
    return _is_busy(reading) or (subject and found("under_load", text))


def _is_busy(reading: Reading) -> bool:
    """True if something that can only be this server is said to be busy or slow."""
    if not reading.has("busy") or reading.has("disk", "memory", "network", "swap", "speicher"):
        return False
    return found("subject_of_busy", reading.text) or len(reading.words) <= 2


def _cpu(reading: Reading) -> bool:
    return reading.has("cpu") or _is_busy(reading)


_MOUNT_POINT = re.compile(r"(?<!\S)/[\w/-]*(?=[\s?!]|$)")


def _disk(reading: Reading) -> bool:
    if reading.has("disk"):
        return True
    if reading.has("drive") or _MOUNT_POINT.search(reading.raw):
        return reading.has("full", "free", "used", "space") or not {"mounted", "still"}.isdisjoint(reading.words)
    if reading.has("memory", "swap", "speicher"):
        return reading.has("speicher") and reading.has("free", "full", "much", "space")
    if reading.has("space"):
        return reading.has("free", "full", "used") or found("space_asked", reading.text)
    return reading.has("full") and reading.has("server")


def _memory(reading: Reading) -> bool:
    # "Swap memory" and "memoria de intercambio" are swap, not memory.
    return read(phrases("swap_memory").sub(" ", reading.text)).has("memory", "speicher")


def _swap(reading: Reading) -> bool:
    return reading.has("swap") or "fichier d echange" in reading.text


def _processes(reading: Reading) -> bool:
    text = reading.text
    if found("processes", text):
        return True
    if found("programs", text) and (
        reading.has("hog", "server", "memory", "speicher", "cpu") or found("running", text)
    ):
        return True
    if found("what_runs", text) and {"low", "out", "late", "since"}.isdisjoint(reading.words):
        return not reading.has("os", "uptime") and "version" not in reading.words
    hungry = reading.has("hog") or (reading.has("top") and reading.has("used"))
    return hungry and reading.has("cpu", "memory", "speicher", "load", "server") and found("which_one", text)


def _logs(reading: Reading) -> bool:
    text = reading.text
    if found("log_as_verb", text):
        return False
    if reading.has("log") or (reading.has("complaint", "grumble") and "kernel" in reading.words):
        return True
    if reading.has("grumble"):
        return reading.has("server") or "anything" in reading.words
    return reading.has("error") and found("errors_asked", text)


def _time(reading: Reading) -> bool:
    if reading.has("zone") or found("clock", reading.text):
        return not reading.has("log", "process", "boot")
    other = reading.has("long", "boot", "uptime", "load", "alive", "log", "process", "busy", "hog")
    return found("time_words", reading.text) and reading.has("server") and not other


def _os(reading: Reading) -> bool:
    text = reading.text
    if reading.has("hostname") or found("operating_system", text):
        return True
    if found("name_asked", text) and reading.has("server") and not reading.has("user", "who", "process"):
        return "my name" not in text
    return reading.has("os") and not reading.has("who", "log", "complaint") and "release" not in reading.words


def _network(reading: Reading) -> bool:
    if reading.has("ip"):
        return True
    if reading.has("network"):
        return not found("other_networks", reading.text)
    return reading.has("address") and reading.has("server")


def _users(reading: Reading) -> bool:
    text = reading.text
    if reading.has("login"):
        return reading.has("user", "who") or found("logged_in", text)
    if found("somebody_here", text):
        return reading.has("server") or found("surely_here", text)
    if not found("people", text) or reading.has("process"):
        return False
    return (
        len(reading.words) <= 2 or "online" in reading.words or (reading.has("server", "alive") and found("here", text))
    )


RULES: Mapping[str, Callable[[Reading], bool]] = {
    "uptime": _uptime,
    "load": _load,
    "cpu": _cpu,
    "disk": _disk,
    "memory": _memory,
    "swap": _swap,
    "processes": _processes,
    "logs": _logs,
    "time": _time,
    "os": _os,
    "network": _network,
    "users": _users,
}


def asks_how_it_is(reading: Reading) -> bool:
    """True for questions about the server's health as a whole."""
    return found("how_goes_it", reading.text) or (reading.has("health") and found("how_it_is", reading.text))
