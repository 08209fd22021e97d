"""Workflows over HTTP: made, patched, tried, undone, and every refusal with its reason and repair."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from laneway.app import Parts
from laneway.domain.conversation import Role
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from laneway.store import principals
from laneway.store.database import Database
from tests.lanes.workflow.stored_documents import CHAIN, CHOICE
from tests.web.conftest import Door, Open

RETRY = [{"op": "add", "path": "/nodes/@fetch/retry", "value": {"max_attempts": 5}}]
SLOWER = [{"op": "add", "path": "/nodes/@fetch/timeout_ms", "value": 9000}]


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
    assert (
        "There is a workflow `main` already"
        in (await door.post("/workflows", 409, json={"tag": "main", "document": CHAIN}))["detail"]
    )
    assert (await door.http.delete("/workflows/main")).status_code == 200
    await door.get("/workflows/main", 404)
    assert (await door.get("/workflows/schema"))["title"] == "Workflow"


async def test_what_was_removed_comes_back_with_its_history(door: Door) -> None:
    await made(door)
    await patched(door, RETRY)
    await door.http.delete("/workflows/main")
    await patched(door, SLOWER, 400)
    [gone] = (await door.get("/workflows", removed=True))["items"]
    assert (gone["tag"], gone["version"], gone["removed_at"] is None) == ("main", 2, False)
    back = await door.post("/workflows/main/restore")
    assert (back["version"], back["removed_at"]) == (2, None)
    assert (await door.get("/workflows", removed=True))["items"] == []
    assert (await door.post("/workflows/main/undo", json={}))["workflow"]["version"] == 3
    assert [one["kind"] for one in (await door.get("/workflows/main/history"))["items"]] == ["undo", "patch", "create"]


async def test_the_last_one_of_a_tag_comes_back_and_only_where_the_tag_is_free(door: Door) -> None:
    assert "No workflow `main` was removed" in (await door.post("/workflows/main/restore", 404))["detail"]
    await made(door)
    await door.http.delete("/workflows/main")
    assert "restore" in (await door.post("/workflows/main/redo", 404, json={}))["hint"]
    await made(door, document=CHOICE)
    taken = await door.post("/workflows/main/restore", 409)
    assert "There is a workflow `main` already" in taken["detail"]
    await door.http.delete("/workflows/main")
    assert (await door.post("/workflows/main/restore"))["document"] == CHOICE


async def test_a_making_that_was_undone_is_made_again(door: Door) -> None:
    for way in ("redo", "restore"):
        first = await made(door, way)
        await door.post(f"/workflows/{way}/undo", json={"patch": first["patch"]["id"]})
        await door.get(f"/workflows/{way}", 404)
        await door.post(f"/workflows/{way}/{way}", json={})
        again = await door.get(f"/workflows/{way}")
        assert (again["version"], again["document"]) == (3, CHAIN)
        assert again["id"] == first["workflow"]["id"]


async def test_a_map_of_nodes_is_taken_too(door: Door) -> None:
    nodes = {node["id"]: {key: value for key, value in node.items() if key != "id"} for node in CHAIN["nodes"]}
    found = await made(door, "mapped", {"nodes": nodes, "edges": CHAIN["edges"]})
    assert {node["id"] for node in found["workflow"]["document"]["nodes"]} == {"fetch", "process", "keep"}


async def test_a_dry_run_says_everything_and_stores_nothing(door: Door) -> None:
    await made(door)
    tried = await patched(door, RETRY, dry_run=True, description="Tried again.")
    assert (tried["verdict"], tried["stored"]) == ("accept", False)
    assert tried["preview"]["base_version"] == 1
    assert tried["preview"]["changes"]
    assert tried["preview"]["diagram"].startswith("flowchart TD")
    assert tried["document"]["nodes"][0]["retry"] == {"max_attempts": 5}
    assert (await door.get("/workflows/main"))["version"] == 1


async def test_a_patch_is_stored_by_post_and_by_patch(door: Door) -> None:
    await made(door)
    first = await patched(door, RETRY, description="Tried again.")
    assert (first["workflow"]["version"], first["patch"]["operations"][-1]["path"]) == (2, "/nodes/0/retry")
    second = await door.http.patch("/workflows/main/patch", json={"operations": SLOWER, "base_version": 2})
    assert second.json()["workflow"]["version"] == 3
    late = await patched(door, RETRY, 409, base_version=1)
    assert "is at version 3; this change was made for version 1" in late["detail"]


async def test_a_refusal_has_its_reason_node_path_and_repair(door: Door) -> None:
    await made(door)
    ghost = [{"op": "add", "path": "/edges/-", "value": {"from": "keep", "to": "ghost"}}]
    response = await door.http.post("/workflows/main/patch", json={"operations": ghost})
    problem = response.json()
    assert response.status_code == 400
    assert response.headers["content-type"] == "application/problem+json"
    assert (problem["code"], problem["reason"]) == ("workflow-rejected", "dangling-edge")
    assert problem["path"]
    assert problem["repair"]
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


async def test_a_conflicting_undo_names_what_stands_in_the_way(door: Door) -> None:
    await made(door)
    first = await patched(door, RETRY, description="Tried again.")
    await patched(
        door, [{"op": "replace", "path": "/nodes/@fetch/retry/max_attempts", "value": 7}], description="Seven."
    )
    problem = await door.post("/workflows/main/undo", 409, json={"patch": first["patch"]["id"]})
    assert "node `fetch`" in problem["detail"]
    assert "version 3 (Seven.)" in problem["detail"]


async def test_a_whole_document_is_put_only_on_the_version_it_replaces(door: Door) -> None:
    await made(door)
    stale = await door.http.put("/workflows/main", json={"document": CHOICE, "base_version": 7})
    assert stale.status_code == 409
    put = await door.http.put("/workflows/main", json={"document": CHOICE, "base_version": 1})
    assert (put.status_code, put.json()["workflow"]["document"]) == (200, CHOICE)


async def test_a_patch_for_a_time_is_undone_by_itself(door: Door) -> None:
    await made(door)
    past = datetime.now(UTC) - timedelta(seconds=1)
    await patched(door, RETRY, 400, valid_until=past.isoformat())
    # Late enough that it is not past already when a busy machine comes to look at it.
    soon = datetime.now(UTC) + timedelta(seconds=4)
    await patched(door, RETRY, description="Tried again.", valid_until=soon.isoformat())
    async with asyncio.timeout(40):
        while (await door.get("/workflows/main"))["version"] < 3:
            await asyncio.sleep(0.1)
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


async def an_operator(database_url: str, key: str) -> None:
    db = Database(database_url)
    await db.open()
    async with db.transaction() as tx:
        await principals.add(tx, Role.OPERATOR, "ops", key)
    await db.close()


async def test_an_operator_proposes_and_the_owner_decides(opened: Open, database_url: str) -> None:
    async with opened(Parts(models=lambda db: only(OfflineModel(), db))) as door:
        await an_operator(database_url, "lw_ops")
        async with httpx.AsyncClient(base_url=door.url, headers={"Authorization": "Bearer lw_ops"}, timeout=30) as ops:
            new = [{"op": "replace", "path": "", "value": CHAIN}]
            assert (await ops.post("/workflows", json={"tag": "main", "document": CHAIN})).status_code == 403
            assert (await ops.post("/workflows/main/patch", json={"operations": new})).status_code == 403
            asked = await ops.post(
                "/workflows/main/patch", json={"operations": new, "ask": True, "description": "Made."}
            )
            assert asked.status_code == 202, asked.text
            job = asked.json()["job_id"]
            await door.until(job, "waiting")
            (approval,) = (await door.get("/approvals", state="pending"))["items"]
            assert (await ops.get("/workflows")).json()["items"] == []
            await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
            await door.until(job)
            assert [one["tag"] for one in (await ops.get("/workflows")).json()["items"]] == ["main"]
            assert (await ops.get("/workflows/main", params={"owner": "owner"})).status_code == 403
        assert (await door.get("/workflows"))["items"] == []
        assert (await door.get("/workflows/main", owner="ops"))["document"] == CHAIN


async def test_a_dry_run_asks_nobody_and_a_time_that_is_past_is_not_asked_about(door: Door) -> None:
    await made(door)
    tried = await patched(door, RETRY, dry_run=True, ask=True)
    assert (tried["stored"], tried["preview"]["version"]) == (False, 2)
    past = {"operations": RETRY, "ask": True, "valid_until": "2020-01-01T00:00:00Z"}
    refused = await door.post("/workflows/main/patch", 400, json=past)
    assert refused["detail"] == "`valid_until` is past already."
    assert (await door.get("/messages"))["items"] == []


async def test_a_change_asked_about_for_somebody_else_is_made_to_their_workflow(
    opened: Open, database_url: str
) -> None:
    async with opened(Parts(models=lambda db: only(OfflineModel(), db))) as door:
        await an_operator(database_url, "lw_ops")
        for owner in ({}, {"owner": "ops"}):
            made = await door.http.post("/workflows", params=owner, json={"tag": "main", "document": CHAIN})
            assert made.status_code == 201, made.text
        first = CHAIN["nodes"][0]["id"]
        operations = [{"op": "add", "path": f"/nodes/@{first}/timeout_ms", "value": 4321}]
        asked = await door.http.post(
            "/workflows/main/patch", params={"owner": "ops"}, json={"operations": operations, "ask": True}
        )
        assert asked.status_code == 202, asked.text
        await door.until(asked.json()["job_id"], "waiting")
        (approval,) = (await door.get("/approvals", state="pending"))["items"]
        await door.post(f"/approvals/{approval['id']}", json={"answer": "approve"})
        await door.until(asked.json()["job_id"])
        assert (await door.get("/workflows/main", owner="ops"))["version"] == 2
        assert (await door.get("/workflows/main"))["version"] == 1


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
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    bad: dict[str, tuple[str | bytes, int]] = {
        "references": (bomb, 400), "objects": ("!!python/object/apply:os.system ['true']", 400),
        "text": ("just text", 400),
        "twice": ("nodes: []\nnodes: []\nedges: []", 400), "deep": ("[" * 5000, 400), "broken": ("a: [", 400),
        "two": ("nodes: []\n---\nedges: []", 400), "bytes": (b"\xff\xfe\xfa", 400), "empty": ("", 400),
        "digits": (f"nodes: {'9' * 9000}", 400), "large": ("x: " + "y" * 1_000_001, 413),
    }  # fmt: skip
    for name, (body, status) in bad.items():
        answer = await sent(door, "POST", "/workflows?tag=main", body)
        assert answer.status_code == status, (name, answer.text)
    assert (await sent(door, "POST", "/workflows?tag=main", "nodes: []", "text/plain")).status_code == 415
    assert (await door.get("/workflows"))["items"] == []
