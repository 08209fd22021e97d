"""Each check of the doctor: it names what is broken and how to mend it."""

from __future__ import annotations

import os
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

import pytest

from laneway.cli import checks
from laneway.clock import FakeClock
from laneway.domain.conversation import Principal, Role
from laneway.errors import Unavailable
from laneway.store.workers import Worker

NOW = FakeClock().now()


def owner() -> Principal:
    return Principal(uuid4(), Role.OWNER, "owner", NOW)


def worker(silent: float) -> Worker:
    return Worker("w-1", "here", 1, 0.0, "1", 16, NOW, NOW - timedelta(seconds=silent), None)


def test_an_old_python_is_named() -> None:
    found = checks.python_version((3, 10, 4))
    assert (found.state, found.says) == ("fail", "Python 3.10.4 is too old.")
    assert checks.python_version((3, 13, 0)).state == "ok"


def test_an_unknown_setting_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    found = checks.settings_right({"LANEWAY_HOME": str(tmp_path), "LANEWAY_WORKER": "3"})
    assert found.state == "fail"
    assert "LANEWAY_WORKER" in found.says
    assert "LANEWAY_WORKERS" in found.fix


def test_a_wrong_type_in_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("workers: many\n", encoding="utf-8")
    found = checks.settings_right({"LANEWAY_HOME": str(tmp_path)})
    assert found.state == "fail"
    assert "`workers`" in found.says


def test_a_home_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    assert checks.home_writable(tmp_path).state == "ok"
    # Root may write anywhere; what nobody can do is put a file into a file.
    blocked = tmp_path / "blocked"
    blocked.touch()
    found = checks.home_writable(blocked)
    assert found.state == "fail"
    assert str(blocked) in found.says


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    assert checks.disk_free(tmp_path / "not" / "yet", 1).state == "ok"
    found = checks.disk_free(tmp_path, 10**9)
    assert found.state == "fail"
    assert "MB are free" in found.says
    assert "LANEWAY_HOME" in found.fix


def test_a_key_file_others_can_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "key"
    assert checks.key_file(path).state == "warn"
    path.touch(mode=0o600)
    assert checks.key_file(path).state == "ok"
    path.chmod(0o644)
    found = checks.key_file(path)
    assert (found.state, found.fix) == ("fail", f"chmod 600 {path}")
    assert "0644" in found.says


def test_a_key_that_opens_nothing_is_named() -> None:
    assert checks.key_accepted("lw_good", owner()).state == "ok"
    assert checks.key_accepted(None, None).state == "warn"
    found = checks.key_accepted("lw_old", None)
    assert found.state == "fail"
    assert "--new-key" in found.fix
    assert "lw_old" not in found.says + found.fix


def test_a_port_somebody_else_has_is_named() -> None:
    assert checks.port_usable("127.0.0.1", 8600, "laneway").state == "ok"
    assert checks.port_usable("127.0.0.1", 8600, None).state == "warn"
    found = checks.port_usable("127.0.0.1", 8600, "somebody else")
    assert found.state == "fail"
    assert "127.0.0.1:8600" in found.says


def test_a_database_that_is_down_is_named() -> None:
    assert checks.database_reachable("postgresql://here", None).state == "ok"
    assert "not running" in checks.database_reachable(None, None).says
    found = checks.database_reachable("postgresql://here", Unavailable("It is down.", hint="Start it."))
    assert (found.state, found.says, found.fix) == ("fail", "It is down.", "Start it.")


@pytest.mark.parametrize(
    ("found", "state", "says"),
    [
        ("0002", "ok", "0002"),
        ("0001", "fail", "0002 is needed"),
        (None, "fail", "not there"),
        ("0003", "fail", "newer"),
    ],
)
def test_tables_of_another_version_are_named(found: str | None, state: str, says: str) -> None:
    finding = checks.tables_current(found, "0002")
    assert finding.state == state
    assert says in finding.says


def test_a_worker_that_fell_silent_is_named() -> None:
    assert checks.worker_beats([worker(1), worker(100)], NOW, 12).says == "1 alive, 16 jobs at once."
    silent = checks.worker_beats([worker(60)], NOW, 12)
    assert silent.state == "fail"
    assert "60 s old" in silent.says
    assert checks.worker_beats([], NOW, 12).state == "fail"


@pytest.mark.parametrize(
    ("seconds", "state", "says"), [(0, "ok", ""), (1.9, "ok", ""), (30, "warn", "ahead"), (-30, "warn", "behind")]
)
def test_a_wrong_clock_is_named(seconds: float, state: str, says: str) -> None:
    ours = NOW + timedelta(seconds=seconds)
    found = checks.clocks_agree(NOW, ours, ours)
    assert found.state == state
    assert says in found.says


def test_a_slow_answer_is_no_wrong_clock() -> None:
    asked, answered = NOW - timedelta(seconds=30), NOW + timedelta(seconds=30)
    assert checks.clocks_agree(NOW, asked, answered).state == "ok"
    assert checks.clocks_agree(NOW, NOW + timedelta(seconds=3), answered).state == "warn"
    assert checks.clocks_agree(NOW, asked, NOW - timedelta(seconds=3)).state == "warn"


@pytest.mark.parametrize(
    ("spent", "cap", "state"),
    [("0", 5.0, "ok"), ("4.6", 5.0, "warn"), ("5", 5.0, "fail"), ("99", None, "ok"), ("0", 0.0, "ok")],
)
def test_a_budget_that_is_used_up_is_named(spent: str, cap: float | None, state: str) -> None:
    assert checks.budget_left(Decimal(spent), cap).state == state


def test_a_key_the_provider_refuses_is_named() -> None:
    complaint = "gpt-4.1 did not accept our key (HTTP 401). Check OPENAI_API_KEY."
    assert checks.model_key("openai: gpt-4.1", complaint).says == complaint
    assert checks.model_key("openai: gpt-4.1", complaint).state == "fail"
    assert checks.quota(complaint).state == "ok"
    assert checks.model_key("offline (no model key set)", None).state == "ok"


@pytest.mark.parametrize(
    "complaint", ["gpt-4.1 asks us to slow down (HTTP 429).", "The account behind gpt-4.1 has no credit left."]
)
def test_a_used_up_quota_is_named_and_not_blamed_on_the_key(complaint: str) -> None:
    assert checks.model_key("openai: gpt-4.1", complaint).state == "ok"
    assert checks.quota(complaint).state == "fail"
    assert checks.quota(complaint).says == complaint


def test_all_encoders_and_the_shipped_weights_are_all_that_can_be_wished_for() -> None:
    found = checks.classification({"first": None, "second": None}, [], {"message": "shipped", "lane": "shipped"})
    assert (found.state, found.fix) == ("ok", "")
    assert found.says == "Encoders: first, second. The built-in weights are the shipped ones."


def test_weights_trained_here_are_right_and_those_still_to_be_trained_are_a_warning() -> None:
    found = checks.classification({"first": None}, [], {"message": "trained", "lane": "shipped"})
    assert found.state == "ok"
    assert "The weights of message were trained here." in found.says
    found = checks.classification({"first": None}, [], {"message": "shipped", "lane": "untrained"})
    assert found.state == "warn"
    assert "The weights of lane have to be trained." in found.says
    assert "`laneway up` trains" in found.fix


def test_a_missing_encoder_is_a_warning_that_names_what_still_works() -> None:
    found = checks.classification({"first": "It is gone.", "second": None}, ["first-package==1"], {"lane": "shipped"})
    assert (found.state, found.fix) == ("warn", "Install again: first-package==1.")
    assert "first cannot be used: It is gone." in found.says
    assert "works anyway, alone." in found.says


def test_every_failure_says_how_to_mend_it(tmp_path: Path) -> None:
    broken = [
        checks.python_version((3, 8)),
        checks.settings_right({"LANEWAY_HOME": str(tmp_path), "LANEWAY_X": "1"}),
        checks.disk_free(tmp_path, 10**9),
        checks.tables_current(None, "1"),
        checks.worker_beats([], NOW, 1),
        checks.budget_left(Decimal(1), 1),
        checks.model_key("", "no"),
    ]
    assert [found.check for found in broken if found.state != "fail" or not found.fix] == []
    assert os.sep in broken[2].says


def test_the_boundary_of_commands_is_named_with_what_was_wrong_with_stronger_ones() -> None:
    assert checks.sandbox("bubblewrap", None, False, {}).says == "Commands run behind bubblewrap."
    second = checks.sandbox("sandlock", None, False, {"bubblewrap": "It is not installed."})
    assert (second.state, second.says) == ("ok", "Commands run behind sandlock. bubblewrap: It is not installed.")
    weaker = checks.sandbox("landlock", None, True, {"sandlock": "It needs Landlock ABI 6; this kernel has 4."})
    assert (weaker.state, "ABI 6" in weaker.says) == ("warn", True)
    off = checks.sandbox("none", "Commands need a boundary that only Linux has; this is darwin.", True, {})
    assert off.state == "warn"
    assert off.says == "`bash` is off. Commands need a boundary that only Linux has; this is darwin."
