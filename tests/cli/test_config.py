"""`laneway config`: every value with its source, and no secret."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.processes import Shell


def test_each_value_says_where_it_comes_from_and_no_secret_is_shown(shell: Shell) -> None:
    home = Path(shell.environ["LANEWAY_HOME"])
    home.mkdir()
    (home / "config.yaml").write_text("workers: 3\nhost: 0.0.0.0\nmodels: {openai_base_url: 'http://me:hush@here'}\n")
    (home / ".env").write_text("ANTHROPIC_API_KEY=sk-ant-hush\nLANEWAY_WORKERS=4\n")
    (shell.folder / ".env").write_text("LANEWAY_LOG_LEVEL=debug\n")
    lines = json.loads(shell.run("config", "show", "--json", LANEWAY_HOST="127.0.0.2"))["items"]
    shown = {line["setting"]: (line["value"], line["source"]) for line in lines}
    expected = {
        "LANEWAY_HOME": (str(home), "LANEWAY_HOME"),
        "host": ("127.0.0.2", "the environment"),
        "workers": (4, f"{home}/.env"),
        "log.level": ("debug", f"{shell.folder}/.env"),
        "owner_slots": (4, "default"),
        "ANTHROPIC_API_KEY": ("********", f"{home}/.env"),
        "models.openai_base_url": ("http://me:********@here", f"{home}/config.yaml"),
    }
    assert {name: shown[name] for name in expected} == expected
    printed = shell.run("config", "show", DATABASE_URL="postgresql://me:hush@here/db")
    assert "hush" not in printed
    assert "Most money a day" in printed
    assert shell.run("config", "check").startswith("The settings are right.")
    assert json.loads(shell.run("config", "check", "--json"))["ok"] is True


def test_wrong_settings_are_two_and_named(shell: Shell) -> None:
    home = Path(shell.environ["LANEWAY_HOME"])
    home.mkdir()
    for file, text, says in (
        (".env", "no equals sign\n", "expected NAME=value"),
        ("config.yaml", "worker: 3\n", "unknown setting `worker`. Did you mean `workers`?"),
    ):
        (home / file).write_text(text)
        assert says in shell.refused("config", "check")
        (home / file).unlink()


def test_up_refuses_wrong_settings_too(shell: Shell) -> None:
    assert "unknown setting `LANEWAY_PRT`" in shell.refused("up", LANEWAY_PRT="1")
    assert "`port`" in shell.refused("up", "--port", "70000")
