"""Workflows are kept per owner and tag; every version and every patch stays, and each can be taken back."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from laneway.clock import FakeClock
from laneway.domain.conversation import Incoming, Role
from laneway.domain.workflow import Cause, Patch, PatchKind, Workflow
from laneway.errors import Conflict, NotFound
from laneway.lanes.workflow.expiring import Expiring
from laneway.lanes.workflow.patches import Patches
from laneway.lanes.workflow.refusing import MergeConflict
from laneway.store import conversations, intake, principals, workflow_patches, workflows
from laneway.store.database import Database
from tests.gates import somebody_waits
from tests.lanes.workflow.stored_documents import CHAIN

NOTIFY = {"id": "tell", "type": "notify", "config": {"channel": "owner", "message": "Done."}}
ADD = [
    {"op": "add", "path": "/nodes/-", "value": NOTIFY},
    {"op": "add", "path": "/edges/-", "value": {"from": "process", "to": "tell"}},
]
RETRY = [{"op": "add", "path": "/nodes/@fetch/retry", "value": {"max_attempts": 5}}]
PATCHES = Patches()


@pytest.fixture
async def owner(db: Database) -> UUID:
    async with db.transaction() as tx:
        return (await principals.set_owner_key(tx, "lw_test")).id


async def made(db: Database, owner: UUID, tag: str = "main", document: dict[str, Any] = CHAIN) -> Workflow:
    whole = [{"op": "replace", "path": "", "value": document}]
    async with db.transaction() as tx:
        return (await PATCHES.store(tx, PATCHES.propose(None, tag, whole, "Made."), Cause(owner)))[0]


async def changed(
    db: Database, workflow: Workflow, operations: list[dict[str, Any]], words: str = "Changed.", **cause: Any
) -> tuple[Workflow, Patch]:
    async with db.transaction() as tx:
        now = await workflows.by_id(tx, workflow.id)
        assert now is not None
        given = Cause(now.principal_id, **cause)
        return await PATCHES.store(tx, PATCHES.propose(now, now.tag, operations, words), given)


async def test_each_owner_has_tags_of_their_own_and_a_removed_workflow_frees_its(db: Database, owner: UUID) -> None:
    async with db.transaction() as tx:
        other = await principals.make(tx, Role.OPERATOR, "ops")
    workflow = await made(db, owner)
    await made(db, other.id)
    with pytest.raises(Conflict, match="There is a workflow `main` already"):
        await made(db, owner)
    async with db.transaction() as tx:
        assert len(await workflows.page(tx, None)) == 2
        assert len(await workflows.page(tx, owner)) == 1
        await workflows.remove(tx, workflow, owner)
        assert await workflows.stored(tx, owner, "main") is None
        assert (await workflows.version(tx, workflow.id, 1)).document == CHAIN, "its versions stay"
    assert (await made(db, owner)).id != workflow.id
    with pytest.raises(Conflict, match="was removed"):
        await changed(db, workflow, RETRY)


async def test_every_version_and_its_cause_are_kept_and_rolling_back_makes_a_new_one(db: Database, owner: UUID) -> None:
    workflow = await made(db, owner)
    cause = {"sentence": "tell me", "approved_by": owner, "once": "job:1"}
    now, patch = await changed(db, workflow, ADD, "Somebody is told.", **cause)
    assert (now.version, patch.base_version, patch.version) == (2, 1, 2)
    assert (patch.sentence, patch.principal_id, patch.approved_by) == ("tell me", owner, owner)
    again, same_patch = await changed(db, workflow, RETRY, "Another.", once="job:1")
    assert (again.version, same_patch.id) == (2, patch.id), "the same cause changes it once"
    async with db.transaction() as tx:
        assert [one.number for one in await workflows.versions(tx, workflow.id)] == [2, 1]
        assert (await workflows.version(tx, workflow.id, 1)).document == CHAIN
        assert (await workflows.version(tx, workflow.id, 2)).document["nodes"][-1] == NOTIFY
        with pytest.raises(NotFound, match="no version 3"):
            await workflows.version(tx, workflow.id, 3)
        back, patch = await PATCHES.roll_back(tx, await workflows.get(tx, owner, "main"), 1, Cause(owner))
        assert (back.version, back.document, patch.kind) == (3, CHAIN, PatchKind.ROLLBACK)
        forth, _ = await PATCHES.undo(tx, back, patch.id, Cause(owner))
    assert forth.document["nodes"][-1] == NOTIFY


async def test_two_changes_of_the_same_version_conflict_and_both_are_named(db: Database, owner: UUID) -> None:
    workflow = await made(db, owner)
    first, second = (PATCHES.propose(workflow, "main", one, "x") for one in (ADD, RETRY))

    async def store(proposal: Any) -> Workflow:
        async with db.transaction() as tx:
            return (await PATCHES.store(tx, proposal, Cause(owner)))[0]

    results = await asyncio.gather(store(first), store(second), return_exceptions=True)
    refused = [one for one in results if isinstance(one, Conflict)]
    assert [one.version for one in results if isinstance(one, Workflow)] == [2]
    assert "is at version 2; this change was made for version 1" in str(refused[0])


async def test_one_patch_is_undone_and_later_ones_stay(db: Database, owner: UUID) -> None:
    workflow = await made(db, owner)
    _, first = await changed(db, workflow, ADD, "Somebody is told.")
    await changed(db, workflow, RETRY, "Fetch is tried again.")
    async with db.transaction() as tx:
        now = await workflows.get(tx, owner, "main")
        undone, undo = await PATCHES.undo(tx, now, first.id, Cause(owner))
    assert undone.version == 4
    assert [node["id"] for node in undone.document["nodes"]] == ["fetch", "process", "keep"]
    assert undone.document["nodes"][0]["retry"] == {"max_attempts": 5}
    assert (undo.kind, undo.undoes) == (PatchKind.UNDO, first.id)
    async with db.transaction() as tx:
        with pytest.raises(Conflict, match="is undone already"):
            await PATCHES.undo(tx, undone, first.id, Cause(owner))
    async with db.transaction() as tx:
        redone, _ = await PATCHES.redo(tx, undone, None, Cause(owner))
        assert redone.document["nodes"][-1] == NOTIFY
        assert redone.document["nodes"][0]["retry"] == {"max_attempts": 5}
        assert (await workflow_patches.get(tx, workflow.id, first.id)).in_force
        again, _ = await PATCHES.undo(tx, redone, first.id, Cause(owner))
    assert [node["id"] for node in again.document["nodes"]] == ["fetch", "process", "keep"]


async def test_an_undo_that_a_later_change_stands_in_the_way_of_names_it(db: Database, owner: UUID) -> None:
    louder = [{"op": "replace", "path": "/nodes/@tell/config/message", "value": "DONE!"}]
    rest = [
        {"op": "add", "path": "/nodes/-", "value": {"id": "rest", "type": "wait", "config": {"seconds": 1}}},
        {"op": "add", "path": "/edges/-", "value": {"from": "tell", "to": "rest"}},
    ]
    refusals = (
        ("a", louder, r"node `tell` has been changed since.*version 3 \(Later\.\)"),
        ("b", rest, r"tell.*Later changes: version 3 \(Later\.\)"),
    )
    for tag, later, refusal in refusals:
        workflow = await made(db, owner, tag)
        _, first = await changed(db, workflow, ADD, "Somebody is told.")
        await changed(db, workflow, later, "Later.")
        async with db.transaction() as tx:
            now = await workflows.get(tx, owner, tag)
            making = (await workflow_patches.page(tx, workflow.id))[-1]
            for patch, reason in ((first, refusal), (making, r"changed since\. Later changes: version 2 .*version 3")):
                with pytest.raises(MergeConflict, match=reason):
                    await PATCHES.undo(tx, now, patch.id, Cause(owner))
            assert (await workflows.get(tx, owner, tag)).version == 3
    async with db.transaction() as tx:
        gone, _ = await PATCHES.undo(tx, await made(db, owner, "c"), None, Cause(owner))
        assert (gone.version, await workflows.stored(tx, owner, "c")) == (2, None), "nothing stood in its way"


async def test_a_patch_for_a_time_is_undone_when_it_is_up(db: Database, owner: UUID) -> None:
    clock = FakeClock(datetime.now(UTC))
    workflow = await made(db, owner)
    await changed(db, workflow, RETRY, "Tried again.", valid_until=clock.now() + timedelta(hours=2))
    await changed(db, workflow, ADD, "Somebody is told.")
    assert await Expiring(db, clock, PATCHES, ()).turn() is False
    clock.advance(7201)
    # Another process, started later: what is due is a row, not a timer.
    assert await Expiring(db, clock, PATCHES, ()).turn() is True
    assert await Expiring(db, clock, PATCHES, ()).turn() is False
    async with db.transaction() as tx:
        now = await workflows.get(tx, owner, "main")
        newest = (await workflow_patches.page(tx, workflow.id))[0]
    assert "retry" not in now.document["nodes"][0]
    assert now.document["nodes"][-1] == NOTIFY
    assert newest.kind is PatchKind.EXPIRY


async def test_a_patch_whose_time_is_up_and_that_must_stay_is_told_to_the_owner(db: Database, owner: UUID) -> None:
    clock = FakeClock(datetime.now(UTC))
    async with db.transaction() as tx:
        who = await principals.by_id(tx, owner)
        assert who is not None
        receipt = await intake.write(tx, Incoming("http", "main", "m1", "retry fetch 5 times for an hour", who))
    workflow = await made(db, owner)
    hour = clock.now() + timedelta(hours=1)
    await changed(db, workflow, RETRY, "Tried again.", valid_until=hour, message_id=receipt.message_id)
    await changed(db, workflow, [{"op": "replace", "path": "/nodes/@fetch/retry/max_attempts", "value": 7}], "Seven.")
    clock.advance(3601)
    expiring = Expiring(db, clock, PATCHES, ("http",))
    assert await expiring.turn() is True
    assert await expiring.turn() is False
    async with db.transaction() as tx:
        said = await conversations.messages(tx, thread_id=receipt.thread_id)
        assert (await workflows.get(tx, owner, "main")).version == 3
    assert "Its time is up, but it stays in workflow `main`" in said[0].text
    assert "node `fetch`" in said[0].text


async def test_undoing_a_patch_and_its_time_running_out_do_not_block_each_other(db: Database, owner: UUID) -> None:
    clock = FakeClock(datetime(2026, 3, 1, tzinfo=UTC))
    _, patch = await changed(db, await made(db, owner), RETRY, valid_until=clock.now() + timedelta(hours=1))
    clock.advance(7200)
    async with db.transaction() as tx:
        now = await workflows.stored(tx, owner, "main", lock=True)
        assert now is not None
        other = asyncio.create_task(Expiring(db, clock, PATCHES, ()).turn())
        await somebody_waits(db)
        await PATCHES.undo(tx, now, patch.id, Cause(owner))
    assert await other is True
    async with db.transaction() as tx:
        found = await workflows.stored(tx, owner, "main")
    assert found is not None
    assert (found.version, found.document) == (3, CHAIN)
