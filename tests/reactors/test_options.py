"""The default list, and what the settings make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.errors import SettingsError
from laneway.reactors.loading import load
from laneway.reactors.options import Options, chosen, folder_of
from laneway.reactors.shipped import shipped
from laneway.settings import Settings
from tests.reactors.watched import Watched, kills, notices


def test_by_default_nothing_has_a_budget_and_nothing_is_ended() -> None:
    assert [one.name for one in shipped()] == ["safety", "loop", "errors", "stall", "cheaper"]
    session = Watched(*shipped())
    said = [one for _ in range(20) for one in session.done("Bash", {"command": "rm -rf /"})]
    assert kills(said) == []
    assert len(notices(said)) == 2


def test_the_order_is_a_plain_list_and_budgets_stand_before_what_only_tells() -> None:
    every = Options(budget_tokens=1, budget_usd=1, max_minutes=1)
    assert [one.name for one in shipped(every)] == [
        "safety", "loop", "tokens", "cost", "time", "errors", "stall", "cheaper",
    ]  # fmt: skip


def test_two_sessions_share_no_memory() -> None:
    options = Options()
    first, second = Watched(*shipped(options)), Watched(*shipped(options))
    for _ in range(7):
        first.done("Bash", {"command": "ls"})
    assert notices(second.done("Bash", {"command": "ls"})) == []
    assert len(notices(first.done("Bash", {"command": "ls"}))) == 1


def test_settings_choose_the_options_and_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "reactors"
    folder.mkdir(mode=0o700)
    (folder / "mine.toml").write_text('[[rule]]\nname = "mine"\ntool = "Bash"', encoding="utf-8")
    (folder / "mine.toml").chmod(0o600)
    (tmp_path / "config.yaml").write_text(
        "reactors:\n  kill_on: [danger, budget]\n  budget_tokens: 5000\n  idle_seconds: 30\n  errors: 3\n"
        "  loop_exceptions: ['Bash(gh *)']\n  cheaper_ways: false\n",
        encoding="utf-8",
    )
    settings = Settings.load({"LANEWAY_HOME": str(tmp_path), "LANEWAY_REACTORS_MAX_MINUTES": "7"}, tmp_path)
    options = chosen(settings, load(folder_of(settings, settings.home), ()))
    assert options.kill_on == {"danger", "budget"}
    assert (options.budget_tokens, options.budget_usd, options.max_minutes) == (5000, None, 7)
    assert (options.patience.user, options.errors_in_a_row) == (30, 3)
    assert "Bash(gh *)" in options.exceptions
    assert [one.name for one in shipped(options)] == ["safety", "loop", "tokens", "time", "errors", "stall", "mine"]


def test_what_may_not_end_a_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="LANEWAY_REACTORS_KILL_ON"):
        Settings.load({"LANEWAY_HOME": str(tmp_path), "LANEWAY_REACTORS_KILL_ON": "boredom"}, tmp_path)
