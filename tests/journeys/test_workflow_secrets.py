"""A secret that is written out in a workflow is refused at every door, before anything is stored or a model sees it."""

from __future__ import annotations

import json
from typing import Any

from laneway.app import Parts
from laneway.llm.scripted import Asked, Say, ScriptedModel, Turn
from laneway.llm.single import only
from laneway.settings.sources import keep_secrets
from tests.journeys.redis_queue import Producer
from tests.journeys.tooling import Start
from tests.lanes.workflow.stored_documents import CHAIN
from tests.servers.pages import Pages
from tests.serving import scripted
from tests.web.conftest import Door, Open

KEY = "sk-live-0123456789abcdef"
AT = "/nodes/0/config/headers/Authorization"


def written(secret: str = f"Bearer {KEY}") -> dict[str, Any]:
    headers = {"Authorization": secret}
    return {
        "nodes": [{"id": "fetch", "type": "http", "config": {"url": "https://a.example", "headers": headers}}],
        "edges": [],
    }


PUT = [{"op": "add", "path": "/nodes/@fetch/config", "value": written()["nodes"][0]["config"]}]
GONE = [{"op": "add", "path": "/metadata", "value": {"note": f"Bearer {KEY}"}}, {"op": "remove", "path": "/metadata"}]
YAML = json.dumps(written())
LASTING = (
    f"Every morning at 9 fetch https://api.example/prices with Authorization: Bearer {KEY} and mail me",
    f"Make a workflow: fetch https://bob:{KEY}@shop.example/orders daily and notify me",
    f"add an http step that sends the api key {KEY}",
)
SENTENCES = (f"set the url of fetch to https://x.example/?api_key={KEY}", f"the header of fetch is Bearer {KEY} now")
HARMLESS = {
    "url": "https://login.example/oauth2/v2.0/token?sort_key=date2024",
    "headers": {"Idempotency-Key": "0b6a1c1e-8d2f-4c55-9a39-6f1d2b7c8e90", "Authorization": "Bearer your-token-here"},
}


def stored(door: Door) -> list[str]:
    """Tables in which the key stands."""
    names = door.rows("SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE' "
                      "AND table_schema NOT IN ('pg_catalog', 'information_schema')")  # fmt: skip
    return [
        table for schema, table in names
        if door.rows(f'SELECT 1 FROM "{schema}"."{table}" t WHERE t::text LIKE %s LIMIT 1', f"%{KEY}%")
    ]  # fmt: skip


async def refused_in_patches(door: Door) -> None:
    """No patch, tag or schedule with the key is taken."""
    for more in ({}, {"ask": True}, {"dry_run": True}):
        for operations in (PUT, GONE):
            answer = await door.post("/workflows/main/patch", 400, json={"operations": operations, **more})
            assert answer["reason"] == "secret"
    described = {"operations": [{"op": "add", "path": "/metadata", "value": {}}], "description": f"Bearer {KEY}"}
    assert (await door.post("/workflows/main/patch", 400, json=described))["reason"] == "secret"
    await door.post("/messages", 400, json={"text": "x", "lane": "workflow", "payload": {"patch": {
        "workflow_tag": "main", "operations": [{"op": "add", "path": f"{AT}", "value": "letmein"}]}}})  # fmt: skip
    for field in ("description", "workflow_tag"):
        patch = {"workflow_tag": "main", "operations": [{"op": "test", "path": "/nodes", "value": []}], field: KEY}
        answer = await door.post("/messages", 400, json={"text": "x", "lane": "workflow", "payload": {"patch": patch}})
        assert (answer["reason"], answer["path"]) == ("secret", f"/{field}")
    for below in ({"password": ["letmein"]}, {KEY: "1"}, {"token": f"${{'{KEY}'}}"}):
        answer = await door.post("/workflows/main/patch", 400, json={"operations": [
            {"op": "add", "path": "/metadata", "value": below}]})  # fmt: skip
        assert answer["reason"] == "secret"
        assert KEY not in str(answer)
    assert (await door.post("/workflows", 400, json={"tag": KEY, "document": CHAIN}))["reason"] == "secret"
    daily = {"when": "every day at 9", "text": f"add a step to main that calls https://x.example with Bearer {KEY}"}
    answer = await door.post("/schedules", 400, json=daily)
    assert (answer["reason"], answer["path"]) == ("secret", "/text")


async def test_every_door_refuses_it_with_its_place_and_nothing_of_it_is_stored_or_sent(opened: Open) -> None:
    seen: list[str] = []

    def script(asked: Asked) -> Turn:
        seen.append(str(asked.messages))
        return Say("That is nothing I can change.")

    async with opened(scripted(script)) as door:
        await door.post("/workflows", 201, json={"tag": "main", "document": CHAIN})
        base = (await door.get("/workflows/main"))["version"]
        yaml = {"content": YAML, "headers": {"Content-Type": "application/yaml"}}
        for answer in (
            await door.post("/workflows", 400, json={"tag": "other", "document": written()}),
            await door.post("/workflows?tag=other", 400, **yaml),
            await door.put("/workflows/main", 400, json={"document": written(), "base_version": base}),
            await door.post("/workflows/other/patch", 400, json={"operations": [
                {"op": "replace", "path": "", "value": written()}]}),
            await door.post("/test/chat", 400, json={"prompt": "always mail me", "current_workflow": written()}),
            await door.post("/messages", 400, json={"text": "mail me", "runner": {"current_workflow": {
                "nodes": {"fetch": written()["nodes"][0]}}}}),
        ):  # fmt: skip
            assert (answer["reason"], answer["node"]) == ("secret", "fetch"), answer
            assert answer["path"] in (AT, AT.replace("/0/", "/fetch/"))
            assert "laneway secrets set NAME" in answer["hint"]
            assert "${$secrets.NAME}" in answer["hint"]
            assert KEY not in str(answer)
        await refused_in_patches(door)
        for text in LASTING:
            for lane in ({}, {"lane": "workflow"}):
                answer = await door.post("/messages", 400, json={"text": text, **lane})
                assert (answer["reason"], answer["path"]) == ("secret", "/text"), text
            await door.post("/test/chat", 400, json={"prompt": text})
        assert stored(door) == []
        for text in SENTENCES:
            await door.post("/messages", 400, json={"text": text, "lane": "workflow"})
        # Known for a change of a step only when its lane is found.
        answer = await door.ask(SENTENCES[0])
        assert "The text holds a secret" in answer["replies"][-1]["text"] or answer["jobs"][0]["result"]["failed"]
        assert stored(door) == []
        assert not any(KEY in one for one in seen)
        placeholder = written("Bearer ${$secrets.SHOP_TOKEN}")
        assert (await door.post("/workflows", 201, json={"tag": "shop", "document": placeholder}))["workflow"]["tag"]
        plain = written()
        plain["nodes"][0]["config"] = HARMLESS
        await door.post("/workflows", 201, json={"tag": "plain", "document": plain})


async def test_a_workflow_of_old_that_holds_one_is_shown_to_no_model(opened: Open) -> None:
    seen: list[str] = []

    def script(asked: Asked) -> Turn:
        seen.append(str(asked.messages))
        return Say("What shall I change?")

    async with opened(scripted(script)) as door:
        await door.post("/workflows", 201, json={"tag": "main", "document": CHAIN})
        door.rows("UPDATE workflow_versions SET document = %s", json.dumps(written()))
        door.rows("UPDATE workflows SET document = %s", json.dumps(written()))
        for more in ({}, {"runner": {"workflow_tag": "main"}}):
            answer = await door.ask("make it nicer", lane="workflow", **more)
            assert "Node 'fetch' holds a secret" in answer["replies"][-1]["text"]
        assert seen == []


async def test_a_job_from_the_queue_is_refused_and_its_dead_letter_has_no_secret(queue: Start[Producer]) -> None:
    async with queue() as producer:
        await producer.push("j1", "always mail me", current_workflow=written())
        result = await producer.result("j1")
        assert (result["status"], result["error"]["type"]) == ("failed", "workflow-rejected")
        assert AT.removeprefix("/nodes/0") in result["error"]["message"]
        [letter] = await producer.redis.lrange("agent:dead", 0, -1)
        assert b"always mail me" in letter
        assert KEY.encode() not in letter
        nested = written("none")
        nested["nodes"][0]["config"]["password"] = ["letmein", {"value": f"${{'{KEY}'}}"}]
        await producer.push("j2", "always mail me", current_workflow=nested)
        assert (await producer.result("j2"))["error"]["type"] == "workflow-rejected"
        letters = str(await producer.redis.lrange("agent:dead", 0, -1))
        assert KEY not in letters
        assert "letmein" not in letters
        assert await producer.jobs() == []


async def test_a_question_about_a_key_is_answered_and_the_model_that_judges_it_is_told_no_key(opened: Open) -> None:
    judged: list[str] = []

    def judge(asked: Asked) -> Turn:
        judged.append(str(asked.messages))
        return Say("question")

    models = Parts(models=lambda db: only(ScriptedModel([Say("It is too short.")]), db, classify=ScriptedModel(judge)))
    async with opened(models) as door:
        answer = await door.ask(f"the shop header Authorization: Bearer {KEY}, hm")
        assert answer["jobs"][0]["status"] == "done"
        assert judged
        assert not any(KEY in one for one in judged)


async def test_what_was_set_while_the_server_runs_is_sent_by_the_workflow_that_names_it(opened: Open) -> None:
    with Pages() as pages:
        async with opened(allowed_hosts=[f"127.0.0.1:{pages.port}"]) as door:
            document = written("Bearer ${$secrets.SHOP_TOKEN}")
            document["nodes"][0]["config"]["url"] = f"{pages.url}/echo"
            await door.post("/workflows", 201, json={"tag": "shop", "document": document})
            keep_secrets(door.home, {"SHOP_TOKEN": KEY})
            run = await door.post("/workflows/shop/execute", 202, json={})
            await door.until(run["job_id"])
            [visit] = pages.visits
            assert visit.headers["authorization"] == f"Bearer {KEY}"
            assert stored(door) == []
