"""The newest lines of a log file, with everything that looks like a secret replaced."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from laneway.domain.redaction import redacted

SYSTEM_LOGS = (Path("/var/log/syslog"), Path("/var/log/messages"))
MOST_LINES = 200
LINE_LENGTH = 400
TAIL_BYTES = 256 * 1024


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
    kept = [line for line in redacted(whole).splitlines() if line.strip()][-lines:]
    return [line[:LINE_LENGTH] for line in kept]
