"""The owner's own reactors: from files and from entry points; what is wrong is recorded and left out."""

from __future__ import annotations

import os
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from laneway.domain.session import EventKind, SessionState
from laneway.reactors import Chain, Failed
from laneway.reactors.loading import GROUP, load
from laneway.reactors.options import Options
from laneway.reactors.shipped import shipped
from tests.reactors.watched import Watched, told, warnings

CODE = """
from laneway.reactors import Continue, Warn

class Counter:
    name = "counter"

    def __init__(self):
        self.seen = 0

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


def test_no_folder_means_no_reactors_of_ones_own(tmp_path: Path) -> None:
    assert load(tmp_path / "none", ()).make() == []


def test_an_entry_point_brings_reactors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "somebodys_reactors.py").write_text(CODE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("counter", "somebodys_reactors:Counter", GROUP)
    own = load(tmp_path / "none", (point, EntryPoint("gone", "not_there:x", GROUP)))
    assert [one.name for one in own.make()] == ["counter"]
    assert own.faults == (Failed("entry point gone", "ModuleNotFoundError: No module named 'not_there'"),)


@pytest.mark.parametrize(("text", "fault"), [
    ("def reactors(:", "SyntaxError"), ("1 / 0", "ZeroDivisionError: division by zero"),
    ("x = 1", "broken.py: reactors is no function."), ("raise SystemExit(3)", "SystemExit: 3"),
])  # fmt: skip
def test_a_file_that_cannot_be_loaded_is_recorded_and_the_others_are_there(
    tmp_path: Path, text: str, fault: str
) -> None:
    folder = written(tmp_path / "r", broken_py=text, mine_py=CODE, rules_toml="[[rule]]\nname = 1")
    own = load(folder, ())
    assert [one.name for one in own.make()] == ["counter"]
    assert [Path(one.reactor).name for one in own.faults] == ["broken.py", "rules.toml"]
    assert own.faults[0].error.startswith(fault)


def test_a_reactor_that_cannot_be_made_is_recorded_and_the_session_is_watched_without_it(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "r", a_py="def reactors():\n    raise ValueError('no')", b_py="def reactors():\n    return ['x']"
    )
    failed: list[Failed] = []
    reactors = shipped(Options(own=load(folder, ())), failed.append)
    assert len(reactors) == len(shipped())
    assert [one.error for one in failed] == ["ValueError: no", "TypeError: str has no name and handle(ctx)."]


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
@pytest.mark.parametrize("name", ["mine_py", "rules_toml"])
def test_a_file_that_others_may_write_to_is_refused(tmp_path: Path, mode: int, name: str) -> None:
    folder = written(tmp_path / "r", **{name: CODE if name == "mine_py" else RULE})
    path = folder / name.replace("_", ".")
    path.chmod(mode)
    own = load(folder, ())
    assert own.make() == []
    assert own.faults == (Failed(str(path), f"Others may write to {path}. chmod go-w {path}"),)


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "r", mine_py=CODE)
    folder.chmod(0o777)
    assert load(folder, ()).makers == ()
    assert len(load(folder, ()).faults) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "r", mine_py=CODE)
    os.chown(folder / "mine.py", 12345, 12345)
    assert "belongs to somebody else" in load(folder, ()).faults[0].error


def test_a_reactor_of_ones_own_that_breaks_later_harms_nobody(tmp_path: Path) -> None:
    broken = CODE.replace("self.seen += 1", "raise SystemExit")
    failed: list[Failed] = []
    own = load(written(tmp_path / "r", b_py=broken), ())
    chain = Chain(SessionState("s", "codex"), shipped(Options(own=own)), failed.append)
    chain.handle(told(EventKind.USER, text="hi"))
    assert [one.reactor for one in failed] == ["counter"]
