"""The tool `bash`: what it returns, when it asks, whose words it brings, and host mode."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from laneway.domain.action import Decision, Verdict, allow, ask, deny
from laneway.lanes.tools.bash import bash_entry, source
from laneway.lanes.tools.entry import Call, ToolEntry
from laneway.sandbox.boundary import Wanted, choose
from laneway.sandbox.commands import judge
from tests.sandboxing import SMALL, WALLS, boundary_called, none_alive_with, open_folder


def guard(command: str, workspace: str, home: str) -> Verdict:
    """A guard for these tests: `rm` asks, `mkfs` is denied, `cat` reads, everything else changes something."""
    program = command.split()[0]
    if program == "mkfs":
        return deny("filesystem", "It would make a file system.")
    if program == "rm":
        return ask("removes", "It removes files.")
    return allow("fine", changes=program != "cat")


async def entry_of(name: Wanted = "auto", longest: int = 600) -> ToolEntry:
    boundary = (await choose("off")).boundary if name == "off" else await boundary_called(name)
    return bash_entry(boundary, guard, SMALL, longest)


async def run(entry: ToolEntry, call: Call, command: str, **more: Any) -> dict[str, Any]:
    return dict(await entry.function(call, command=command, **more))


async def test_the_outcome_has_the_shape_of_all_tools_and_names_the_boundary(call: Call) -> None:
    entry = await entry_of()
    outcome = await run(entry, call, "echo out; echo err >&2; mkdir -p a/b && echo kept > a/b/c")
    assert outcome["result"].pop("seconds") > 0
    assert outcome == {
        "status": "success", "stdout": "out\n", "stderr": "err\n", "exit_code": 0, "error": None,
        "result": {"killed_because": None, "left_out": 0}, "boundary": (await boundary_called("auto")).name,
    }  # fmt: skip
    outcome = await run(entry, call, "cat c; exit 4", cwd="a/b")
    assert (outcome["status"], outcome["exit_code"], outcome["stdout"]) == ("error", 4, "kept\n")
    assert outcome["error"] == "It ended with exit code 4."


async def test_what_cannot_be_run_is_refused_in_a_sentence(call: Call) -> None:
    (call.workspace / "way").symlink_to("/etc")
    entry = await entry_of()
    for cwd in ("/etc", "..", "a/../../x", "way"):
        assert "not a folder of the workspace" in (await run(entry, call, "pwd", cwd=cwd))["error"]
    for command in ("", "  \n", "echo \0", "echo " + "x" * 200_000):
        assert (await run(entry, call, command))["error"].startswith("The command was not run. ")
        assert verdict(entry, call, command=command)[0] is Decision.DENY


async def test_time_is_up_when_the_call_said_so_and_never_later_than_the_cap(call: Call) -> None:
    outcome = await run(await entry_of(longest=1), call, "sleep 60", timeout=500)
    assert (outcome["error"], outcome["result"]["killed_because"]) == ("It was ended after 1 s.", "timeout")
    outcome = await run(await entry_of(), call, "sleep 60", timeout=1)
    assert outcome["error"] == "It was ended after 1 s. Ask for more time with `timeout`, at most 600 s."


def verdict(entry: ToolEntry, call: Call, **arguments: Any) -> tuple[Decision, str]:
    found = entry.judge(arguments, call)
    assert found is not None
    return found.decision, found.rule


@pytest.mark.usefixtures("strong")
async def test_the_guard_judges_what_runs_in_the_sandbox_and_hosts_are_asked_for(call: Call) -> None:
    entry = await entry_of()
    assert verdict(entry, call, command="cat x") == (Decision.ALLOW, "fine")
    assert verdict(entry, call, command="rm x") == (Decision.ASK, "removes")
    assert verdict(entry, call, command="mkfs x") == (Decision.DENY, "filesystem")
    assert verdict(entry, call, command="cat x", hosts=["pypi.org"]) == (Decision.ASK, "hosts")
    asked = entry.judge({"command": "rm x", "hosts": ["pypi.org", "files.example:8443"]}, call)
    assert asked is not None
    assert asked.why == "It removes files. It may reach pypi.org, files.example:8443 over the network."
    assert verdict(entry, call, command="cat x", hosts=["not a host"]) == (Decision.DENY, "unusable")


@pytest.mark.parametrize(("name", "namespaces"), WALLS)
async def test_the_guard_and_the_sandbox_mean_the_same_workspace(call: Call, name: Wanted, namespaces: bool) -> None:
    boundary = await boundary_called(name, namespaces=namespaces)
    with open_folder() as folder:
        call = replace(call, workspace=folder)
        (folder / "sub").mkdir(mode=0o777)
        entry, own, wrong = bash_entry(boundary, judge, SMALL), boundary.inside(folder), []

        def asks(command: str, cwd: str | None) -> bool:
            found = entry.judge({"command": command, "cwd": cwd}, call)
            return found is not None and found.why.startswith("It writes")

        for place, cwd in (
            ("made", None), ("~/made", None), ("$HOME/made", None), (f"{own}/made", None), ("sub/../made", None),
            ("../made", "sub"), ("~/made", "sub"), (".bashrc", None), ("~/.bashrc", None),
        ):  # fmt: skip
            command = f"echo mine > {place}"
            asked, _ = asks(command, cwd), await run(entry, call, command, cwd=cwd)
            made = [path for path in folder.iterdir() if path.is_file()]
            wrong += [f"{place} in {cwd}: asked {asked}, made {made}"] if asked or len(made) != 1 else []
            for path in made:
                path.unlink()
        for place, cwd in (("~/../../srv/made", None), ("../../../srv/made", "sub"), ("/srv/made", None)):
            wrong += [] if asks(f"echo mine > {place}", cwd) else [f"{place} in {cwd}: not asked"]
        assert wrong == []


async def test_a_weaker_boundary_asks_every_time_and_cannot_reach_hosts(call: Call) -> None:
    entry = await entry_of("landlock")
    assert verdict(entry, call, command="cat x") == (Decision.ASK, "weaker-boundary")
    assert verdict(entry, call, command="rm x") == (Decision.ASK, "weaker-boundary")
    assert verdict(entry, call, command="mkfs x") == (Decision.DENY, "filesystem")
    outcome = await run(entry, call, "true", hosts=["pypi.org"])
    assert "Hosts cannot be granted: behind landlock" in outcome["error"]


async def test_without_a_boundary_bash_is_off_and_says_why(call: Call) -> None:
    entry = await entry_of("off")
    assert verdict(entry, call, command="cat x") == (Decision.DENY, "no-boundary")
    outcome = await run(entry, call, "echo x > proof")
    assert outcome["error"] == "The command was not run. Running commands is switched off (LANEWAY_SANDBOX=off)."
    assert not (call.workspace / "proof").exists()


@pytest.fixture
def host_call(call: Call) -> Call:
    return replace(call, request=replace(call.request, host_mode=True))


async def test_in_host_mode_reading_runs_and_everything_else_asks(host_call: Call) -> None:
    for name in ("auto", "off"):
        entry = await entry_of(name)
        assert verdict(entry, host_call, command="cat /etc/hostname") == (Decision.ALLOW, "fine")
        assert verdict(entry, host_call, command="touch x") == (Decision.ASK, "host-mode")
        assert verdict(entry, host_call, command="rm x") == (Decision.ASK, "host-mode")
        assert verdict(entry, host_call, command="mkfs x") == (Decision.DENY, "filesystem")


async def test_in_host_mode_a_command_runs_on_the_machine_itself(
    host_call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    outside = tmp_path / "outside"
    outside.mkdir()
    entry = await entry_of()
    outcome = await run(entry, host_call, f"pwd; id -u; env; echo x > {outside}/made")
    assert outcome["boundary"] == "host"
    assert outcome["stdout"].split()[:2] == [str(host_call.workspace.resolve()), str(os.getuid())]
    assert "sk-secret" not in outcome["stdout"]
    assert (outside / "made").read_text() == "x\n"
    assert (await run(entry, host_call, "pwd", cwd="/usr"))["stdout"] == "/usr\n"


async def test_in_host_mode_nothing_outlives_its_command_either(host_call: Call) -> None:
    marker = f"sleep 5{uuid4().int % 10**8}"
    left = (
        f"(setsid bash -c \"trap '' TERM; {marker}; true\" &) ; nohup {marker} >/dev/null 2>&1 & sleep 0.1; echo done"
    )
    assert (await run(await entry_of(), host_call, left))["stdout"] == "done\n"
    assert await none_alive_with(marker, 20)
    outcome = await run(await entry_of(), host_call, f"trap '' TERM; {marker}", timeout=1)
    assert outcome["result"]["killed_because"] == "timeout"
    assert await none_alive_with(marker, 20)


def test_the_systems_own_word_and_no_word_taint_nothing() -> None:
    for command in (
        "uptime", "uptime -p", "date", "date -u +%F", "date '+%H:%M on %A'", "df -h", "free -m", "nproc", "uname -a",
        "whoami", "pwd", "hostname", "echo hello there", "uname -a && uptime", "date; df -h",
    ):  # fmt: skip
        assert source({"command": command}, {"stdout": "something", "stderr": ""}) is None, command
    assert source({"command": "cat x"}, {"stdout": "", "stderr": ""}) is None


def test_what_others_wrote_taints_the_turn() -> None:
    for command in (
        "cat x", "uptime; cat x", "echo $(cat x)", "echo `cat x`", "echo *", "date +$(<x)", "date -f x", "sort x",
        "df -h | tee x", "uname -a < x", "echo a\ncat x", "hostname -F x", "echo ${x}", "free -m; ls",
        "python3 -c 'print(1)'",
    ):  # fmt: skip
        found = source({"command": command}, {"stdout": "something", "stderr": ""})
        assert found is not None, command
        assert found.startswith("the output of `")
        assert "\n" not in found
    assert source({"command": "cat " + "x" * 500}, {"stdout": "y"}) == f"the output of `cat {'x' * 73}…`"
