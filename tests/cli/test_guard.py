"""`laneway guard`: one command, or lines of them; no server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.processes import COMMAND, Shell
from tests.cli.test_classify import lines


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path / "home"), "LANEWAY_URL": "http://127.0.0.1:9"})


def test_one_command_is_answered_by_a_line_and_an_exit_code(shell: Shell) -> None:
    (answer,) = lines(shell.run("guard", "ls -la"))
    assert answer == {"verdict": "allow", "rule": "reads", "why": "It only reads."}
    (answer,) = lines(shell.run("guard", "rm -rf src", code=1))
    assert answer == {"verdict": "ask", "rule": "lose-work", "why": "It removes src, which no build brings back."}
    (answer,) = lines(shell.run("guard", "dd if=/dev/zero of=/dev/sda", code=2))
    assert (answer["verdict"], answer["rule"]) == ("deny", "disk-device")


def test_the_folder_can_be_told_and_several_lines_are_read_from_standard_input(shell: Shell) -> None:
    for arguments, typed, verdict in (
        (("--cwd", "/home/dev/shop", "rm -rf /home/dev/shop/dist"), "", "allow"),
        (("--cwd", "/home/dev/x", "rm -rf /home/dev/shop/dist"), "", "ask"),
        ((), "cd /tmp/x\nrm -rf ~/work\n", "ask"),
        ((), "cat > a <<'E'\nrm -rf /\nE\n", "allow"),
        ((), "", "ask"),
    ):
        (answer,) = lines(shell.run("guard", *arguments, typed=typed, code=0 if verdict == "allow" else 1))
        assert answer["verdict"] == verdict, (arguments, typed)


def test_every_json_line_is_answered_in_order_and_a_malformed_one_stops_nothing(shell: Shell) -> None:
    asked = [
        '{"command": "git status", "cwd": "/home/dev/shop"}',
        "this is not JSON",
        '{"tool": "Write", "input": {"file_path": "/etc/hosts", "content": ""}, "cwd": "/home/dev/shop"}',
        '{"neither": 1}', "[1, 2]", '{"command": 3}', '{"tool": "Bash"}', '{"command": "ls", "cwd": 4}', "",
        '{"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}',
        '{"command": "echo \\ud800"}',
        '{"command": "cat ~/.ssh/id_rsa"',
        json.dumps({"command": "x " * 600_000}),
        '{"command": "ls"}',
    ]  # fmt: skip
    answers = lines(shell.run("guard", typed="\n".join(asked) + "\n"))
    assert [(answer["verdict"], answer["rule"]) for answer in answers] == [
        ("allow", "reads"), ("ask", "malformed"), ("ask", "system-files"), ("ask", "malformed"), ("ask", "malformed"),
        ("ask", "malformed"), ("ask", "unknown-tool"), ("ask", "malformed"), ("ask", "lose-outside"),
        ("allow", "reads"), ("ask", "malformed"), ("ask", "too-long"), ("allow", "reads"),
    ]  # fmt: skip
    assert all(set(answer) == {"verdict", "rule", "why"} for answer in answers)
    answers = lines(shell.run("guard", typed='nonsense\n{"command": "ls"}\n'))
    assert [answer["rule"] for answer in answers] == ["malformed", "reads"], "not one command of two lines"


def test_a_way_out_of_the_repository_is_asked_about_and_none_within_it(shell: Shell, tmp_path: Path) -> None:
    home = tmp_path / "people" / "me"
    repository, plain = home / "repo", home / "notes" / "a"
    for folder in (home / ".git", repository / ".git", repository / "apps" / "web", plain):
        folder.mkdir(parents=True)
    shell.environ["HOME"] = str(home)
    app, told = str(repository / "apps" / "web"), {}
    for call, cwd, rule in (
        ({"tool": "Read", "input": {"file_path": "../../etc/passwd"}}, "/tmp/x", "path-climbs"),
        ({"tool": "Glob", "input": {"pattern": "../../**"}}, "/tmp/x", "path-climbs"),
        ({"command": "cat ../../../etc/passwd"}, "/tmp/x", "path-climbs"),
        ({"command": "cat ../../../etc/passwd"}, None, "path-climbs"),
        ({"tool": "Read", "input": {"file_path": "../../README.md"}}, app, "reads"),
        ({"command": "cat ../../README.md"}, app, "reads"),
        ({"command": "make -C ../lib"}, app, "ordinary"),
        ({"command": "cat ../../../README.md"}, app, "path-climbs"),
        ({"command": "make -C ../../../lib"}, app, "path-climbs"),
        # A home is nobody's project, even where it is a repository.
        ({"command": "cat ../README.md"}, str(plain), "path-climbs"),
        ({"tool": "Read", "input": {"file_path": "../b"}}, str(plain), "path-climbs"),
        ({"tool": "Read", "input": {"file_path": "/etc/hosts"}}, app, "read-outside"),
    ):  # fmt: skip
        told[json.dumps(call | ({"cwd": cwd} if cwd else {}))] = rule
    answers = lines(shell.run("guard", typed="\n".join(told) + "\n"))
    wrong = [(call, one) for (call, rule), one in zip(told.items(), answers, strict=True) if one["rule"] != rule]
    assert wrong == []
    shell.run("guard", "--cwd", "/tmp/x", "cat ../../../etc/passwd", code=1)


def test_each_line_is_answered_before_the_next_is_sent(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "guard"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        for command, expected in (("ls", "allow"), ("rm -rf /", "deny"), ("git push -f", "ask")):
            process.stdin.write(json.dumps({"command": command}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == expected
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_rules_and_reactors_of_the_data_directory_count_and_broken_ones_are_named(shell: Shell) -> None:
    folder = Path(shell.environ["LANEWAY_HOME"]) / "reactors"
    folder.mkdir(parents=True, mode=0o700)
    rules = '[[rule]]\nname = "hands off"\npattern = "prod"\ndo = "kill"\nmessage = "Not there"\n'
    files = {"a.toml": rules + RELEASES, "b.toml": "[[rule]]", "c.py": REFUSING}
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o600)
    ended = shell.ended("guard", "echo prod", code=2)
    assert json.loads(ended.stdout) == {"verdict": "deny", "rule": "hands off", "why": "Not there: Bash echo prod"}
    assert "No reactors from" in ended.stderr
    assert "b.toml" in ended.stderr
    told = shell.ended("guard", "echo release")
    assert (json.loads(told.stdout)["rule"], "releases: The rule releases applies" in told.stderr) == ("reads", True)
    asked = [
        {"command": "rm -rf / # prod"}, {"tool": "mcp__db__query", "input": {"sql": "x", "path": "a"}},
        {"tool": "Read", "input": {"file_path": "a.txt"}}, {"tool": "Write", "input": {"file_path": "prod.txt"}},
    ]  # fmt: skip
    answers = lines(shell.run("guard", typed="\n".join(map(json.dumps, asked))))
    assert [one["rule"] for one in answers] == ["lose-root", "no databases", "reads", "hands off"]


RELEASES = '[[rule]]\nname = "releases"\npattern = "release"\ndo = "notify"\n'
REFUSING = """
from laneway.reactors import Continue, Intervene, Severity
class Refusing:
    name = "no databases"
    def handle(self, ctx):
        return Intervene("Ask me.", Severity.KILL) if ctx.event.tool.startswith("mcp__db") else Continue()
reactors = Refusing
"""
