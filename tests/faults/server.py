"""A whole server that can be killed and started again, and its owner at the HTTP door."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any, Self

import httpx

from tests.cli.processes import Shell, eventually, free_port, up


class Server:
    """`laneway up` in a folder of its own; as a context it is running, and it is stopped in the end."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.home, self.port = folder / "home", free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.shell = Shell(folder, {"LANEWAY_HOME": str(self.home), "LANEWAY_PORT": str(self.port), **environ})

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.stop()

    def start(self) -> None:
        self._running = up(self.shell)

    def kill(self) -> None:
        self._running.signal(signal.SIGKILL)
        self._running.ended()

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {(self.home / 'key').read_text().strip()}"}

    def call(self, method: str, path: str, **more: Any) -> Any:
        """What the owner is answered."""
        response = httpx.request(method, self.url + path, headers=self.headers, timeout=30, **more)
        return response.raise_for_status().json()

    def until(self, path: str, *statuses: str) -> Any:
        """What lies there, once it has one of these statuses."""
        found: dict[str, Any] = {}

        def has_it() -> bool:
            found.update(self.call("GET", path))
            return found["status"] in statuses

        eventually(has_it, 90)
        return found
