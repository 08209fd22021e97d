"""What a result says, whatever the lane has told of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import laneway.app  # noqa: F401  everything that raises an error of ours
from laneway.channels.redis_queue.acting import UnknownOwner
from laneway.channels.redis_queue.results import NOT_APPROVED, failed, failed_of, metadata, signal
from laneway.domain.judgement import ApprovalState
from laneway.errors import LanewayError, LeaseLost, failure
from laneway.lanes.workflow.finding import REASONS

NO = {"type": "malformed", "message": "No.", "retryable": False}


@pytest.mark.parametrize(
    ("meta", "not_approved", "kind"),
    [
        ({}, None, None),
        ({"failed": failure("timeout", "Late.")}, None, "timeout"),
        ({"failed": failure("bad-input", "No.")}, ApprovalState.REJECTED, "bad-input"),
        ({}, ApprovalState.REJECTED, "rejected"),
        ({}, ApprovalState.EXPIRED, "expired"),
        ({}, ApprovalState.SUPERSEDED, "superseded"),
        ({"result_ref": "artifact://x"}, ApprovalState.REJECTED, None),
        ({"result_preview": {"kind": "text"}}, ApprovalState.EXPIRED, None),
        ({"stopped": "step limit"}, None, "step-limit"),
    ],
)
def test_a_lanes_own_word_counts_and_else_how_the_last_question_ended(
    meta: dict[str, Any], not_approved: ApprovalState | None, kind: str | None
) -> None:
    found = failed_of(meta, "words", not_approved)
    assert (found and found["type"]) == kind


def test_every_type_of_an_error_stands_in_the_page_about_redis() -> None:
    page = (Path(__file__).parents[3] / "docs" / "redis.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")
        for line in page.partition("| `type` |")[2].split("\n\n")[0].splitlines()
        if line.startswith("| `")
    ]
    told = {name: row[3].strip() for row in rows for name in re.findall(r"`([a-z-]+)`", row[1])}
    stopped = {"step-limit", "not-approved"}
    refused = {"malformed", "unsupported-version", UnknownOwner.code}
    checks = {*REASONS, "incomplete", "no-change", "no-such-model"}
    # A run that lost its lease ends as cancelled, or goes on elsewhere.
    codes = {kind.code for kind in _kinds(LanewayError)} - {LeaseLost.code}
    can_be = codes | checks | stopped | refused | {str(state) for state in NOT_APPROVED}
    assert set(told) == can_be
    assert told == {code: "yes" if failure(code, "")["retryable"] else "no" for code in can_be}


def _kinds(kind: type[LanewayError]) -> Iterator[type[LanewayError]]:
    """The error and all of its kinds in the whole program."""
    yield kind
    for below in kind.__subclasses__():
        if below.__module__.startswith("laneway."):
            yield from _kinds(below)


def test_only_what_may_pass_by_itself_is_worth_trying_again() -> None:
    again = {code: failure(code, "")["retryable"] for code in ("timeout", "model-transient", "rejected", "internal")}
    assert again == {"timeout": True, "model-transient": True, "rejected": False, "internal": False}


def test_what_a_lane_does_not_tell_is_filled_in() -> None:
    told = metadata(None, {"tool_calls": ["bash"], "tokens_input": 3, "tokens_output": 4, "model": "m"})
    assert told == {
        "tool_calls": ["bash"], "tokens_used": 7, "cache_hit": False, "cache_kind": None, "execution_time_ms": 0,
        "llm_model": "m",
    }  # fmt: skip
    assert metadata(None, {"metadata": {"cache_hit": True, "cache_kind": "plan"}})["cache_kind"] == "plan"


def test_a_signal_of_a_failure_has_no_reference_and_says_why() -> None:
    told = signal(failed("j", NO, None, {}), {"run_id": "r", "node_id": "n"}, None)
    assert (told["run_id"], told["node_id"], told["status"], told["result_ref"]) == ("r", "n", "failed", "")
    assert told["metadata"]["error_type"] == "malformed"
    assert told["metadata"]["error_message"] == "No."
    assert told["metadata"]["retryable"] is False
