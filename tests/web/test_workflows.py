"""Workflows over HTTP: made, patched, tried, undone, and every refusal with its reason and repair."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from laneway.app import Parts
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from tests.lanes.workflow.stored_documents import CHAIN, CHOICE
from tests.web.conftest import Door, Open

RETRY = [{"op": "add", "path": "/nodes/@fetch/retry", "value": {"max_attempts": 5}}]
SLOWER = [{"op": "add", "path": "/nodes/@fetch/timeout_ms", "value": 9000}]


@pytest.fixture
async def door(door: Door) -> AsyncIterator[Door]:
    """The door of the shared Laneway for an owner who has no workflows yet."""
    async with door.somebody_else("owner") as another:
        yield another


async def made(door: Door, tag: str = "main", document: dict[str, Any] = CHAIN) -> Any:
    return await door.post("/workflows", 201, json={"tag": tag, "document": document})


async def patched(door: Door, operations: list[dict[str, Any]], expected: int = 200, **more: Any) -> Any:
    return await door.post("/workflows/main/patch", expected, json={"operations": operations, **more})


async def test_a_workflow_is_made_listed_shown_and_removed(door: Door) -> None:
    for tag in ("main", "shop", "third"):
        await made(door, tag)
    first = await door.get("/workflows", limit=2)
    assert [one["tag"] for one in first["items"]] == ["third", "shop"]
    rest = await door.get("/workflows", limit=2, before=first["next"])
    assert [one["tag"] for one in rest["items"]] == ["main"]
    assert (await door.get("/workflows/main"))["document"] == CHAIN
    twice = await door.post("/workflows", 409, json={"tag": "main", "document": CHAIN})
    assert "There is a workflow `main` already" in twice["detail"]
    await door.delete("/workflows/main")
    await door.get("/workflows/main", 404)
    assert (await door.get("/workflows/schema"))["title"] == "Workflow"


async def test_what_was_removed_comes_back_with_its_history(door: Door) -> None:
    await made(door)
    await patched(door, RETRY)
    await door.delete("/workflows/main")
    await patched(door, SLOWER, 400)
    [gone] = (await door.get("/workflows", removed=True))["items"]
    assert (gone["tag"], gone["version"], gone["removed_at"] is None) == ("main", 2, False)
    back = await door.post("/workflows/main/restore")
    assert (back["version"], back["removed_at"]) == (2, None)
    assert (await door.get("/workflows", removed=True))["items"] == []
    assert (await door.post("/workflows/main/undo", json={}))["workflow"]["version"] == 3
    assert [one["kind"] for one in (await door.get("/workflows/main/history"))["items"]] == ["undo", "patch", "create"]


async def test_a_dry_run_says_everything_stores_nothing_and_asks_nobody(door: Door) -> None:
    await made(door)
    tried = await patched(door, RETRY, dry_run=True, ask=True, description="Tried again.")
    assert (tried["verdict"], tried["stored"]) == ("accept", False)
    preview = tried["preview"]
    assert (preview["base_version"], preview["version"], bool(preview["changes"])) == (1, 2, True)
    assert preview["diagram"].startswith("flowchart TD")
    assert tried["document"]["nodes"][0]["retry"] == {"max_attempts": 5}
    assert (await door.get("/workflows/main"))["version"] == 1
    for asked in (True, False):
        past = await patched(door, RETRY, 400, ask=asked, valid_until="2020-01-01T00:00:00Z")
        assert past["detail"] == "`valid_until` is past already."
    assert (await door.get("/messages"))["items"] == []


async def test_a_change_is_stored_by_post_patch_or_put_only_on_the_version_it_was_made_for(door: Door) -> None:
    await made(door)
    first = await patched(door, RETRY, description="Tried again.")
    assert (first["workflow"]["version"], first["patch"]["operations"][-1]["path"]) == (2, "/nodes/0/retry")
    second = await door.patch("/workflows/main/patch", json={"operations": SLOWER, "base_version": 2})
    assert second["workflow"]["version"] == 3
    late = await patched(door, RETRY, 409, base_version=1)
    assert "is at version 3; this change was made for version 1" in late["detail"]
    nodes = {node["id"]: {key: value for key, value in node.items() if key != "id"} for node in CHOICE["nodes"]}
    mapped = {"nodes": nodes, "edges": CHOICE["edges"]}
    await door.put("/workflows/main", 409, json={"document": mapped, "base_version": 7})
    put = await door.put("/workflows/main", json={"document": mapped, "base_version": 3})
    assert {node["id"] for node in put["workflow"]["document"]["nodes"]} == set(nodes)


async def test_a_refusal_has_its_reason_node_path_and_repair(door: Door) -> None:
    await made(door)
    ghost = [{"op": "add", "path": "/edges/-", "value": {"from": "keep", "to": "ghost"}}]
    problem = await patched(door, ghost, 400)
    assert (problem["code"], problem["reason"]) == ("workflow-rejected", "dangling-edge")
    assert all((problem["path"], problem["repair"]))
    wrong = await patched(door, [{"op": "remove", "path": "/nodes/@nobody"}], 400)
    assert wrong["reason"] == "json-patch"
    assert (await door.get("/workflows/main"))["version"] == 1


async def test_versions_history_diff_undo_redo_and_rollback(door: Door) -> None:
    await made(door)
    first = await patched(door, RETRY)
    await patched(door, SLOWER, description="Slower.")
    assert [one["number"] for one in (await door.get("/workflows/main/versions"))["items"]] == [3, 2, 1]
    assert (await door.get("/workflows/main/versions/1"))["document"] == CHAIN
    await door.get("/workflows/main/versions/9", 404)
    diff = await door.get("/workflows/main/diff", older=1, newer=3)
    assert len(diff["changes"]) == 2
    undone = await door.post("/workflows/main/undo", json={"patch": first["patch"]["id"]})
    assert undone["workflow"]["version"] == 4
    assert "retry" not in undone["workflow"]["document"]["nodes"][0]
    assert undone["workflow"]["document"]["nodes"][0]["timeout_ms"] == 9000
    redone = await door.post("/workflows/main/redo", json={})
    assert redone["patch"]["description"] == "Redone: the change that made version 2."
    assert redone["workflow"]["document"]["nodes"][0]["retry"] == {"max_attempts": 5}
    back = await door.post("/workflows/main/rollback", json={"version": 1})
    assert (back["workflow"]["version"], back["workflow"]["document"]) == (6, CHAIN)
    history = await door.get("/workflows/main/history", limit=2)
    assert [one["kind"] for one in history["items"]] == ["rollback", "redo"]
    older = await door.get("/workflows/main/history", before=history["next"])
    assert [one["kind"] for one in older["items"]] == ["undo", "patch", "patch", "create"]
    assert (await door.http.get("/workflows/main/diagram")).text.startswith("flowchart TD")


async def test_a_patch_for_a_time_is_undone_by_itself(door: Door) -> None:
    await made(door)
    # Late enough that it is not past already when a busy machine comes to look at it.
    soon = datetime.now(UTC) + timedelta(seconds=2.5)
    await patched(door, RETRY, description="Tried again.", valid_until=soon.isoformat())
    async with asyncio.timeout(40):
        while (await door.get("/workflows/main"))["version"] < 3:
            await asyncio.sleep(0.05)
    assert (await door.get("/workflows/main/history"))["items"][0]["kind"] == "expiry"


async def test_hostile_documents_are_refused_clearly(door: Door) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    for document in (
        {"nodes": deep, "edges": []},
        {"nodes": "all", "edges": []},
        {"nodes": [{"id": "a\x00", "type": "wait"}], "edges": []},
    ):
        response = await door.http.post("/workflows", json={"tag": "bad", "document": document})
        assert response.status_code in (400, 413), response.text
        assert response.json()["hint"]
    big = {"nodes": [{"id": "a", "type": "wait", "config": {"until": "x" * 1_100_000}}], "edges": []}
    assert (await door.http.post("/workflows", json={"tag": "bad", "document": big})).status_code == 413
    for tag in ("schema", "../x", "a b"):
        assert (await door.http.post("/workflows", json={"tag": tag, "document": CHAIN})).status_code == 400


async def test_an_operator_proposes_and_the_owner_decides_also_for_somebody_else(opened: Open) -> None:
    async with opened(Parts(models=lambda db: only(OfflineModel(), db))) as door:

        async def approved(receipt: Any) -> None:
            await door.until(receipt["job_id"], "waiting")
            (approval,) = (await door.get("/approvals", state="pending"))["items"]
            await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
            await door.until(receipt["job_id"])

        async with door.somebody_else("operator") as ops:
            new = [{"op": "replace", "path": "", "value": CHAIN}]
            await ops.post("/workflows", 403, json={"tag": "main", "document": CHAIN})
            await patched(ops, new, 403)
            asked = await patched(ops, new, 202, ask=True, description="Made.")
            assert (await ops.get("/workflows"))["items"] == []
            await approved(asked)
            assert [one["tag"] for one in (await ops.get("/workflows"))["items"]] == ["main"]
            await ops.get("/workflows/main", 403, owner="owner")
        assert (await door.get("/workflows"))["items"] == []
        assert (await door.get("/workflows/main", owner="op"))["document"] == CHAIN
        await made(door)
        change = {"operations": SLOWER, "ask": True}
        await approved(await door.post("/workflows/main/patch", 202, params={"owner": "op"}, json=change))
        assert (await door.get("/workflows/main", owner="op"))["version"] == 2
        assert (await door.get("/workflows/main"))["version"] == 1


async def an_operator(database_url: str, key: str) -> None:
    Door("http://127.0.0.1:1", "", database_url).add_principal("operator", "ops", key)


async def sent(door: Door, method: str, path: str, body: str | bytes, kind: str = "application/yaml") -> httpx.Response:
    return await door.http.request(method, path, content=body, headers={"Content-Type": kind})


async def test_a_workflow_goes_out_as_yaml_and_comes_back_as_the_same(door: Door) -> None:
    document = {**CHOICE, "metadata": {"name": "on", "description": "12:30, 2026-01-01, 1e3, 010 and “ä”: yes"}}
    document["edges"] = [*document["edges"], {"from": "fetch", "to": "wait", "on": "error"}]
    await made(door, "main", document)
    got = await door.http.get("/workflows/main", params={"format": "yaml"})
    assert (got.status_code, got.headers["content-type"].partition(";")[0]) == (200, "application/yaml")
    assert (await sent(door, "POST", "/workflows?tag=copy", got.text)).status_code == 201
    assert (await door.get("/workflows/copy"))["document"] == (await door.get("/workflows/main"))["document"]
    by_hand = "nodes:\n- {id: a, type: wait, config: {seconds: 1}}\n- {id: b, type: wait, config: {seconds: 1}}\n"
    by_hand += "edges:\n- {from: a, to: b, on: error}\n"
    put = await sent(door, "PUT", "/workflows/copy?base_version=1", by_hand, "text/yaml; charset=utf-8")
    assert put.status_code == 200, put.text
    assert (await door.get("/workflows/copy"))["document"]["edges"] == [{"from": "a", "to": "b", "on": "error"}]
    assert (await sent(door, "PUT", "/workflows/copy?base_version=1", by_hand)).status_code == 409
    whole = "tag: third\ndescription: mine\ndocument: {nodes: [{id: a, type: wait, config: {seconds: 1}}], edges: []}"
    assert (await sent(door, "POST", "/workflows", whole)).status_code == 201
    assert (await door.http.get("/workflows/main", params={"format": "xml"})).status_code == 400


async def test_yaml_that_is_more_than_json_is_refused(door: Door) -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    bad: dict[str, tuple[str | bytes, int]] = {
        "references": (bomb, 400), "objects": ("!!python/object/apply:os.system ['true']", 400),
        "twice": ("nodes: []\nnodes: []\nedges: []", 400), "deep": ("[" * 5000, 400), "broken": ("a: [", 400),
        "two": ("nodes: []\n---\nedges: []", 400), "bytes": (b"\xff\xfe\xfa", 400), "empty": ("", 400),
        "digits": (f"nodes: {'9' * 9000}", 400), "large": ("x: " + "y" * 1_000_001, 413),
    }  # fmt: skip
    for name, (body, status) in bad.items():
        answer = await sent(door, "POST", "/workflows?tag=main", body)
        assert answer.status_code == status, (name, answer.text)
    assert (await sent(door, "POST", "/workflows?tag=main", "nodes: []", "text/plain")).status_code == 415
    assert (await door.get("/workflows"))["items"] == []
