"""The owner's own reactors: from files and from entry points; what is wrong is recorded and left out."""

from __future__ import annotations

import itertools
import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from laneway.reactors import Failed
from laneway.reactors.loading import GROUP, load
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from tests.reactors.watched import Watched, warnings

CODE = """
from laneway.reactors import Continue, Warn
class Counter:
    name, seen = "counter", 0
    def handle(self, ctx):
        self.seen += 1
        return Warn(f"event {self.seen}") if self.seen == 2 else Continue()
def reactors():
    return [Counter()]
"""
RULE = '[[rule]]\nname = "curl"\npattern = "curl"\n'


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("_", ".")
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
    return folder


def test_files_bring_reactors_and_each_session_gets_new_ones(tmp_path: Path) -> None:
    own = load(written(tmp_path / "r", mine_py=CODE, rules_toml=RULE), ())
    assert own.faults == ()
    first, second = own.make(), own.make()
    assert [one.name for one in first] == ["counter", "curl"]
    assert first[0] is not second[0]
    session = Watched(*shipped(Options(own=own)))
    assert warnings(session.call("Bash", {"command": "curl https://example.org"})) == [
        "event 2",
        "The rule curl applies: Bash curl https://example.org",
    ]


def test_an_entry_point_brings_reactors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "somebodys_reactors.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("counter", "somebodys_reactors:Counter", GROUP)
    own = load(tmp_path / "none", (point, EntryPoint("gone", "not_there:x", GROUP)))
    assert [one.name for one in own.make()] == ["counter"]
    assert own.faults == (Failed("entry point gone", "ModuleNotFoundError: No module named 'not_there'"),)


BROKEN = {
    "def reactors(:": "SyntaxError",
    "1 / 0": "ZeroDivisionError: division by zero",
    "x = 1": "broken.py: reactors is no function.",
    "raise SystemExit(3)": "SystemExit: 3",
}


def test_a_file_that_cannot_be_loaded_is_recorded_and_the_others_are_there(tmp_path: Path) -> None:
    for text, fault in BROKEN.items():
        own = load(written(tmp_path / "r", broken_py=text, mine_py=CODE, rules_toml="[[rule]]\nname = 1"), ())
        assert [one.name for one in own.make()] == ["counter"]
        assert [Path(one.reactor).name for one in own.faults] == ["broken.py", "rules.toml"]
        assert own.faults[0].error.startswith(fault)


def test_what_others_may_write_to_or_own_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "r", mine_py=CODE, rules_toml=RULE)
    for mode, name in itertools.product((0o620, 0o602), ("mine.py", "rules.toml")):
        path = folder / name
        path.chmod(mode)
        own = load(folder, ())
        assert len(own.make()) == 1
        assert own.faults == (Failed(str(path), f"Others may write to {path}. chmod go-w {path}"),)
        path.chmod(0o600)
    if os.geteuid() == 0:  # Only root can give a file away.
        os.chown(folder / "mine.py", 12345, 12345)
        assert "belongs to somebody else" in load(folder, ()).faults[0].error
    folder.chmod(0o777)
    assert load(folder, ()).makers == ()
    assert len(load(folder, ()).faults) == 2
