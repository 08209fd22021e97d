"""Which boundary is chosen, and what a command finds behind each."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from laneway.sandbox.boundary import choose
from laneway.sandbox.contract import Boundary, BoundaryBroken, Grant, Killed, Limits
from tests.sandboxing import NAMES, SMALL, boundary_called, limited, tried
from tests.skips import missing


async def working() -> list[str]:
    """The boundaries that work on this machine, the strongest first."""
    return [name for name in NAMES if (await choose(name)).boundary.off is None]


async def test_the_strongest_one_that_works_is_taken() -> None:
    taken = (await working() or ["none"])[0]
    choice = await choose()
    assert choice.boundary.name == taken
    assert choice.boundary.weaker is (taken not in ("bubblewrap", "sandlock"))
    passed_over = [name for name in choice.passed_over if name != "namespaces"]
    assert passed_over == list(takewhile(lambda name: name != taken, NAMES))


async def test_where_namespaces_are_refused_the_filters_hold_alone_and_it_is_said() -> None:
    if os.geteuid() != 0:
        missing("the right to give up rights", "sudo make test")
    code = (
        "import asyncio; from laneway.sandbox.boundary import choose; found = asyncio.run(choose('landlock')); "
        "print(found.boundary.off, found.boundary.namespaces, found.passed_over)"
    )
    command = ["setpriv", "--bounding-set=-sys_admin", sys.executable, "-c", code]
    ran = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("None False {'namespaces': "), ran.stdout + ran.stderr
    assert "unshare: Operation not permitted" in ran.stdout


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("", "It is not installed."),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create new namespace"),
        # It starts what it is told to, and puts nothing around it.
        ('while [ "$1" != "--" ]; do shift; done; shift; exec "$@"', ""),
    ],
)
async def test_a_bubblewrap_that_does_not_work_or_lets_everything_through_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, why: str
) -> None:
    if program:
        (tmp_path / "bwrap").write_text(f"#!/bin/bash\n{program}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}" if program else str(tmp_path))
    choice = await choose()
    assert choice.boundary.name == (await working() or ["none"])[0] != "bubblewrap"
    assert why in choice.passed_over["bubblewrap"]


async def test_switched_off_or_elsewhere_than_on_linux_nothing_runs_and_it_says_why(tmp_path: Path) -> None:
    off = (await choose("off")).boundary
    assert off.off == "Running commands is switched off (LANEWAY_SANDBOX=off)."
    with pytest.raises(BoundaryBroken, match="switched off"):
        await off.run("true", workspace=tmp_path, limits=Limits())
    elsewhere = (await choose(platform="darwin")).boundary
    assert elsewhere.off == "Commands need a boundary that only Linux has; this is darwin."


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
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    busy = "git init -q . && git add -A && echo ok; f=$(mktemp) && echo x > $f && cat $f; cat <(echo substituted)"
    ran = await tried(boundary, workspace, f"echo $(env | cut -d= -f1); {busy}; whoami; uptime | grep -c up")
    names, _, told = ran.stdout.partition("\n")
    assert {"HOME", "LANG", "PATH", "TERM"} <= set(names.split())
    assert set(names.split()) <= {
        "HOME", "LANG", "PATH", "TERM", "PWD", "SHLVL", "_", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "OLDPWD",
    }  # fmt: skip
    assert told.startswith("ok\nx\nsubstituted\n"), ran.stderr
    assert told.endswith("\n1\n")


async def test_two_threads_do_not_see_one_another(boundary: Boundary, workspace: Path) -> None:
    other = workspace.parent / "other"
    other.mkdir()
    (other / "note").write_text("theirs")
    ran = await tried(boundary, workspace, f"cat {other}/note ../other/note; echo x > {other}/note; ls {other}")
    assert "theirs" not in ran.stdout
    assert (other / "note").read_text() == "theirs"


async def test_a_command_that_takes_too_long_is_ended_and_may_tidy_up(boundary: Boundary, workspace: Path) -> None:
    command = "trap 'echo tidied > note; exit' TERM; echo begun; sleep 60 & wait"
    ran = await tried(boundary, workspace, command, limited(1.5))
    assert (ran.killed_because, ran.exit_code, ran.stdout) == (Killed.TIMEOUT, None, "begun\n")
    assert (workspace / "note").read_text() == "tidied\n"


async def test_a_full_workspace_can_be_tidied(boundary: Boundary, workspace: Path) -> None:
    (workspace / "big").write_bytes(b"x" * (SMALL.disk_bytes + 1000))
    ran = await tried(boundary, workspace, "sleep 0.8; rm big; echo gone")
    assert (ran.exit_code, ran.stdout) == (0, "gone\n")


async def test_ten_commands_at_once_do_not_disturb_one_another(boundary: Boundary, tmp_path: Path) -> None:
    async def one(number: int) -> str:
        folder = tmp_path / f"w{number}"
        folder.mkdir()
        return (await tried(boundary, folder, f"echo {number} > f; sleep 0.1; cat f")).stdout

    assert await asyncio.gather(*map(one, range(10))) == [f"{number}\n" for number in range(10)]


async def test_signals_and_exit_codes_are_those_of_a_shell(boundary: Boundary, workspace: Path) -> None:
    for command, code in (("kill -9 $$", 137), ("no-such-program", 127), ("exit 42", 42)):
        assert (await tried(boundary, workspace, command)).exit_code == code


async def test_hosts_that_cannot_be_granted_are_refused_in_a_sentence(workspace: Path) -> None:
    boundary = await boundary_called("landlock")
    with pytest.raises(BoundaryBroken, match="no host can be reached"):
        await boundary.run("true", workspace=workspace, limits=SMALL, grant=Grant(frozenset({"example.org"})))
