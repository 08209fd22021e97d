"""`laneway workflow patch --check` judges every line as a reader of the rules does."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from laneway.cli.workflow_check import check_lines
from laneway.lanes.workflow.finding import REASONS
from tests.lanes.workflow.patch_building import ONE, add, node, put
from tests.lanes.workflow.patch_lines import LINES

Line = tuple[str, Any, Any, str | None]
"""What it is about, the workflow, the operations, and the reason for which they are refused."""


def wrongly_judged(lines: Sequence[Line]) -> list[str]:
    """What is said of the lines that get another verdict than the expected one."""
    told = io.BytesIO()
    asked = [{"workflow": workflow, "operations": operations} for _, workflow, operations, _ in lines]
    check_lines(io.BytesIO("".join(json.dumps(line) + "\n" for line in asked).encode()), told)
    found = [json.loads(line) for line in told.getvalue().splitlines()]
    return [
        f"{about}: {one['reason']} and not {reason}: {one['message']}"
        for (about, _, _, reason), one in zip(lines, found, strict=True)
        if (one["verdict"], one["reason"]) != ("reject" if reason else "accept", reason)
        or (one["document"] is None) is not (reason is not None)
    ]


def _kept(name: str) -> list[Line]:
    told = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return [
        (one["why"], told["workflows"][one["workflow"]], one["operations"], one["reason"]) for one in told["patches"]
    ]


def test_every_line_gets_the_verdict_that_is_expected() -> None:
    wrong = wrongly_judged(LINES)
    assert not wrong, "\n".join(wrong)


def test_so_does_every_line_by_somebody_who_knew_only_the_rules() -> None:
    lines = _kept("stranger_patches.json")
    wrong = wrongly_judged(lines)
    assert len(lines) == 269
    assert not wrong, "\n".join(wrong)


def test_so_does_every_line_by_the_next_who_knew_only_the_rules() -> None:
    lines = _kept("stranger_patches_by_another.json")
    wrong = wrongly_judged(lines)
    assert len(lines) == 420
    assert not wrong, "\n".join(wrong)


def test_texts_and_lists_may_be_as_long_as_the_schema_says_and_no_longer() -> None:
    many = [put("/nodes", [node(f"n{number}", "wait") for number in range(501)])]
    wrong = wrongly_judged(
        [
            ("500 nodes", ONE, [put("/nodes", many[0]["value"][:500])], None),
            ("501 nodes", ONE, many, "schema"),
            ("a description of 8000 signs", ONE, [add("/metadata", {"description": "\U0001f642" * 8000})], None),
            ("a description of 8001 signs", ONE, [add("/metadata", {"description": "d" * 8001})], "schema"),
            ("a prompt of 20000", ONE, [add("/nodes/-", node("ask", "agent", {"prompt": "p" * 20_000}))], None),
        ]
    )
    assert not wrong, "\n".join(wrong)


def test_the_lines_show_every_reason_that_patches_are_refused_for() -> None:
    shown = {reason for *_, reason in LINES} - {None}
    assert shown >= {*REASONS} - {"unreachable", "join", "reference", "trigger"}
