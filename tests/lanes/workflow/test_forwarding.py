"""Accepted patches reach an orchestrator outside: in order, again after its faults, and told where it refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming
from laneway.domain.workflow import Cause, ForwardState, Patch, Workflow
from laneway.lanes.workflow.forwarding import Forwarding
from laneway.lanes.workflow.patches import Patches
from laneway.llm.offline import OfflineModel
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from laneway.store import conversations, intake, principals, workflow_patches, workflows
from laneway.store.database import Database
from tests.lanes.workflow.running_workflows import eventually
from tests.lanes.workflow.stored_documents import CHAIN
from tests.running import laneway
from tests.servers.pages import Pages, Visit

RETRY = [{"op": "add", "path": "/nodes/@fetch/retry", "value": {"max_attempts": 5}}]
SLOWER = [{"op": "add", "path": "/nodes/@fetch/timeout_ms", "value": 9000}]
TAGGED = "/api/v1/workflows/main/patch"


class Here:
    """A workflow, its owner, and what forwards its patches."""

    def __init__(self, db: Database, url: str, owner: UUID) -> None:
        self.db, self.owner, self.clock = db, owner, FakeClock(datetime.now(UTC))
        self.forwarding = Forwarding(db, self.clock, url, Exchange(Allowed()), ("http",))
        self.patches = Patches(self.forwarding.changed)
        self.workflow: Workflow

    async def change(self, operations: list[dict[str, Any]], words: str, **cause: Any) -> Patch:
        async with self.db.transaction() as tx:
            now = await workflows.by_id(tx, self.workflow.id)
            assert now is not None
            proposal = self.patches.propose(now, "main", operations, words)
            return (await self.patches.store(tx, proposal, Cause(self.owner, **cause)))[1]

    async def state(self, patch: Patch) -> ForwardState:
        async with self.db.transaction() as tx:
            found = await workflow_patches.forward_of(tx, patch.id)
        assert found is not None
        return found.state


@pytest.fixture
async def here(db: Database, pages: Pages) -> Here:
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_test")
    found = Here(db, pages.url, owner.id)
    async with db.transaction() as tx:
        found.workflow = (await workflows.create(tx, "main", CHAIN, [], Cause(owner.id)))[0]
    return found


async def test_a_patch_arrives_with_its_operations_and_its_user_once_the_server_is_there(
    here: Here, pages: Pages
) -> None:
    pages.pages[TAGGED] = JSONResponse({"ok": True})
    away = Forwarding(here.db, here.clock, "http://127.0.0.1:9", Exchange(Allowed()), ())
    patch = await here.change(RETRY, "Tried again.")
    assert await away.turn() is True
    assert await here.state(patch) is ForwardState.PENDING
    here.clock.advance(60)
    assert [await here.forwarding.turn() for _ in range(2)] == [True, False]
    (visit,) = pages.visits
    assert (visit.method, visit.path, visit.headers["x-user-id"]) == ("PATCH", TAGGED, "owner")
    sent = json.loads(visit.body)
    assert (sent["operations"], sent["description"]) == (patch.operations, "Tried again.")
    assert await here.state(patch) is ForwardState.SENT


async def test_a_server_that_breaks_down_is_tried_again_and_nothing_overtakes(here: Here, pages: Pages) -> None:
    answers = [503, 500, 200, 200]

    async def shaky(request: Request) -> Response:
        return Response("busy", answers.pop(0))

    pages.pages[TAGGED] = shaky
    first, second = await here.change(RETRY, "First."), await here.change(SLOWER, "Second.")
    for _ in range(2):
        assert await here.forwarding.turn() is True
        assert await here.forwarding.turn() is False
        assert await here.state(first) is ForwardState.PENDING
        here.clock.advance(60)
    while await here.forwarding.turn():
        pass
    told = [json.loads(visit.body)["description"] for visit in pages.visits]
    assert told == ["First.", "First.", "First.", "Second."]
    assert await here.state(second) is ForwardState.SENT


async def test_a_refused_patch_is_told_to_its_owner_once(here: Here, pages: Pages) -> None:
    pages.pages[TAGGED] = JSONResponse({"error": "no such workflow"}, 404)
    async with here.db.transaction() as tx:
        who = await principals.by_id(tx, here.owner)
        assert who is not None
        receipt = await intake.write(tx, Incoming("http", "main", "m1", "retry fetch", who))
    patch = await here.change(RETRY, "Tried again.", message_id=receipt.message_id)
    assert await here.forwarding.turn() is True
    here.clock.advance(3600)
    assert await here.forwarding.turn() is False
    async with here.db.transaction() as tx:
        said = [m.text for m in await conversations.messages(tx, thread_id=receipt.thread_id)]
    assert await here.state(patch) is ForwardState.REFUSED
    assert len(pages.visits) == 1
    assert "has not taken version 2 of workflow `main` (Tried again.). It answered 404" in said[0]


async def test_what_was_cut_off_while_it_was_sent_is_uncertain_and_not_repeated(here: Here, pages: Pages) -> None:
    pages.pages[TAGGED] = Response(status_code=204)
    patch = await here.change(RETRY, "Tried again.")
    async with here.db.transaction() as tx:
        # A sender that was killed after this row was committed.
        assert await workflow_patches.claim_forward(tx, here.clock.now()) is not None
    await here.forwarding.begin()
    assert await here.forwarding.turn() is False
    assert await here.state(patch) is ForwardState.UNCERTAIN
    assert pages.visits == []


async def test_a_patch_of_a_run_goes_to_the_run_and_comes_from_the_whole_journey(
    database_url: str, tmp_path: Path, pages: Pages
) -> None:
    path = "/api/v1/runs/run-456/patches"
    pages.pages[path] = JSONResponse({"id": "p", "seq": 1}, 201)
    runner = {
        "run_id": "run-456", "node_id": "agent_node", "workflow_tag": "main", "workflow_owner": "owner",
        "current_workflow": CHAIN,
    }  # fmt: skip
    settings: dict[str, Any] = {"workflow_approval": False, "orchestrator_url": pages.url}
    async with laneway(database_url, tmp_path, OfflineModel(), **settings) as running:
        await running.ask("retry fetch 5 times", lane="workflow", payload={"runner": runner})

        async def visits() -> list[Visit]:
            return pages.visits

        await eventually(visits)
    (visit,) = pages.visits
    assert (visit.method, visit.path, visit.headers["x-user-id"]) == ("POST", path, "owner")
    assert json.loads(visit.body)["node_id"] == "agent_node"


async def test_a_new_workflow_never_replaces_that_of_the_run_that_asked_for_it(
    database_url: str, tmp_path: Path, pages: Pages
) -> None:
    settings: dict[str, Any] = {"workflow_approval": False, "orchestrator_url": pages.url}
    async with laneway(database_url, tmp_path, OfflineModel(), **settings) as running:
        words = "always e-mail me when the price drops below 100"
        await running.ask(words, lane="workflow", payload={"runner": {"run_id": "run-456"}})

        async def visits() -> list[Visit]:
            return pages.visits

        await eventually(visits)
    assert [(visit.method, visit.path.split("/")[3]) for visit in pages.visits] == [("PATCH", "workflows")]
