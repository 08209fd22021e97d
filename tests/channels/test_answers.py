"""Which messages answer an open question, and which only look like it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from laneway.channels.answers import answered
from laneway.domain.conversation import Incoming, IncomingFile, Principal, Role
from laneway.domain.judgement import Approval, ApprovalState

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def asked() -> Approval:
    return Approval(
        uuid4(), uuid4(), uuid4(), {"tool": "bash"}, "hash", "why", ApprovalState.PENDING, NOW, None, None, NOW,
        may_answer=["owner"],
    )  # fmt: skip


def message(text: str, role: Role = Role.OWNER, **more: Any) -> Incoming:
    return Incoming("http", "main", "1", text, Principal(uuid4(), role, "somebody", NOW), **more)


@pytest.mark.parametrize("text", ["yes", " Yes! ", "ok", "go ahead", "JA", "👍"])
def test_a_bare_yes_is_a_yes(text: str) -> None:
    said = answered(asked(), message(text))
    assert said is not None
    assert said.state is ApprovalState.APPROVED
    assert not said.always


def test_always_is_a_yes_for_the_next_times_as_well() -> None:
    said = answered(asked(), message("always"))
    assert said is not None
    assert said.always


@pytest.mark.parametrize("text", ["no", "Nope.", "don't", "stop"])
def test_a_bare_no_is_a_no(text: str) -> None:
    said = answered(asked(), message(text))
    assert said is not None
    assert said.state is ApprovalState.REJECTED


@pytest.mark.parametrize(
    "incoming",
    [
        message("yes", Role.CUSTOMER),
        message("yes", Role.OPERATOR),
        message("yes", mode="CLASSIFY"),
        message("yes", mode="EXECUTE"),
        message("yes", mode="PLAN"),
        message("yes", lane="tools"),
        message("yes", meta={"forwarded": True}),
        message("yes", meta={"voice": True}),
        message("yes", files=(IncomingFile("a.txt", "text/plain", b"x"),)),
        message("yes, but first tell me what it does"),
        message("yesterday"),
    ],
)
def test_what_is_no_bare_answer_of_somebody_permitted_answers_nothing(incoming: Incoming) -> None:
    assert answered(asked(), incoming) is None
