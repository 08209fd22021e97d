"""Watched sessions are kept: each event once, without secrets, after the agent's file is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.observe.recording import Recording
from laneway.observe.tail import Tail
from laneway.store import sessions
from laneway.store.database import Database
from tests.observe.claude_logs import answer, result, use, used, user
from tests.observe.logs import log

KEY = "sk-ant-" + "z1x2c3v4" * 5
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LOG = log(user(f"the password is hunter2, and {KEY}", cwd="/w"), answer("m", [use("t")], used(3, 4)), result("t", True))


async def recorded(db: Database, path: Path) -> tuple[Recording, Tail, list[SessionEvent]]:
    """The log was read and its events kept."""
    tail = Tail(path)
    recording, events = Recording(db, tail), tail.read()
    await recording.keep(events)
    return recording, tail, events


async def test_what_is_kept_is_kept_once_and_adds_up_to_the_same_state(db: Database, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LOG)
    _, _, events = await recorded(db, path)
    again = Tail(path)
    assert not await Recording(db, again).keep(again.read()), "read a second time, nothing is new"
    async with db.transaction() as tx:
        [kept] = await sessions.page(tx)
        stored = [event for _, event in await sessions.events_of(tx, kept)]
    assert [event.kind.value for event in stored] == ["started", "user", "tool_called", "tokens", "tool_ended"]
    assert (kept.session_id, kept.source, kept.read_to) == ("s", str(path), len(LOG))
    lived, replayed = SessionState("s", "claude-code"), SessionState("s", "claude-code")
    for event in events:
        lived = lived.after(event)
    for event in stored:
        replayed = replayed.after(event)
    assert replayed == lived
    assert kept.state["tokens"]["input"] == lived.tokens.input == 3
    assert (kept.state["errors"], kept.state["turns"]) == (1, 1)


async def test_no_secret_is_written_down(db: Database) -> None:
    event = SessionEvent(
        "s", "claude-code", EventKind.TOOL_CALLED, NOON, text=f"Bearer {KEY}", tool="Bash",
        arguments={"command": f"export TOKEN={KEY}", "password": "hunter2", "deep": [{"api_key": "abc"}], "nul": "\0"},
    )  # fmt: skip
    async with db.transaction() as tx:
        kept = await sessions.opened(tx, "claude-code", "s", "/x")
        await sessions.keep(tx, kept, [event])
        cursor = await tx.execute("SELECT body::text FROM session_events")
        [(body,)] = await cursor.fetchall()
    assert KEY not in body
    assert "hunter2" not in body
    assert '"abc"' not in body
    assert "export TOKEN" in body


async def test_a_log_that_was_replaced_is_another_life_and_the_old_one_stays(db: Database, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(LOG)
    recording, tail, _ = await recorded(db, path)
    path.write_bytes(log(user("short")))
    await recording.keep(tail.read())
    async with db.transaction() as tx:
        [kept] = await sessions.page(tx)
        now = [event.text for _, event in await sessions.events_of(tx, kept)]
        before = await sessions.events_of(tx, kept, life=0)
    assert (kept.life, now, len(before), kept.state["turns"]) == (1, ["", "short"], 5, 1)


async def test_sub_agents_with_their_parents_id_are_sessions_of_their_own(db: Database) -> None:
    event = SessionEvent("s", "claude-code", EventKind.USER, NOON, text="hi", offset=10, cost=Decimal("0.5"),
                         tokens=Tokens(input=1 << 70))  # fmt: skip
    async with db.transaction() as tx:
        for source in ("/s.jsonl", "/agent-1.jsonl"):
            assert await sessions.keep(tx, await sessions.opened(tx, "claude-code", "s", source), [event]) == 1
        both = await sessions.page(tx, provider="claude-code")
        assert len(both) == 2
        assert await sessions.page(tx, provider="codex") == []
        assert [kept.id for kept in await sessions.page(tx, before=both[0].id)] == [both[1].id]
        [(_, stored)] = await sessions.events_of(tx, await sessions.one(tx, both[0].id))
    assert (stored.tokens.input, stored.cost) == (1 << 70, Decimal("0.5"))
