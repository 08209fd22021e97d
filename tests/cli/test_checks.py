"""Each check of the doctor: it names what is broken and how to mend it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from uuid import uuid4

from laneway.cli import checks
from laneway.cli.checks import Finding
from laneway.clock import FakeClock
from laneway.domain.conversation import Principal, Role
from laneway.errors import Unavailable
from laneway.store.workers import Worker

NOW = FakeClock().now()
Expected = tuple[Finding, str, str]
"""What was found, the state it must have, and a part of what is said or of how to mend it."""


def worker(silent: float) -> Worker:
    return Worker("w-1", "here", 1, 0.0, "1", 16, NOW, NOW - timedelta(seconds=silent), None)


def unlike(*table: Expected) -> list[str]:
    """The findings that are not as expected; every failure says how to mend it."""
    return [
        f"{found} should be {state} and say {part!r}"
        for found, state, part in table
        if (found.state, bool(found.fix) or state != "fail") != (state, True) or part not in f"{found.says} {found.fix}"
    ]


def test_what_is_wrong_with_this_machine_is_named(tmp_path: Path) -> None:
    unknown = {"LANEWAY_HOME": str(tmp_path), "LANEWAY_WORKER": "3"}
    table = [
        (checks.python_version((3, 10, 4)), "fail", "Python 3.10.4 is too old."),
        (checks.python_version((3, 13, 0)), "ok", ""),
        (checks.settings_right(unknown), "fail", "LANEWAY_WORKER"),
        (checks.settings_right(unknown), "fail", "LANEWAY_WORKERS"),
        (checks.home_writable(tmp_path), "ok", ""),
        (checks.disk_free(tmp_path / "not" / "yet", 1), "ok", ""),
        (checks.disk_free(tmp_path, 10**9), "fail", "MB are free"),
        (checks.disk_free(tmp_path, 10**9), "fail", "LANEWAY_HOME"),
        (checks.key_file(tmp_path / "key"), "warn", ""),
    ]
    (tmp_path / "config.yaml").write_text("workers: many\n", encoding="utf-8")
    table.append((checks.settings_right({"LANEWAY_HOME": str(tmp_path)}), "fail", "`workers`"))
    # Root may write anywhere; what nobody can do is put a file into a file.
    table.append((checks.home_writable(tmp_path / "config.yaml"), "fail", str(tmp_path / "config.yaml")))
    key = tmp_path / "key"
    key.touch(mode=0o600)
    table.append((checks.key_file(key), "ok", ""))
    key.chmod(0o644)
    table += [(checks.key_file(key), "fail", f"chmod 600 {key}"), (checks.key_file(key), "fail", "0644")]
    assert not (wrong := unlike(*table)), "\n".join(wrong)


def test_what_is_wrong_with_the_server_and_its_database_is_named() -> None:
    owner = Principal(uuid4(), Role.OWNER, "owner", NOW)
    down = checks.database_reachable("postgresql://here", Unavailable("It is down.", hint="Start it."))
    wrong = unlike(
        (checks.key_accepted("lw_good", owner), "ok", "owner"),
        (checks.key_accepted(None, None), "warn", ""),
        (checks.key_accepted("lw_old", None), "fail", "--new-key"),
        (checks.port_usable("127.0.0.1", 8600, "laneway"), "ok", ""),
        (checks.port_usable("127.0.0.1", 8600, None), "warn", "not running"),
        (checks.port_usable("127.0.0.1", 8600, "somebody else"), "fail", "127.0.0.1:8600"),
        (checks.database_reachable("postgresql://here", None), "ok", ""),
        (checks.database_reachable(None, None), "warn", "not running"),
        (down, "fail", "It is down. Start it."),
        (checks.tables_current("0002", "0002"), "ok", "0002"),
        (checks.tables_current("0001", "0002"), "fail", "0002 is needed"),
        (checks.tables_current(None, "0002"), "fail", "not there"),
        (checks.tables_current("0003", "0002"), "fail", "newer"),
        (checks.worker_beats([worker(1), worker(100)], NOW, 12), "ok", "1 alive, 16 jobs at once."),
        (checks.worker_beats([worker(60)], NOW, 12), "fail", "60 s old"),
        (checks.worker_beats([], NOW, 12), "fail", ""),
    )
    assert not wrong, "\n".join(wrong)
    assert "lw_old" not in str(checks.key_accepted("lw_old", None))


def test_a_wrong_clock_is_named_and_a_slow_answer_is_none() -> None:
    for asked, answered, state, says in (
        (1.9, 1.9, "ok", ""), (30, 30, "warn", "ahead"), (-30, -30, "warn", "behind"), (-30, 30, "ok", ""),
        (3, 30, "warn", ""), (-30, -3, "warn", ""),
    ):  # fmt: skip
        found = checks.clocks_agree(NOW, NOW + timedelta(seconds=asked), NOW + timedelta(seconds=answered))
        assert (found.state, says in found.says) == (state, True), (asked, answered)


def test_a_used_up_budget_or_quota_is_named_and_not_blamed_on_the_key() -> None:
    refused = "gpt-4.1 did not accept our key (HTTP 401). Check OPENAI_API_KEY."
    slow, poor = "gpt-4.1 asks us to slow down (HTTP 429).", "The account behind gpt-4.1 has no credit left."
    wrong = unlike(
        (checks.budget_left(Decimal(0), 5.0), "ok", ""),
        (checks.budget_left(Decimal("4.6"), 5.0), "warn", ""),
        (checks.budget_left(Decimal(5), 5.0), "fail", ""),
        (checks.budget_left(Decimal(99), None), "ok", ""),
        (checks.budget_left(Decimal(0), 0.0), "ok", ""),
        (checks.model_key("offline (no model key set)", None), "ok", ""),
        (checks.model_key("openai: gpt-4.1", refused), "fail", refused),
        (checks.quota(refused), "ok", ""),
        *[(checks.model_key("openai: gpt-4.1", complaint), "ok", "") for complaint in (slow, poor)],
        *[(checks.quota(complaint), "fail", complaint) for complaint in (slow, poor)],
    )
    assert not wrong, "\n".join(wrong)


def test_what_judges_messages_here_is_told_and_what_still_works_without_it() -> None:
    both = {"first": None, "second": None}
    lane = {"lane": "shipped"}
    gone = checks.classification({"first": "It is gone.", "second": None}, ["first-package==1"], lane)
    trained = checks.classification({"first": None}, [], {"message": "trained", **lane})
    untrained = checks.classification({"first": None}, [], {"message": "shipped", "lane": "untrained"})
    shipped = "Encoders: first, second. The built-in weights are the shipped ones."
    wrong = unlike(
        (checks.classification(both, [], {"message": "shipped", **lane}), "ok", shipped),
        (trained, "ok", "The weights of message were trained here."),
        (untrained, "warn", "The weights of lane have to be trained."),
        (untrained, "warn", "`laneway up` trains"),
        (gone, "warn", "first cannot be used: It is gone."),
        (gone, "warn", "works anyway, alone."),
        (gone, "warn", "Install again: first-package==1."),
    )
    assert not wrong, "\n".join(wrong)


def test_the_boundary_of_commands_is_named_with_what_was_wrong_with_stronger_ones() -> None:
    only_linux = "Commands need a boundary that only Linux has; this is darwin."
    missing, old = {"bubblewrap": "It is not installed."}, {"sandlock": "It needs Landlock ABI 6; this kernel has 4."}
    wrong = unlike(
        (checks.sandbox("bubblewrap", None, False, {}), "ok", "Commands run behind bubblewrap."),
        (checks.sandbox("sandlock", None, False, missing), "ok", "behind sandlock. bubblewrap: It is not installed."),
        (checks.sandbox("landlock", None, True, old), "warn", "ABI 6"),
        (checks.sandbox("none", only_linux, True, {}), "warn", f"`bash` is off. {only_linux}"),
    )
    assert not wrong, "\n".join(wrong)
