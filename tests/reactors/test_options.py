"""The default list, and what the settings make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.domain.session import EventKind
from laneway.errors import SettingsError
from laneway.reactors import Said
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
    # Budgets stand before what only tells.
    every = [one.name for one in shipped(Options(budget_tokens=1, budget_usd=1, max_minutes=1))]
    assert every == ["safety", "loop", "tokens", "cost", "time", "errors", "stall", "cheaper"]


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
    options = chosen(settings, load(folder_of(settings), ()))
    assert options.kill_on == {"danger", "budget"}
    assert (options.budget_tokens, options.budget_usd, options.max_minutes) == (5000, None, 7)
    assert (options.patience.user, options.errors_in_a_row) == (30, 3)
    assert "Bash(gh *)" in options.exceptions
    assert [one.name for one in shipped(options)] == ["safety", "loop", "tokens", "time", "errors", "stall", "mine"]


def test_what_may_not_end_a_session_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="LANEWAY_REACTORS_KILL_ON"):
        Settings.load({"LANEWAY_HOME": str(tmp_path), "LANEWAY_REACTORS_KILL_ON": "boredom"}, tmp_path)


def failing(session: Watched, times: int) -> list[Said]:
    said: list[Said] = []
    for number in range(times):
        said += session.done("Bash", {"command": f"make {number}"}, f"no rule {number}", failed=True)
    return said


def test_by_default_the_fifth_consecutive_error_is_told_once_for_each_row() -> None:
    session = Watched(*shipped())
    assert notices(failing(session, 4)) == []
    session.tell(EventKind.ASSISTANT, text="trying again")
    assert notices(failing(session, 1)) == ["5 errors in a row; the last: no rule 0"]
    session.tell(EventKind.TOKENS)
    assert notices(failing(session, 10)) == []
    session.done("Bash", {"command": "true"})
    assert notices(failing(session, 4)) == []
    # An error of the model counts, too.
    assert notices(session.tell(EventKind.ERROR, text="overloaded")) == ["5 errors in a row; the last: overloaded"]
