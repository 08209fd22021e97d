"""The settings decide which models are asked, and nothing is asked twice over."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models import Model

from laneway.errors import SettingsError
from laneway.llm.choice import Models, choose
from laneway.llm.probe import probe
from laneway.settings import Settings
from laneway.store.database import Database
from tests.llm.conftest import Naps, add, ask, listen, rows
from tests.servers import AnthropicServer, Fail, OpenAIServer, Say

KEY = "sk-ant-api03-0123456789"
TOKEN = "sk-ant-oat01-0123456789"


def chosen(db: Database, **environment: str) -> Models:
    settings = Settings.load({"LANEWAY_HOME": "/nonexistent", **environment}, Path("/nonexistent"))
    return choose(settings, db, sleep=Naps(), chance=lambda: 1.0)


def role(models: Models, small: bool) -> tuple[Model, Any]:
    if small:
        assert models.classify is not None
        return models.classify, models.classify_settings
    return models.execute, models.execute_settings


async def test_without_a_key_the_offline_model_executes_and_no_model_classifies(db: Database) -> None:
    models = chosen(db)
    assert (models.execute.system, models.classify) == ("offline", None)
    assert models.description == "offline (no model key set)"
    await Agent(models.execute, model_settings=models.execute_settings).run("Hello")
    [row] = await rows(db)
    assert (row.provider, row.state, row.cost) == ("offline", "settled", Decimal(0))


async def test_a_key_of_anthropic_chooses_its_strong_and_its_small_model(db: Database) -> None:
    with AnthropicServer(api_key=KEY) as server:
        models = chosen(db, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=server.url)
        for small in (False, True):
            model, how = role(models, small)
            await Agent(model, tools=[add], instructions="Be brief.", model_settings=how).run("Hello")
        await models.close()
    strong, small_one = (request.body for request in server.requests)
    assert strong["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert models.description == "anthropic: claude-sonnet-5-5, small model claude-haiku-5-5"
    assert (strong["model"], strong["max_tokens"]) == ("claude-sonnet-5-5", 4000)
    assert "temperature" not in strong
    assert (small_one["model"], small_one["max_tokens"]) == ("claude-haiku-5-5", 400)
    assert strong["system"][0]["cache_control"]["type"] == "ephemeral"
    assert models.execute_settings["timeout"] == 120
    assert models.classify_settings["timeout"] == 30
    assert [row.provider for row in await rows(db)] == ["claude", "haiku"]


@pytest.mark.parametrize(
    ("name", "taken"),
    [("anthropic:claude-haiku-4-5", True), ("anthropic:claude-haiku-5-5", False), ("openai:gpt-5-mini", False)],
)
async def test_a_temperature_is_given_only_to_models_that_take_one(
    db: Database, anthropic_server: AnthropicServer, openai_server: OpenAIServer, name: str, taken: bool
) -> None:
    urls = {"ANTHROPIC_BASE_URL": anthropic_server.url, "OPENAI_BASE_URL": openai_server.url}
    models = chosen(db, ANTHROPIC_API_KEY=KEY, **urls, DEFAULT_MODEL=name)
    model, how = role(models, small=True)
    await ask(model, settings=how)
    await models.close()
    [request] = anthropic_server.requests + openai_server.requests
    assert ("temperature" in request.body) == taken


async def test_an_oauth_token_is_sent_as_a_bearer_with_its_beta(db: Database) -> None:
    with AnthropicServer(api_key=TOKEN) as server:
        models = chosen(db, CLAUDE_CODE_OAUTH_TOKEN=TOKEN, ANTHROPIC_BASE_URL=server.url)
        await ask(models.execute)
        assert await listen(models.execute) == "echo: Hello"
        assert await probe(models) is None
        await models.close()
    for request in server.requests:
        assert request.auth == "bearer"
        assert "oauth-2025-04-20" in request.headers["anthropic-beta"].split(",")


async def test_the_small_model_may_have_a_key_of_its_own(db: Database) -> None:
    with AnthropicServer(api_key="the-small-ones-key") as server:
        keys = {"ANTHROPIC_API_KEY": KEY, "HAIKU_API_KEY": "the-small-ones-key"}
        models = chosen(db, **keys, ANTHROPIC_BASE_URL=server.url)
        await ask(role(models, small=True)[0])
        with pytest.raises(Exception, match=r"did not accept our key .*Check ANTHROPIC_API_KEY"):
            await ask(models.execute)
        await models.close()


async def test_a_key_of_openai_chooses_its_models(db: Database) -> None:
    models = chosen(db, OPENAI_API_KEY="sk-any")
    assert models.description == "openai: gpt-5.4, small model gpt-5.4-mini"
    only_small = chosen(db, HAIKU_API_KEY=KEY)
    assert (only_small.execute.system, role(only_small, small=True)[0].model_name) == ("offline", "claude-haiku-5-5")


async def test_any_compatible_server_answers(db: Database, openai_server: OpenAIServer) -> None:
    openai_server.script.then(Say("local", tokens_in=5, tokens_out=1))
    local = {"OPENAI_BASE_URL": openai_server.url, "DEFAULT_MODEL": "openai:llama3:8b"}
    models = chosen(db, **local, LANEWAY_ALLOW_UNKNOWN_PRICE="true")
    assert (await ask(models.execute)).text == "local"
    assert models.description == "openai: llama3:8b"
    assert openai_server.requests[0].body["model"] == "llama3:8b"
    await models.close()


async def test_a_default_model_beats_the_keys_present(db: Database) -> None:
    models = chosen(db, ANTHROPIC_API_KEY=KEY, DEFAULT_MODEL="scripted")
    assert (await ask(models.execute, "ping")).text == "You said: ping"
    assert models.classify is None
    assert models.description == "scripted (chosen by DEFAULT_MODEL)"


async def test_a_choice_that_cannot_work_says_what_is_missing(db: Database) -> None:
    for name, value, sentence in (
        ("DEFAULT_MODEL", "anthropic:claude-sonnet-5-5", "ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN"),
        ("DEFAULT_MODEL", "openai:gpt-5.4", "OPENAI_API_KEY"),
        ("DEFAULT_MODEL", "gpt-5.4", "Write anthropic:MODEL, openai:MODEL"),
        ("DEFAULT_MODEL", "anthropic:", "names no model"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1", "DEFAULT_MODEL=openai:MODEL"),
        ("LANEWAY_FALLBACK_MODELS", "teapot", "`teapot` names no model"),
    ):
        with pytest.raises(SettingsError, match=sentence):
            chosen(db, **{name: value})


async def test_fallback_models_stand_behind_both_roles(
    db: Database, anthropic_server: AnthropicServer, openai_server: OpenAIServer
) -> None:
    anthropic_server.script.default = Fail(529)
    urls = {"ANTHROPIC_BASE_URL": anthropic_server.url, "OPENAI_BASE_URL": openai_server.url}
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": "sk-any"}
    models = chosen(db, **keys, **urls, LANEWAY_FALLBACK_MODELS="openai:gpt-5.4-mini, offline")
    for small in (False, True):
        model, how = role(models, small)
        assert (await ask(model, settings=how)).model_name == "gpt-5.4-mini"
    await models.close()
    # The SDK does not try again by itself: three tries of ours for each role.
    assert len(anthropic_server.requests) == 6
    assert models.description.endswith("then openai:gpt-5.4-mini, then offline")


async def test_the_doctor_learns_which_key_is_wrong_and_which_server_is_not_there(db: Database) -> None:
    async def told(**environment: str) -> str:
        models = chosen(db, **environment)
        sentence = await probe(models)
        await models.close()
        return sentence or "nothing"

    assert await told() == "nothing"
    with AnthropicServer(api_key="another") as server:
        refused = await told(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=server.url)
    assert "did not accept our key" in refused
    assert "Check ANTHROPIC_API_KEY." in refused
    assert KEY not in refused
    with OpenAIServer() as other:
        assert await told(OPENAI_BASE_URL=other.url, DEFAULT_MODEL="openai:llama3") == "nothing"
    assert [request.path for request in other.requests] == ["/v1/models"]
    assert "connection" in await told(OPENAI_BASE_URL=other.url, DEFAULT_MODEL="openai:llama3")
