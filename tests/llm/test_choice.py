"""The settings decide which models are asked, and nothing is asked twice over."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.models import Model

from laneway.errors import SettingsError
from laneway.llm import prices
from laneway.llm.choice import Models, choose, with_served_model
from laneway.llm.probe import probe
from laneway.settings import Settings
from laneway.store.database import Database
from tests.llm.conftest import Naps, add, ask, listen, rows
from tests.servers import AnthropicServer, Fail, OpenAIServer, Say

NOWHERE = Path("/nonexistent")
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
    # Rules read no tokens: a cap on tokens leaves them alone.
    assert (row.tokens_total, row.reserved_tokens, row.meta_json.get("estimated")) == (0, 0, None)
    free = chosen(db, LANEWAY_BUDGET_DAY_TOKENS="0", LANEWAY_BUDGET_DAY_USD="0")
    assert "Hello" in str((await Agent(free.execute, model_settings=free.execute_settings).run("Hello")).output)


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
    models = chosen(db, **local)
    assert (await ask(models.execute)).text == "local"
    assert models.description == "openai: llama3:8b"
    assert openai_server.requests[0].body["model"] == "llama3:8b"
    await models.close()


def listing(*names: str) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}


async def served(openai_server: OpenAIServer, answer: Any, **more: str) -> tuple[str | None, str]:
    """The model that is taken where nothing but the server's address is given, and why none is."""
    openai_server.listing = answer  # type: ignore[misc]
    settings = Settings.load({"LANEWAY_HOME": "/nonexistent", "OPENAI_BASE_URL": openai_server.url, **more}, NOWHERE)
    found, why = await with_served_model(settings)
    return found.default_model, why


async def test_the_address_of_a_server_is_enough_where_it_has_one_model(
    db: Database, openai_server: OpenAIServer
) -> None:
    name, why = await served(openai_server, listing("qwen2.5-coder-1.5b"))
    assert (name, why) == ("openai:qwen2.5-coder-1.5b", "")
    models = chosen(db, OPENAI_BASE_URL=openai_server.url, DEFAULT_MODEL=str(name))
    assert (await ask(models.execute)).text == "echo: Hello"
    await models.close()
    # Nobody sends a bill for what runs here; its tokens count all the same.
    [row] = await rows(db)
    assert (row.state, row.cost + row.reserved_cost, row.tokens_total > 0) == ("settled", Decimal(0), True)
    assert "price" not in row.meta_json


async def test_a_server_with_several_models_or_with_none_is_not_asked_and_its_models_are_named(
    db: Database, openai_server: OpenAIServer
) -> None:
    many = [f"m{number}" for number in range(30)]
    for answer, says in (
        (listing("llama3:8b", "qwen"), "has 2 models: llama3:8b, qwen; set DEFAULT_MODEL=openai:MODEL"),
        (listing(*many), "has 30 models: m0, m1,"), ({"object": "list", "data": None}, "has 0 models; set"),
        (["odd"], "has 0 models"), ({"data": [3, {"id": None}]}, "has 0 models"),
    ):  # fmt: skip
        name, why = await served(openai_server, answer)
        assert (name, says in why, "m25" in why) == (None, True, False), why
        settings = Settings.load({"LANEWAY_HOME": "/nonexistent", "OPENAI_BASE_URL": openai_server.url}, NOWHERE)
        assert choose(settings, db, unserved=why).description == f"offline ({why})"
    asked = len(openai_server.requests)
    for named in ({"DEFAULT_MODEL": "openai:qwen"}, {"CLAUDE_MODEL": "qwen"}, {"ANTHROPIC_API_KEY": KEY}):
        assert (await served(openai_server, listing("llama3"), **named))[1] == ""
    assert len(openai_server.requests) == asked, "whoever names a model need not be told which there are"


async def test_a_server_that_does_not_list_its_models_is_no_reason_not_to_start(openai_server: OpenAIServer) -> None:
    with OpenAIServer() as gone, OpenAIServer(api_key="right") as closed:
        _, refused = await served(closed, listing("one"), OPENAI_API_KEY="sk-wrong")
        assert await served(closed, listing("one"), OPENAI_API_KEY="right") == ("openai:one", "")
    _, silent = await served(gone, listing("one"))
    assert "did not accept our key (HTTP 401). Check OPENAI_API_KEY." in refused
    assert "The connection to 127.0.0.1:" in silent
    assert all(why.endswith("or set DEFAULT_MODEL=openai:MODEL") for why in (refused, silent))
    assert "sk-wrong" not in refused


def test_what_is_called_on_this_machine_or_in_a_private_network_is_free() -> None:
    ours = (
        "http://127.0.0.1:1/v1",
        "http://localhost/v1",
        "http://[::1]:8/v1",
        "http://192.168.1.4:11434/v1",
        "http://10.0.0.9",
    )
    theirs = (
        "https://1.1.1.1/v1",
        "http://[2606:4700:4700::1111]/v1",
        "http://nowhere.invalid/v1",
        "nonsense",
        "http://[x/v1",
    )
    assert [prices.is_own(address) for address in (*ours, *theirs)] == [True] * len(ours) + [False] * len(theirs)


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
        other.script.then(Fail(404))
        assert "knows no model `llama3`" in await told(OPENAI_BASE_URL=other.url, DEFAULT_MODEL="openai:llama3")
    # The one thing that shows that a model answers is that it does.
    assert [(request.path, request.body["model"]) for request in other.requests] == [
        ("/v1/chat/completions", "llama3")
    ] * 2
    assert "connection" in await told(OPENAI_BASE_URL=other.url, DEFAULT_MODEL="openai:llama3")
