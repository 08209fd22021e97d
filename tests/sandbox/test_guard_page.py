"""The page about the guard says what the guard says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from laneway.sandbox.commands import judge, judge_tool
from laneway.sandbox.shell.bounds import DEEPEST, LONGEST, MOST_STEPS
from laneway.sandbox.shell.rules import RULES
from tests.sandbox.corpus import LAST, labelled, wrong

PAGE = (Path(__file__).parents[2] / "docs" / "guard.md").read_text(encoding="utf-8")


def test_every_rule_is_on_the_page_as_the_table_has_it() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    allowing = [row for row in rows if row[1] == "allow"]
    assert [name for name, _, _ in allowing] == ["reads", "ordinary", "read-outside"]
    assert [row for row in rows if row not in allowing] == [
        (name, decision.value, about) for name, (decision, about) in RULES.items()
    ]


def test_the_answers_on_the_page_are_the_guards() -> None:
    shown = [json.loads(line) for line in re.findall(r"^\{\"verdict\".*$", PAGE, re.MULTILINE)]
    told = [
        judge("rm -rf node_modules && npm ci"),
        judge("git push --force"),
        judge_tool("Read", {"file_path": "~/.ssh/id_rsa"}, "/home/me/app"),
    ]
    assert shown == [{"verdict": one.decision.value, "rule": one.rule, "why": one.why} for one in told]


def test_the_figures_of_the_last_batch_its_mistakes_and_the_bounds_are_on_the_page() -> None:
    dangerous, safe = labelled(LAST, "danger"), labelled(LAST, "safe")
    missed, alarms = wrong(LAST, "danger"), wrong(LAST, "safe")
    assert f"| {len(dangerous) + len(safe)} | {len(dangerous) - len(missed)} of {len(dangerous)}" in PAGE
    assert f"| {len(alarms)} of {len(safe)}" in PAGE
    for command in [*missed, *alarms]:
        assert f"`{command}`" in PAGE
    assert f"{LONGEST:,} characters, {MOST_STEPS:,} steps, {DEEPEST} levels" in PAGE
