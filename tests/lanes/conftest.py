"""The file tools in the workspace of one stored job, and a web server for tools that reach one."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from laneway.lanes.tools.entry import Call, Outcome, ToolEntry
from laneway.lanes.tools.files import file_entries
from laneway.lanes.tools.snapshots import Snapshots
from laneway.store.database import Database
from tests.lanes.calls import Work, new_call
from tests.sandboxing import strong, strongest
from tests.servers.pages import Pages

__all__ = ["strong", "strongest"]

Use = Callable[..., Awaitable[Outcome]]


@pytest.fixture
def web() -> Iterator[Pages]:
    with Pages() as pages:
        yield pages


@pytest.fixture
def tools(db: Database, tmp_path: Path) -> dict[str, ToolEntry]:
    opened = tmp_path / "opened"
    opened.mkdir()
    (opened / "manual.txt").write_text("the owner's manual")
    return {entry.name: entry for entry in file_entries(opened, Snapshots(db, tmp_path))}


@pytest.fixture
async def call(db: Database, tmp_path: Path) -> Call:
    return await new_call(db, tmp_path)


@pytest.fixture
def use(tools: dict[str, ToolEntry], call: Call) -> Use:
    async def used(name: str, *given: Any, **more: Any) -> Outcome:
        outcome: Outcome = await tools[name].function(call, *given, **more)
        assert set(outcome) == {"status", "result", "error", "stdout", "stderr", "exit_code"}
        assert json.loads(json.dumps(outcome)) == outcome
        return outcome

    return used


@pytest.fixture
def workspace(call: Call) -> Path:
    return call.workspace


@pytest.fixture
def work(db: Database, tmp_path: Path, call: Call) -> Work:
    return Work(db, tmp_path, call)
