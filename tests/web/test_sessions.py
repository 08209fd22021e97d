"""Kept sessions by HTTP: listed, looked at, paged; and notices from outside the server."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from laneway.observe.recording import Recording
from laneway.observe.tail import Tail
from laneway.store.database import Database
from tests.observe.live_logs import Agent
from tests.web.conftest import Door, Open
from tests.web.test_reactions import counted


async def kept(database_url: str, *agents: Agent) -> None:
    db = Database(database_url)
    await db.open()
    for agent in agents:
        tail = Tail(agent.path)
        await Recording(db, tail).keep(tail.read())
    await db.close()


async def test_sessions_are_listed_page_by_page_and_by_provider(
    own_door: Door, database_url: str, tmp_path: Path
) -> None:
    door = own_door
    agents = [Agent(tmp_path / "agents") for _ in range(3)]
    for agent in agents:
        agent.says("hello")
        agent.does("ls")
    await kept(database_url, *agents)
    first = await door.get("/sessions", limit=2)
    assert [one["session_id"] for one in first["items"]] == [agents[2].session_id, agents[1].session_id]
    tokens = first["items"][0]["state"]["tokens"]
    assert (tokens["input"], tokens["output"]) == (100, 10)
    rest = await door.get("/sessions", limit=2, before=first["next"])
    assert [one["session_id"] for one in rest["items"]] == [agents[0].session_id]
    assert rest["next"] is None
    assert (await door.get("/sessions", provider="codex"))["items"] == []


async def test_events_come_in_their_order_and_page_by_page(own_door: Door, database_url: str, tmp_path: Path) -> None:
    door = own_door
    agent = Agent(tmp_path / "agents")
    agent.says("hello")
    agent.does("export API_KEY=sk-ant-" + "z1x2c3v4" * 5)
    await kept(database_url, agent)
    [session] = (await door.get("/sessions"))["items"]
    page = await door.get(f"/sessions/{session['id']}/events", limit=2)
    events = page["items"]
    while page["next"]:
        page = await door.get(f"/sessions/{session['id']}/events", limit=2, after=page["next"])
        events += page["items"]
    assert [event["kind"] for event in events] == ["started", "user", "tool_called", "tokens", "tool_ended"]
    assert events[3]["tokens"] == 110
    assert "z1x2c3v4" not in str(events)
    detail = await door.get(f"/sessions/{session['id']}")
    assert (detail["session_id"], detail["reactions"]) == (agent.session_id, [])


async def test_the_server_watches_by_itself_when_it_is_told_to(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = tmp_path / "agents"
    monkeypatch.setenv("HOME", str(home))
    caplog.set_level(logging.INFO, "laneway.observe.duty")
    async with opened(watch_sessions=True) as door:
        await door.ask("hello")
        # What was there before it began to watch would be nobody's news.
        async with asyncio.timeout(30):
            while "Watching 0 sessions" not in caplog.text:
                await asyncio.sleep(0.05)
        agent = Agent(home)
        agent.says("work")
        agent.calls("Bash", command="rm -rf /")
        # The first line of a session may be kept before its second.
        said: list[Any] = []
        async with asyncio.timeout(30):
            while not said:
                for found in (await door.get("/sessions"))["items"]:
                    said += (await door.get(f"/sessions/{found['id']}"))["reactions"]
                await asyncio.sleep(0.05)
        assert [(one["reactor"], one["weight"], one["told"]) for one in said] == [("safety", "notification", True)]
        messages = (await door.get("/messages"))["items"]
        assert "It removes everything" in messages[0]["text"]
        counts = await counted(door, "laneway_reactions_total")
        assert counts == {("laneway_reactions_total", "safety", "notification"): 1}


async def test_a_notice_reaches_the_owner_once(own_door: Door) -> None:
    door = own_door
    assert await door.post("/notices", json={"text": "claude-code: danger"}) == {"told": False}, "there is no thread"
    await door.ask("hello")
    for _ in range(2):
        assert await door.post("/notices", json={"text": "claude-code: danger", "id": "k"}) == {"told": True}
    assert door.rows("SELECT count(*) FROM messages WHERE text = 'claude-code: danger'") == [(1,)]
    for wrong in ({}, {"text": "x" * 2001}, {"text": "x", "more": 1}):
        await door.post("/notices", 400, json=wrong)


async def test_a_watch_outside_the_server_reaches_the_owners_channel(own_door: Door, tmp_path: Path) -> None:
    door = own_door
    await door.ask("hello")
    home = tmp_path / "agents"
    agent = Agent(home)
    agent.says("before")
    environ = {**os.environ, "HOME": str(home), "LANEWAY_URL": door.url, "LANEWAY_KEY": door.key}
    command = (sys.executable, "-m", "laneway", "watch", "--notify", "channel")
    process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=PIPE, stderr=PIPE)
    assert process.stderr is not None
    # It says that it watches once it knows what was there before.
    await process.stderr.readline()
    agent.calls("Bash", command="rm -rf /")
    async with asyncio.timeout(30):
        while "It removes everything" not in (await door.get("/messages"))["items"][0]["text"]:
            await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert (process.returncode, err, b"safety" in out) == (130, b"", True)
