"""Denied calls: one that runs all the same is found out, by the agent's log or by its hooks, and told once."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from laneway.domain.session import EventKind, SessionEvent
from laneway.observe.hooks.denied import DeniedCall, DeniedCalls
from laneway.observe.hooks.following import Following
from laneway.reactors.calls import key_of
from tests.observe.claude_logs import answer, user
from tests.observe.logs import Json, log

NOW = datetime(2026, 10, 1, 12, 0, tzinfo=UTC)
RM = {"command": "rm -rf /"}
REFUSED = "Denied by Laneway: It removes the root of the file system. (lose-root)"


def denied(provider: str = "claude-code", call_id: str = "t1", **more: Any) -> DeniedCall:
    return DeniedCall(provider, "s1", call_id, "Bash", key_of("Bash", RM), "lose-root", NOW, **more)


def ended(text: str, *, failed: bool, provider: str = "claude-code", call_id: str = "t1", **more: Any) -> SessionEvent:
    return SessionEvent("s1", provider, EventKind.TOOL_ENDED, NOW, text=text, failed=failed, call_id=call_id, **more)


def knowing(*calls: DeniedCall) -> DeniedCalls:
    known = DeniedCalls()
    for call in calls:
        known.add(call)
    return known


OUTCOMES = (
    ("claude-code", "", False, True),
    ("claude-code", "removed 41 files", False, True),
    ("claude-code", "Error: Exit code 1 rm: cannot remove '/proc/1': Permission denied", True, True),
    ("claude-code", REFUSED, True, False),
    ("claude-code", "PreToolUse:Bash hook error: no", True, False),
    ("claude-code", "The user doesn't want to proceed with this tool use.", True, False),
    ("claude-code", "Permission to use Bash has been denied.", True, False),
    # Its own output does not speak for it.
    ("claude-code", REFUSED, False, True),
    # Codex does not mark a refusal as a failure.
    ("codex", REFUSED, False, False),
    ("codex", "done", False, True),
)


def test_what_the_log_says_of_a_denied_call_tells_whether_it_ran() -> None:
    for provider, text, failed, ran in OUTCOMES:
        assert knowing(denied(provider)).ran_anyway(ended(text, failed=failed, provider=provider)) is ran, text


def test_a_call_is_alarmed_about_once_and_others_are_not_taken_for_it() -> None:
    known = knowing(denied())
    assert not known.ran_anyway(ended("ok", failed=False, call_id="t2"))
    assert not known.ran_anyway(ended("ok", failed=False, provider="codex"))
    assert not known.ran_anyway(SessionEvent("s2", "claude-code", EventKind.TOOL_ENDED, NOW, call_id="t1"))
    assert known.ran_anyway(ended("gone", failed=False))
    assert not known.ran_anyway(ended("gone", failed=False))
    assert len(known) == 0


def test_a_call_denied_without_an_id_is_found_by_its_arguments_until_it_is_denied_no_more() -> None:
    known = knowing(denied("gemini-cli", ""))
    called = SessionEvent("s1", "gemini-cli", EventKind.TOOL_CALLED, NOW, tool="Bash", arguments=RM, call_id="g7")
    assert not known.ran_anyway(called)
    assert known.ran_anyway(ended("gone", failed=False, provider="gemini-cli", call_id="g7"))
    known = knowing(denied("gemini-cli", ""))
    known.forgive(called)
    assert len(known) == 0


def called(call_id: str) -> Json:
    return answer(f"m{call_id}", [{"type": "tool_use", "id": call_id, "name": "Bash", "input": RM}], sessionId="s1")


def result(call_id: str, text: str, *, failed: bool) -> Json:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
    return user([block], sessionId="s1")


async def test_a_call_that_was_refused_raises_no_alarm_and_one_that_ran_in_a_sub_agents_own_log_does(
    tmp_path: Path,
) -> None:
    path, side = tmp_path / "s1.jsonl", tmp_path / "s1" / "subagents" / "agent-a7.jsonl"
    side.parent.mkdir(parents=True)
    filler = [user(f"{number} " + "x" * 20_000, sessionId="s1") for number in range(30)]
    path.write_bytes(log(*filler, called("t1"), result("t1", REFUSED, failed=True)))
    side.write_bytes(log(called("t2"), result("t2", "gone", failed=False)))
    refused, ran = denied(), denied(call_id="t2", sub_agent="a7")
    known = knowing(refused, ran)
    alarms: list[DeniedCall] = []
    watch = Following(known, alarms.append)
    for call in (refused, ran):
        watch.add(call, str(path), NOW)
    await watch.look(NOW)
    assert alarms == [ran]
    assert len(known) == 0


async def test_nothing_is_followed_for_ever_and_no_strange_file_is_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    alarms: list[DeniedCall] = []
    watch = Following(knowing(denied()), alarms.append)
    for path in (str(tmp_path / "pipe.jsonl"), "/dev/zero", "/nowhere/x.jsonl", "relative.jsonl", "/a\x00b.jsonl", ""):
        watch.add(denied(), path, NOW)
    async with asyncio.timeout(30):
        await watch.look(NOW)
    await watch.look(NOW + timedelta(minutes=11))
    assert alarms == []
    assert watch._logs == {}
