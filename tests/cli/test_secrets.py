"""`laneway secrets`: kept for workflows, never shown, and not given as an argument."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.processes import Shell

PEM = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"


def test_a_secret_is_kept_for_its_owner_alone_listed_by_name_and_forgotten(shell: Shell) -> None:
    home = Path(shell.environ["LANEWAY_HOME"])
    said = shell.run("secrets", "set", "SHOP_TOKEN", typed="hunter2\n")
    shell.run("secrets", "set", "PEM", typed=f"{PEM}\n")
    (home / ".env").write_text("STRAY_TOKEN=abc\nLANEWAY_PORT=7\n")
    listed = shell.run("secrets", "list")
    found = json.loads(shell.run("secrets", "list", "--json"))["items"]
    assert [(one["name"], one["file"]) for one in found] == [
        ("PEM", "secrets.json"), ("SHOP_TOKEN", "secrets.json"), ("STRAY_TOKEN", ".env"),
    ]  # fmt: skip
    assert "$secrets.SHOP_TOKEN" in said
    assert "hunter2" not in said + listed
    assert "hunter2" not in shell.run("config", "show")
    assert (home / "secrets.json").stat().st_mode & 0o777 == 0o600
    assert json.loads((home / "secrets.json").read_text()) == {"SHOP_TOKEN": "hunter2", "PEM": PEM}
    assert shell.run("secrets", "remove", "SHOP_TOKEN") == "`SHOP_TOKEN` is forgotten.\n"
    assert "by hand" in shell.refused("secrets", "remove", "STRAY_TOKEN", code=1)
    assert "SHOP_TOKEN" not in shell.run("secrets", "list")


def test_what_cannot_be_a_secret_is_refused_and_its_value_not_repeated(shell: Shell) -> None:
    for name in ("a b", "1A", "LANEWAY_PORT", "OPENAI_API_KEY"):
        assert "hunter2" not in shell.refused("secrets", "set", name, typed="hunter2\n")
    assert "There is no value." in shell.refused("secrets", "set", "EMPTY", typed="\n")
    assert "hunter2" not in shell.ended("secrets", "set", "SHOP_TOKEN", "hunter2", code=2).stdout
