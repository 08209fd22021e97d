"""`laneway doctor` on a healthy Laneway, on a broken one, and while nothing runs."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import psycopg

from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Shell, free_port, postgres_of
from tests.conftest import address_of
from tests.servers import AnthropicServer, Fail, OpenAIServer
from tests.servers.script import Json

HEALTHY = {
    "python", "settings", "home", "disk", "key file", "port", "database", "tables", "worker", "key", "budget",
    "clock", "model", "quota",
}  # fmt: skip


def findings(shell: Shell, *arguments: str, code: int = 0, **environ: str) -> dict[str, dict[str, Any]]:
    """What the doctor found, by check."""
    told = json.loads(shell.run("doctor", "--json", *arguments, code=code, **environ))
    assert told["ok"] is (code == 0)
    return {found["check"]: found for found in told["findings"]}


def test_a_healthy_laneway_is_found_healthy(server: Server) -> None:
    found = findings(server.shell, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=server.model.url)
    assert set(found) == HEALTHY
    assert {name: one for name, one in found.items() if one["state"] != "ok"} == {}


def test_while_nothing_runs_it_says_so_and_starts_nothing(shell: Shell) -> None:
    printed = shell.run("doctor")
    assert printed.count("not running") == 2
    assert "Start with `laneway up`." in printed
    assert not (shell.folder / "home").exists()
    assert postgres_of(shell.folder) == []


def test_what_is_broken_in_the_home_is_named(server: Server) -> None:
    key = server.home / "key"
    key.chmod(0o644)
    try:
        found = findings(server.shell, "--least-free-mb", "1000000000", code=1, LANEWAY_KEY="lw_wrong")
    finally:
        key.chmod(0o600)
    assert {name for name, one in found.items() if one["state"] == "fail"} == {"key file", "disk", "key"}


def test_a_used_up_budget_is_named(server: Server) -> None:
    server.shell.run("send", "what does this cost?")
    found = findings(server.shell, code=1, LANEWAY_BUDGET_DAY_USD="0.000001")
    assert found["budget"]["state"] == "fail"


def test_wrong_settings_are_named_and_nothing_else_is_tried(shell: Shell) -> None:
    found = findings(shell, code=1, LANEWAY_PORT="none")
    assert found["settings"]["state"] == "fail"
    assert "`port`" in found["settings"]["says"]
    assert "database" not in found


def test_an_unreachable_database_is_named(shell: Shell) -> None:
    found = findings(shell, code=1, DATABASE_URL=f"postgresql://me:sesame@127.0.0.1:{free_port()}/laneway")
    assert found["database"]["state"] == "fail"
    assert "sesame" not in str(found)
    assert findings(shell, code=1, DATABASE_URL="nonsense")["database"]["state"] == "fail"


def test_a_database_without_tables_and_one_without_a_worker_are_named(
    shell: Shell, postgres: str, database_url: str
) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE without_tables")
    found = findings(shell, code=1, DATABASE_URL=address_of(postgres, "without_tables"))
    assert found["tables"]["state"] == "fail"
    found = findings(shell, code=1, DATABASE_URL=database_url)
    assert found["tables"]["state"] == "ok"
    assert found["worker"]["state"] == "fail"


def test_a_port_somebody_else_has_is_named(shell: Shell) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:

        def answer() -> None:
            connection, _ = stranger.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

        threading.Thread(target=answer, daemon=True).start()
        found = findings(shell, code=1, LANEWAY_PORT=str(stranger.getsockname()[1]))
    assert found["port"]["state"] == "fail"


def test_a_model_key_the_provider_refuses_is_named(shell: Shell) -> None:
    with AnthropicServer(api_key="right") as provider:
        found = findings(shell, code=1, ANTHROPIC_API_KEY="sk-ant-wrong", ANTHROPIC_BASE_URL=provider.url)
        assert found["model"]["state"] == "fail"
        assert "ANTHROPIC_API_KEY" in found["model"]["says"]
        assert "sk-ant-wrong" not in str(found)
        assert found["quota"]["state"] == "ok"
        assert findings(shell, ANTHROPIC_API_KEY="right", ANTHROPIC_BASE_URL=provider.url)["model"]["state"] == "ok"


class Exhausted(OpenAIServer):
    """A provider whose every answer is that we asked too often."""

    def look_up(self, method: str, path: str, body: Json) -> Json | Fail:
        return Fail(429, message="Rate limit reached.")


def test_a_quota_that_is_used_up_is_named(shell: Shell) -> None:
    with Exhausted() as provider:
        found = findings(shell, code=1, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=provider.url)
    assert found["quota"]["state"] == "fail"
    assert "429" in found["quota"]["says"]


def test_a_model_that_cannot_be_is_named(shell: Shell) -> None:
    assert findings(shell, code=1, DEFAULT_MODEL="nobody:nothing")["model"]["state"] == "fail"


def test_a_home_that_is_a_file_is_named(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert findings(shell, "--home", str(tmp_path / "file"), code=1)["home"]["state"] == "fail"
