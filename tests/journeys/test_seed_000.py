"""Seed 000 through the HTTP door: the reactive worker's complete flow, with its own example."""

from __future__ import annotations

import json
import re

import psycopg

from laneway.app import Parts
from laneway.llm.offline import OfflineModel
from laneway.llm.single import only
from tests.servers import AnthropicServer, CallTool, Say, Script
from tests.web.conftest import Open


async def test_what_is_the_server_uptime_without_any_key(opened: Open) -> None:
    async with opened(Parts(models=lambda db: only(OfflineModel(), db))) as door:
        answered = await door.ask("What's the server uptime?")
        assert re.search(r"up for .*(second|minute|hour|day)", answered["replies"][0]["text"])
        why = await door.get(f"/messages/{answered['id']}/why")
        assert why["classification"]["intent"] == "question"
        assert why["classification"]["needs_confirmation"] is False
        assert [tool["tool"] for tool in why["jobs"][0]["tools"]] == ["server_info"]


async def test_the_same_flow_with_both_models_over_the_real_protocol(opened: Open, database_url: str) -> None:
    judgement = {
        "intent": "question",
        "summary": "User asks about server uptime",
        "plan": "Check server uptime",
        "needs_confirmation": False,
        "confidence": 0.92,
    }
    script = Script(
        Say(json.dumps(judgement)),
        CallTool("server_info", {"topics": ["uptime"]}),
        Say("The server has been up for 5 days, 3 hours, 22 minutes."),
    )
    with AnthropicServer(script) as server:
        async with opened(Parts(), anthropic_api_key="sk-test-123456", anthropic_base_url=server.url) as door:
            answered = await door.ask("the uptime thing again, like yesterday")
        assert answered["replies"][0]["text"] == "The server has been up for 5 days, 3 hours, 22 minutes."
        models = [request.body["model"] for request in server.requests]
    assert models == ["claude-haiku-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5"]
    with psycopg.connect(database_url) as connection:
        ledger = connection.execute(
            "SELECT scope, provider, model, meta_json->>'prompt' <> '', tokens_total > 0 FROM token_ledger ORDER BY id"
        ).fetchall()
    assert ledger == [
        ("reactive", "haiku", "claude-haiku-5-5", True, True),
        ("reactive", "claude", "claude-sonnet-5-5", True, True),
        ("reactive", "claude", "claude-sonnet-5-5", True, True),
    ]


async def test_the_stable_prefix_of_a_prompt_is_read_from_the_providers_cache(opened: Open) -> None:
    with AnthropicServer(Script()) as server:
        async with opened(Parts(), anthropic_api_key="sk-test-123456", anthropic_base_url=server.url) as door:
            await door.ask("what is one?", thread="a")
            second = await door.ask("what is two?", thread="b")
            why = await door.get(f"/messages/{second['id']}/why")
    (call,) = why["jobs"][0]["model_calls"]
    assert call["tokens_cached"] > 500
