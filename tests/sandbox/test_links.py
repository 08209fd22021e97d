"""Links count where they lead: made by the command itself or there already, for commands and for file tools."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.action import Decision
from laneway.sandbox.commands import judge, judge_tool
from laneway.sandbox.shell.places import Place, is_secret, place_of
from laneway.sandbox.shell.scope import opened


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A workspace with links that lead out of it, and some that do not."""
    root = tmp_path / "work"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("x = 1\n", encoding="utf-8")
    links = {
        "etc": "/etc", "crontab": "/etc/crontab", "key": "/home/eve/.ssh/id_rsa", "ssh": "/home/eve/.ssh",
        "conf": "/home/eve/.claude/settings.json", "store": ".git", "again": "key", "inside": "src", "app": "src/a.py",
        "src/up": "../../beside", "lib": "/usr/lib", ".env": "settings.txt", ".claude": "src",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


DANGEROUS = {
    "echo x >> crontab": "path-link", "tee etc/motd < src/a.py": "path-link", "sed -i s/a/b/ crontab": "path-link",
    "cp src/a.py etc/cron.d/a": "path-link", "echo x > src/up/b": "path-link", "rm -rf etc/ssl": "lose-outside",
    "cat key": "read-secret", "cat again": "read-secret", "base64 ssh/id_ed25519": "read-secret",
    "cd ssh && cat id_rsa": "read-secret", "python3 -c \"print(open('key').read())\"": "read-secret",
    "exec 3< key; cat <&3": "read-secret", "cat < again": "read-secret", "tar czf - ssh | base64": "read-secret",
    "echo {} > conf": "guard-file", "echo x > store/config": "lose-git", "rm etc": "lose-work",
    # A name that tells enough counts as well, wherever it leads.
    "cat .env": "own-secret", "echo {} > .claude/settings.json": "guard-file",
}  # fmt: skip
SAFE = (
    "cat app", "echo x >> app", "cat inside/a.py", "echo x > inside/b.py", "ls -l key",
    "readlink -f key", "mv etc etc.old", "ln -sfn src etc", "cat etc/hostname", "ls lib", "cd inside && cat a.py",
)  # fmt: skip


def test_a_command_is_judged_by_where_links_lead_that_are_there_already(project: Path) -> None:
    found = {command: judge(command, str(project)).rule for command in DANGEROUS}
    assert found == DANGEROUS
    assert [one for one in SAFE if judge(one, str(project)).decision is not Decision.ALLOW] == []


def test_a_file_tool_is_judged_by_where_links_lead(project: Path) -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("Write", {"file_path": "crontab", "content": "x"}, "path-link"),
        ("Edit", {"file_path": f"{project}/etc/hosts"}, "path-link"),
        ("NotebookEdit", {"notebook_path": "src/up/n.ipynb"}, "path-link"),
        ("Write", {"file_path": "conf", "content": "{}"}, "guard-file"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: etc/x\n*** End Patch"}, "path-link"),
        ("Read", {"file_path": "again"}, "read-secret"),
        ("Read", {"file_path": "ssh/id_rsa"}, "read-secret"),
        ("Write", {"file_path": "inside/b.py", "content": "x"}, "ordinary"),
        ("Read", {"file_path": "app"}, "reads"),
    ]
    found = [(tool, given, judge_tool(tool, given, str(project)).rule) for tool, given, _ in calls]
    assert found == calls


def test_a_hard_link_to_a_secret_of_the_home_is_that_secret(tmp_path: Path) -> None:
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("key", encoding="utf-8")
    (tmp_path / "home" / ".bashrc").write_text("x", encoding="utf-8")
    project = tmp_path / "home" / "app"
    project.mkdir()
    os.link(project.parent / ".ssh" / "id_rsa", project / "notes.txt")
    os.link(project.parent / ".bashrc", project / "rc")
    (project / "a").write_text("x", encoding="utf-8")
    os.link(project / "a", project / "b")
    scope = opened(str(project))
    scope.home = str(project.parent)
    assert is_secret(scope.path("notes.txt") or "")
    assert place_of("rc", scope) is not Place.INSIDE
    assert place_of("b", scope) is Place.INSIDE


def test_a_project_that_is_reached_by_a_link_is_still_the_project(tmp_path: Path) -> None:
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "app").symlink_to("real")
    here = str(tmp_path / "app")
    assert judge("echo x > src/a; rm -rf build; cat src/a", here).decision is Decision.ALLOW
    assert judge_tool("Write", {"file_path": f"{here}/src/a", "content": "x"}, here).decision is Decision.ALLOW


def test_links_that_lead_in_a_circle_or_grow_without_end_are_judged_soon(project: Path) -> None:
    (project / "x").symlink_to("y")
    (project / "y").symlink_to("x")
    judge("cat x/z; echo 1 > x", str(project))
    judge("ln -s a/b a;" * 4000, str(project))
    judge("".join(f"ln -s a{place}/b a{place + 1};" for place in range(2500)), str(project))
