"""What has effects is audited: once, with who wanted it, over restarts, and to be verified by anybody."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from laneway.domain.audit import Entry, Note, checked
from laneway.domain.judgement import ApprovalState
from laneway.domain.session import EventKind, SessionEvent, SessionState
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, ScriptedModel, Turn
from laneway.reactors import Chain
from laneway.reactors.audit_logger import AuditFile, AuditLogger, file_checked
from laneway.reactors.auditing import Auditing
from laneway.store import approvals, audit, events, permissions
from laneway.store.database import Database
from tests.running import laneway

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def entries(db: Database) -> list[Entry]:
    async with db.transaction() as tx:
        return await audit.page(tx, limit=1000)


async def pour(cups: int) -> dict[str, Any]:
    """Pours."""
    return {"status": "success", "result": cups}


async def look() -> dict[str, Any]:
    """Looks."""
    return {"status": "success", "result": "full"}


def look_then_pour(asked: Asked) -> Turn:
    turns: list[Turn] = [Call("look"), Call("pour", {"cups": 2}), Say("Poured.")]
    return turns[asked.turn]


async def test_a_call_with_effects_is_audited_with_who_asked_and_who_said_yes(
    database_url: str, tmp_path: Path
) -> None:
    tools = [ToolEntry(pour, changes=True, asks=True), ToolEntry(look)]
    async with laneway(database_url, tmp_path, ScriptedModel(look_then_pour), tools=tools) as here, asyncio.timeout(60):
        db = here.app.db
        receipt = await here.send("pour me two cups of coffee")
        while not (asked := await pending(db)):
            await asyncio.sleep(0.02)
        async with db.transaction() as tx:
            answered = await approvals.answer(tx, asked[0], ApprovalState.APPROVED, here.owner)
            await permissions.give(tx, answered, here.owner.id)
        await here.until(receipt.job_id)
        while "tool.finished" not in {entry.what for entry in await entries(db)}:
            await asyncio.sleep(0.02)
        stored = await entries(db)
    by_kind = {entry.what: entry for entry in stored}
    assert [json.loads(entry.body)["tool"] for entry in stored if entry.what.startswith("tool.")] == ["pour", "pour"]
    assert by_kind["tool.started"].actor == f"owner {here.owner.id}"
    assert json.loads(by_kind["tool.started"].body)["arguments"] == {"cups": 2}
    assert by_kind["approval.approved"].actor == by_kind["permission.given"].actor == str(here.owner.id)
    assert "settings.changed" in by_kind
    assert checked(stored).intact


async def pending(db: Database) -> Any:
    async with db.transaction() as tx:
        return await (await tx.execute("SELECT id FROM approvals WHERE state = 'pending'")).fetchone()


async def test_nothing_is_lost_or_audited_twice_over_restarts_and_faults(db: Database) -> None:
    async def happen(*numbers: int) -> None:
        for number in numbers:
            async with db.transaction() as tx:
                await events.append(tx, "principal.blocked", {"principal": str(number), "by": "7"})
                await events.append(tx, "message.duplicate", {})

    await happen(0, 1, 2)
    await Auditing(db).catch_up()
    await happen(3, 4)
    # Two processes that both believe it is their duty, and one that starts later.
    await asyncio.gather(Auditing(db).catch_up(), Auditing(db).catch_up())
    await happen(5)
    async with db.transaction() as tx:
        await tx.execute("ALTER TABLE audit RENAME TO audit_away")
    with pytest.raises(psycopg.errors.UndefinedTable):
        await Auditing(db).catch_up()
    async with db.transaction() as tx:
        await tx.execute("ALTER TABLE audit_away RENAME TO audit")
    await Auditing(db).catch_up()
    stored = await entries(db)
    assert [json.loads(entry.body)["principal"] for entry in stored] == [str(number) for number in range(6)]
    assert {entry.actor for entry in stored} == {"7"}
    assert checked(stored).intact


async def test_a_changed_setting_has_an_entry_and_an_unchanged_one_none(db: Database) -> None:
    for tokens in ("12000", "12000", "20000"):
        await Auditing(db, {"context_tokens": tokens, "telegram_token": "set (ab12cd)"}).note_settings()
    stored = [entry for entry in await entries(db) if entry.what == "settings.changed"]
    assert len(stored) == 2
    assert json.loads(stored[1].body)["changed"] == ["context_tokens is 20000"]


def called(tool: str, call: str, **arguments: Any) -> SessionEvent:
    return SessionEvent("s1", "claude-code", EventKind.TOOL_CALLED, NOW, tool=tool, call_id=call, arguments=arguments)


def test_of_another_agents_session_calls_that_can_change_something_are_noted() -> None:
    notes: list[Note] = []
    chain = Chain(SessionState("s1", "claude-code", cwd="/p"), [AuditLogger(notes.append)])
    chain.handle(called("Read", "1", file_path="/p/a.py"))
    chain.handle(called("Bash", "2", command="ls -l"))
    chain.handle(called("Bash", "3", command="rm -r build"))
    chain.handle(SessionEvent("s1", "claude-code", EventKind.TOOL_ENDED, NOW, call_id="3", failed=True))
    chain.handle(called("Write", "4", file_path="/p/a.py", content="x"))
    assert [(note.what, note.body["tool"]) for note in notes] == [
        ("tool.started", "Bash"), ("tool.finished", "Bash"), ("tool.started", "Write"),
    ]  # fmt: skip
    assert notes[1].body["status"] == "error"
    assert notes[0].actor == "claude-code s1"
    # What is replayed is not noted again.
    notes.clear()
    chain = Chain(SessionState("s1", "claude-code"), [AuditLogger(notes.append)])
    chain.replay([called("Bash", "3", command="rm -r build")])
    chain.handle(SessionEvent("s1", "claude-code", EventKind.TOOL_ENDED, NOW, call_id="3"))
    assert [note.what for note in notes] == ["tool.finished"]


def test_a_file_holds_a_chain_and_says_where_it_was_changed(tmp_path: Path) -> None:
    path = tmp_path / "audit" / "sessions.jsonl"
    for number in range(4):
        AuditFile(path).append(Note(NOW, "claude-code s1", "tool.started", {"tool": f"tool {number}"}))
    assert file_checked(path).intact
    assert file_checked(path).entries == 4
    assert path.stat().st_mode & 0o077 == 0
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace("tool 1", "tool 7"), *lines[2:]]) + "\n")
    assert "Entry 2 was changed" in str(file_checked(path).broken)
    path.write_text("\n".join(lines[:1] + lines[2:]) + "\n")
    assert "Entry 2 is missing" in str(file_checked(path).broken)
    path.write_text("\n".join(lines[2:]) + "\n")
    assert file_checked(path).intact, "an export may begin anywhere"
