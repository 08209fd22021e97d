"""What people read: times in their zone, money, durations, tables that nothing inside can break."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from laneway.cli.home import address_of_up, only_up
from laneway.cli.log_lines import JsonLines, ScreenLines, SharedLog, TextLines
from laneway.cli.printing import between, lasting, money, one_line, plain, print_table
from laneway.errors import Conflict


def test_money_durations_and_cells_are_said_as_people_say_them() -> None:
    amounts = {0: "$0.00", None: "$0.00", 0.00012: "$0.0001", "1.5": "$1.5000", 12.345: "$12.35"}
    assert {amount: money(amount) for amount in amounts} == amounts
    durations = {None: "", 0: "0 ms", 999: "999 ms", 1500: "1.5 s", 65_000: "1 min 5 s", 7_260_000: "2 h 1 min"}
    assert {milliseconds: lasting(milliseconds) for milliseconds in durations} == durations
    assert between("2026-01-01T00:00:00Z", "2026-01-01T00:00:02.5Z") == "2.5 s"
    assert between("2026-01-01T00:00:00Z", None) == ""
    assert one_line("a\n b\t c") == "a b c"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"


def test_a_table_shows_brackets_and_drops_what_commands_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [("[red]x[/red]", "\x1b[2Jy"), (None, 3)], empty="nothing")
    printed = capsys.readouterr().out
    assert "[red]x[/red]" in printed
    assert "\x1b" not in printed
    assert plain("a\x07b\x9bc\nd") == "abc\nd"
    print_table(("A",), [], empty="There is nothing.")
    assert capsys.readouterr().out == "There is nothing.\n"


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("laneway.test", logging.INFO, "", 0, text, (), None)


def test_log_lines_hold_no_secret_in_either_form() -> None:
    line = TextLines().format(record("password=hush came"))
    assert "hush" not in line
    assert line.endswith("came")
    shown = json.loads(JsonLines().format(record("token: hush")))
    assert "hush" not in shown["message"]
    assert shown["level"] == "info"
    assert shown["time"].endswith("Z")


def test_a_record_is_one_line_and_commands_no_terminal() -> None:
    hostile = "GET /a\n2026-11-01T00:00:00.000Z INFO laneway: all is well\r\x1b[2J\x07\x9b\u2028\u202egpj.exe\0"
    told = record(hostile)
    try:
        raise ValueError(hostile)
    except ValueError:
        told.exc_info = sys.exc_info()
    for form in (TextLines(), JsonLines(), ScreenLines()):
        written = form.format(told)
        assert [sign for sign in written if not (sign.isprintable() or sign == "\n")] == []
        assert [line[:4] for line in written.splitlines()[1:] if not line.startswith("    ")] == []
        assert "\\u001b[2J" in written
    assert json.loads(JsonLines().format(told))["message"] == hostile


def test_a_log_two_processes_share_is_moved_away_for_both(tmp_path: Path) -> None:
    path = tmp_path / "laneway.log"
    ours, theirs = SharedLog(path, largest=1000, kept=2), SharedLog(path, largest=1000, kept=2)
    for number in range(60):
        (ours if number % 2 else theirs).emit(record(f"line {number:04} " + "x" * 40))
    ours.close()
    theirs.close()
    kept = sorted(file.name for file in tmp_path.iterdir())
    assert kept == ["laneway.log", "laneway.log.1", "laneway.log.2"]
    assert all(file.stat().st_size < 1200 for file in tmp_path.iterdir())
    assert path.read_text(encoding="utf-8").splitlines()[-1].startswith("line 0059")
    assert path.stat().st_mode & 0o077 == 0


def test_a_home_belongs_to_one_up_whose_address_is_told_as_long_as_it_lives(tmp_path: Path) -> None:
    assert address_of_up(tmp_path) is None
    with only_up(tmp_path, "http://127.0.0.1:1"):
        assert address_of_up(tmp_path) == "http://127.0.0.1:1"
        with pytest.raises(Conflict, match=f"process {os.getpid()}, http://127.0.0.1:1"), only_up(tmp_path, "other"):
            pass
    assert address_of_up(tmp_path) is None
    ended = subprocess.Popen(["true"])
    ended.wait()
    for note in (json.dumps({"pid": ended.pid, "address": "http://gone"}), "{ broken"):
        (tmp_path / "up.lock").write_text(note, encoding="utf-8")
        assert address_of_up(tmp_path) is None
