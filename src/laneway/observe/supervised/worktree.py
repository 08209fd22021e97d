"""What changed in the work tree during a run, as git sees it, without running anything the work tree asks for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SECONDS, _LINES, _LETTERS = 10.0, 200, 20_000
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree with nothing in it, which every repository knows."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from the commit the run began at; None of it is known outside a work tree."""

    base: str
    stat: list[str] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    cut: bool = False
    """There is more than is listed."""


def commit_of(folder: Path) -> str | None:
    """The commit that is checked out, the empty tree before the first one; None outside a git work tree."""
    if _git(folder, "rev-parse", "--is-inside-work-tree").strip() != "true":
        return None
    return _git(folder, "rev-parse", "--verify", "--quiet", "HEAD").strip() or _EMPTY


def changes(folder: Path, base: str | None) -> Changes | None:
    """What is different now; None if there was no work tree when the run began."""
    top = _git(folder, "rev-parse", "--show-toplevel").rstrip("\n")
    if base is None or not top:
        return None
    harmless = _harmless(folder)
    stat = _git(Path(top), "diff", "--stat=120", "--no-ext-diff", "--no-textconv", "--no-color",
                "--ignore-submodules=all", base, "--", settings=harmless)  # fmt: skip
    others = _git(Path(top), "ls-files", "--others", "--exclude-standard", settings=harmless)
    (shown, more), (new, newer) = _bounded(stat), _bounded(others)
    # The last line has the totals.
    return Changes(base, [*shown, *stat.splitlines()[-1:]] if more else shown, new, more or newer)


def _harmless(folder: Path) -> dict[str, str]:
    """Settings that keep git from running programs: an agent can write any into the work tree's configuration."""
    names = set(_git(folder, "config", "--list", "--name-only", "-z").split("\0"))
    programs = {name for name in names if name.endswith((".clean", ".smudge", ".process", ".textconv", ".command"))}
    required = {name for name in names if name.startswith("filter.") and name.endswith(".required")}
    always = {"core.fsmonitor": "false", "core.hooksPath": os.devnull, "core.untrackedCache": "false"}
    return always | dict.fromkeys(programs, "") | dict.fromkeys(required, "false")


def _numbered(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings as git reads them from its environment, where a name may hold any letter."""
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(sorted(settings.items())):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return told


def _git(folder: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C", "GIT_PAGER": "cat"}
    environ |= _numbered(settings or {})
    try:
        ran = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ran.stdout.decode("utf-8", "replace") if ran.returncode == 0 else ""


def _bounded(text: str) -> tuple[list[str], bool]:
    lines = text[:_LETTERS].splitlines()[:_LINES]
    return lines, len(lines) < len(text.splitlines())
