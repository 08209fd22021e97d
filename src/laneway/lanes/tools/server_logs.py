"""The newest lines of a log file, with everything that looks like a secret replaced."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SYSTEM_LOGS = (Path("/var/log/syslog"), Path("/var/log/messages"))
MOST_LINES = 200
LINE_LENGTH = 400
TAIL_BYTES = 256 * 1024

_HIDDEN = "[redacted]"
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S), _HIDDEN),
    (re.compile(r"(?i)\b(authorization[ ]*[:=][ ]*)(?:(?:bearer|basic|token)[ ]+)?\S+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(?i)\b((?:bearer|basic)[ ]+)[\w.~+/=-]{8,}"), rf"\1{_HIDDEN}"),
    (
        re.compile(
            r"""(?ix)( (?:password|passwd|passphrase|pwd|secret|token|credential|key) s? ["']?
                [ \t]* (?: = | : (?!//) ) [ \t]* ) ( "[^"\n]*" | '[^'\n]*' | [^\s,;&"'}]+ )"""
        ),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(?<=://)([^\s:/@]{0,80}:)[^\s@]{1,200}@"), rf"\1{_HIDDEN}@"),
    (re.compile(r"\b(?:sk|pk|rk)[-_][\w-]{8,}"), _HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza)[\w-]{8,}"), _HIDDEN),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), _HIDDEN),
    # A Telegram bot's token.
    (re.compile(r"\b\d{6,12}:[A-Za-z0-9_-]{30,}"), _HIDDEN),
)


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def newest_lines(candidates: Sequence[Path], lines: int) -> dict[str, Any]:
    """The newest lines of the first candidate that can be read, and which one it was; else FileNotFoundError."""
    for path in candidates:
        try:
            return {"file": str(path), "lines": _tail(path, max(1, min(lines, MOST_LINES)))}
        except OSError:
            continue
    tried = ", ".join(str(path) for path in candidates)
    raise FileNotFoundError(f"no log file is readable here (tried {tried}), and the systemd journal is not read")


def _tail(path: Path, lines: int) -> list[str]:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        text = file.read(TAIL_BYTES).decode("utf-8", errors="replace")
    # A file read from its middle begins with half a line, which could hold half a secret.
    whole = text if size <= TAIL_BYTES else text.partition("\n")[2]
    kept = [line for line in redact(whole).splitlines() if line.strip()][-lines:]
    return [line[:LINE_LENGTH] for line in kept]
