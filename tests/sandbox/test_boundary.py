"""Which boundary is chosen, and what a command finds behind each."""

from __future__ import annotations

import asyncio
import os
from itertools import takewhile
from pathlib import Path

import pytest

from laneway.domain.action import Decision
from laneway.sandbox.boundary import Choice, choose
from laneway.sandbox.commands import judge
from laneway.sandbox.contract import Boundary, BoundaryBroken, Grant, Killed, Limits
from tests.sandboxing import NAMES, SMALL, boundary_called, limited, python, tried


async def working() -> list[str]:
    """The boundaries that work on this machine, the strongest first."""
    return [name for name in NAMES if (await choose(name)).boundary.off is None]


async def test_the_strongest_one_that_works_is_taken() -> None:
    taken = (await working() or ["none"])[0]
    choice = await choose()
    assert choice.boundary.name == taken
    assert choice.boundary.weaker is (taken not in ("bubblewrap", "sandlock"))
    assert list(choice.passed_over) == list(takewhile(lambda name: name != taken, NAMES))


async def test_without_bubblewrap_the_next_one_is_taken_and_the_reason_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    choice = await choose()
    assert choice.boundary.name == (await working() or ["none"])[0] != "bubblewrap"
    assert choice.passed_over["bubblewrap"] == "It is not installed."


async def test_a_bubblewrap_that_does_not_work_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    choice = await choose()
    assert choice.boundary.name == (await working() or ["none"])[0] != "bubblewrap"
    assert "No permissions to create new namespace" in choice.passed_over["bubblewrap"]


async def test_one_that_lets_everything_through_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # It starts what it is told to, and puts nothing around it.
    broken = tmp_path / "bwrap"
    broken.write_text('#!/bin/bash\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"\n')
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    choice = await choose("bubblewrap")
    assert choice.boundary.off is not None
    assert choice.boundary.name == "none"


async def test_switched_off_nothing_runs_and_it_says_why(tmp_path: Path) -> None:
    off = (await choose("off")).boundary
    assert off.off == "Running commands is switched off (LANEWAY_SANDBOX=off)."
    with pytest.raises(BoundaryBroken, match="switched off"):
        await off.run("true", workspace=tmp_path, limits=Limits())


async def test_elsewhere_than_on_linux_nothing_runs_and_it_says_why() -> None:
    choice: Choice = await choose(platform="darwin")
    assert choice.boundary.off == "Commands need a boundary that only Linux has; this is darwin."


async def test_only_the_weakest_is_called_weaker(boundary: Boundary) -> None:
    assert boundary.weaker is (boundary.name == "landlock")


async def test_a_command_works_in_its_workspace_and_its_files_stay(boundary: Boundary, workspace: Path) -> None:
    (workspace / "from-us").write_text("given")
    (workspace / "folder").mkdir()
    ran = await tried(boundary, workspace, "cat from-us; echo more >> from-us; echo new > folder/new; pwd; exit 3")
    assert (ran.exit_code, ran.stdout) == (3, f"given{boundary.inside(workspace)}\n")
    assert (ran.boundary, ran.killed_because) == (boundary.name, None)
    assert (workspace / "from-us").read_text() == "givenmore\n"
    assert (workspace / "folder" / "new").read_text() == "new\n"


async def test_a_command_finds_the_usual_programs_and_a_clean_environment(
    boundary: Boundary, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    ran = await tried(boundary, workspace, "env | cut -d= -f1 | sort | tr '\\n' ' '; whoami; uptime | grep -c up")
    names = set(ran.stdout.split("\n")[0].split()[:-1])
    assert {"HOME", "LANG", "PATH", "TERM"} <= names
    assert names <= {"HOME", "LANG", "PATH", "TERM", "PWD", "SHLVL", "_", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "OLDPWD"}
    assert ran.stdout.endswith("\n1\n")
    busy = "git init -q . && git add -A && echo ok; f=$(mktemp) && echo x > $f && cat $f; cat <(echo substituted)"
    ran = await tried(boundary, workspace, busy)
    assert ran.stdout == "ok\nx\nsubstituted\n", ran.stderr


async def test_the_guard_takes_the_folder_a_command_begins_in_for_its_workspace(
    boundary: Boundary, workspace: Path
) -> None:
    folder = boundary.inside(workspace)
    assert judge("echo new > made; mv made kept", folder).decision is Decision.ALLOW
    assert judge(f"echo new > {folder}/made", folder).decision is Decision.ALLOW
    assert judge("echo new > /srv/made", folder).decision is Decision.ASK


async def test_two_threads_do_not_see_one_another(boundary: Boundary, workspace: Path) -> None:
    other = workspace.parent / "other"
    other.mkdir()
    (other / "note").write_text("theirs")
    ran = await tried(boundary, workspace, f"cat {other}/note ../other/note; echo x > {other}/note; ls {other}")
    assert "theirs" not in ran.stdout
    assert (other / "note").read_text() == "theirs"


@pytest.mark.alone
async def test_a_command_that_takes_too_long_is_ended(boundary: Boundary, workspace: Path) -> None:
    ran = await tried(boundary, workspace, "echo begun; sleep 60", limited(2))
    assert (ran.killed_because, ran.exit_code, ran.stdout) == (Killed.TIMEOUT, None, "begun\n")
    assert 2 <= ran.seconds < 5


@pytest.mark.alone
async def test_a_command_may_tidy_up_when_it_is_told_to_end(boundary: Boundary, workspace: Path) -> None:
    ran = await tried(boundary, workspace, "trap 'echo tidied > note; exit' TERM; sleep 60 & wait", limited(2))
    assert ran.killed_because is Killed.TIMEOUT
    assert (workspace / "note").read_text() == "tidied\n"


async def test_a_full_workspace_can_be_tidied(boundary: Boundary, workspace: Path) -> None:
    (workspace / "big").write_bytes(b"x" * (SMALL.disk_bytes + 1000))
    ran = await tried(boundary, workspace, "sleep 0.8; rm big; echo gone")
    assert (ran.exit_code, ran.stdout) == (0, "gone\n")


async def test_ten_commands_at_once_do_not_disturb_one_another(boundary: Boundary, tmp_path: Path) -> None:
    async def one(number: int) -> str:
        folder = tmp_path / f"w{number}"
        folder.mkdir()
        return (await tried(boundary, folder, f"echo {number} > f; sleep 0.2; cat f")).stdout

    assert await asyncio.gather(*map(one, range(10))) == [f"{number}\n" for number in range(10)]


async def test_signals_and_exit_codes_are_those_of_a_shell(boundary: Boundary, workspace: Path) -> None:
    assert (await tried(boundary, workspace, "kill -9 $$")).exit_code == 137
    assert (await tried(boundary, workspace, "no-such-program")).exit_code == 127
    assert (await tried(boundary, workspace, python("import sys; sys.exit(42)"))).exit_code == 42


async def test_without_a_grant_there_is_no_proxy(boundary: Boundary, workspace: Path) -> None:
    assert (await tried(boundary, workspace, "env | grep -ic proxy")).stdout == "0\n"


async def test_hosts_that_cannot_be_granted_are_refused_in_a_sentence(workspace: Path) -> None:
    boundary = await boundary_called("landlock")
    with pytest.raises(BoundaryBroken, match="no host can be reached"):
        await boundary.run("true", workspace=workspace, limits=SMALL, grant=Grant(frozenset({"example.org"})))
