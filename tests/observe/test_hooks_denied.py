"""Denied calls: one that runs all the same is found out, by the agent's log or by its hooks, and told once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from laneway.domain.session import EventKind, SessionEvent
from laneway.observe.hooks.denied import MOST, DeniedCall, DeniedCalls
from laneway.observe.hooks.following import Following
from laneway.reactors.calls import key_of

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


@pytest.mark.parametrize(
    ("text", "failed", "ran"),
    [
        ("", False, True),
        ("removed 41 files", False, True),
        ("Error: Exit code 1 rm: cannot remove '/proc/1': Permission denied", True, True),
        (REFUSED, True, False),
        ("PreToolUse:Bash hook error: no", True, False),
        ("The user doesn't want to proceed with this tool use.", True, False),
        ("Permission to use Bash has been denied.", True, False),
        # Its own output does not speak for it.
        (REFUSED, False, True),
    ],
)
def test_what_the_log_says_of_a_denied_call_tells_whether_it_ran(text: str, failed: bool, ran: bool) -> None:
    assert knowing(denied()).ran_anyway(ended(text, failed=failed)) is ran


def test_codex_does_not_mark_a_refusal_as_a_failure() -> None:
    assert not knowing(denied("codex")).ran_anyway(ended(REFUSED, failed=False, provider="codex"))
    assert knowing(denied("codex")).ran_anyway(ended("done", failed=False, provider="codex"))


def test_a_call_is_alarmed_about_once() -> None:
    known = knowing(denied())
    assert known.ran_anyway(ended("gone", failed=False))
    assert not known.ran_anyway(ended("gone", failed=False))
    assert len(known) == 0


def test_other_calls_and_other_sessions_are_not_taken_for_it() -> None:
    known = knowing(denied())
    assert not known.ran_anyway(ended("ok", failed=False, call_id="t2"))
    assert not known.ran_anyway(ended("ok", failed=False, provider="codex"))
    assert not known.ran_anyway(SessionEvent("s2", "claude-code", EventKind.TOOL_ENDED, NOW, call_id="t1"))
    assert len(known) == 1


def test_a_call_denied_without_an_id_is_found_by_its_arguments() -> None:
    known = knowing(denied("gemini-cli", ""))
    called = SessionEvent("s1", "gemini-cli", EventKind.TOOL_CALLED, NOW, tool="Bash", arguments=RM, call_id="g7")
    assert not known.ran_anyway(called)
    assert known.ran_anyway(ended("gone", failed=False, provider="gemini-cli", call_id="g7"))


def test_a_call_that_is_denied_no_more_may_run() -> None:
    known = knowing(denied("gemini-cli", ""))
    called = SessionEvent("s1", "gemini-cli", EventKind.TOOL_CALLED, NOW, tool="Bash", arguments=RM)
    known.forgive(called)
    assert len(known) == 0


def test_only_the_newest_thousand_are_remembered() -> None:
    known = knowing(*(denied(call_id=f"t{number}") for number in range(MOST + 5)))
    assert len(known) == MOST
    assert not known.ran_anyway(ended("ok", failed=False, call_id="t0"))
    assert known.ran_anyway(ended("ok", failed=False, call_id=f"t{MOST}"))


class Log:
    """A log as Claude Code writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, role: str, blocks: Sequence[dict[str, Any]]) -> None:
        record = {
            "type": role, "sessionId": "s1", "uuid": f"u{self.size()}", "timestamp": NOW.isoformat(),
            "cwd": "/p", "isSidechain": False, "message": {"role": role, "id": f"m{self.size()}", "content": blocks},
        }  # fmt: skip
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def calls(self, call_id: str) -> None:
        self.write("assistant", [{"type": "tool_use", "id": call_id, "name": "Bash", "input": RM}])

    def ends(self, call_id: str, text: str, *, failed: bool) -> None:
        result = {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}
        self.write("user", [result])


def following(known: DeniedCalls) -> tuple[Following, list[DeniedCall]]:
    alarms: list[DeniedCall] = []
    return Following(known, alarms.append, every=0.02), alarms


async def test_the_log_is_followed_until_it_tells_that_the_call_ran(tmp_path: Path) -> None:
    log = Log(tmp_path / "projects" / "s1.jsonl")
    for number in range(3000):
        log.write("user", [{"type": "text", "text": f"{number} " + "x" * 200}])
    log.calls("t1")
    known = knowing(denied())
    watch, alarms = following(known)
    watch.add(denied(), str(log.path), NOW)
    task = asyncio.create_task(watch.keep_following(lambda: NOW))
    await asyncio.sleep(0.2)
    assert alarms == []
    log.ends("t1", "removed everything", failed=False)
    async with asyncio.timeout(30):
        while not alarms:
            await asyncio.sleep(0.02)
    task.cancel()
    assert [call.call_id for call in alarms] == ["t1"]


async def test_a_call_that_was_refused_raises_no_alarm_and_ends_the_watch(tmp_path: Path) -> None:
    log = Log(tmp_path / "s1.jsonl")
    log.calls("t1")
    log.ends("t1", REFUSED, failed=True)
    known = knowing(denied())
    watch, alarms = following(known)
    watch.add(denied(), str(log.path), NOW)
    await watch.look(NOW)
    assert alarms == []
    assert len(known) == 0


async def test_a_sub_agents_own_log_is_followed_too(tmp_path: Path) -> None:
    Log(tmp_path / "s1.jsonl").calls("t9")
    log = Log(tmp_path / "s1" / "subagents" / "agent-a7.jsonl")
    log.calls("t1")
    log.ends("t1", "gone", failed=False)
    call = denied(sub_agent="a7")
    watch, alarms = following(knowing(call))
    watch.add(call, str(tmp_path / "s1.jsonl"), NOW)
    await watch.look(NOW)
    assert alarms == [call]


async def test_nothing_is_followed_for_ever_and_no_strange_file_is_opened(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.jsonl")
    known = knowing(denied())
    watch, alarms = following(known)
    for path in (str(tmp_path / "pipe.jsonl"), "/dev/zero", "/nowhere/x.jsonl", "relative.jsonl", "/a\x00b.jsonl", ""):
        watch.add(denied(), path, NOW)
    async with asyncio.timeout(30):
        await watch.look(NOW)
    await watch.look(NOW + timedelta(minutes=11))
    assert alarms == []
    assert watch._logs == {}
