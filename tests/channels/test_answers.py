"""Which messages answer an open question, and which only look like it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from laneway.channels.answers import Said, answered
from laneway.domain.conversation import Incoming, IncomingFile, Principal, Role
from laneway.domain.judgement import Approval, ApprovalState

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ASKED = Approval(
    uuid4(), uuid4(), uuid4(), {"tool": "bash"}, "hash", "why", ApprovalState.PENDING, NOW, None, None, NOW,
    may_answer=["owner"],
)  # fmt: skip
YES, NO = Said(ApprovalState.APPROVED), Said(ApprovalState.REJECTED)


def answer(text: str, role: Role = Role.OWNER, **more: Any) -> Said | None:
    return answered(ASKED, Incoming("http", "main", "1", text, Principal(uuid4(), role, "somebody", NOW), **more))


def test_a_bare_word_is_an_answer_and_more_than_that_is_none() -> None:
    cases = {
        **dict.fromkeys(["yes", " Yes! ", "ok", "go ahead", "JA", "👍"], YES),
        "always": Said(ApprovalState.APPROVED, always=True),
        **dict.fromkeys(["no", "Nope.", "don't", "stop"], NO),
        **dict.fromkeys(["yes, but first tell me what it does", "yesterday"]),
    }
    wrong = [f"{text!r}: {answer(text)}" for text, expected in cases.items() if answer(text) != expected]
    assert not wrong, "\n".join(wrong)


def test_a_yes_of_somebody_else_or_in_another_form_answers_nothing() -> None:
    others: list[dict[str, Any]] = [
        *({"role": role} for role in (Role.CUSTOMER, Role.OPERATOR)),
        *({"mode": mode} for mode in ("CLASSIFY", "EXECUTE", "PLAN")),
        {"lane": "tools"},
        *({"meta": {mark: True}} for mark in ("forwarded", "voice")),
        {"files": (IncomingFile("a.txt", "text/plain", b"x"),)},
    ]
    wrong = [str(more) for more in others if answer("yes", **more) is not None]
    assert not wrong, "\n".join(wrong)
