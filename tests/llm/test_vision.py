"""Images are described by a model that can see, which is asked only where there is one."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from laneway.errors import ModelFault
from laneway.llm.meter import Caps, Meter
from laneway.llm.prompts import Prompts
from laneway.llm.vision import Describer, describer_of, vision_spec
from laneway.settings import Settings
from laneway.store.database import Database
from tests.channels.attachments import made
from tests.servers import AnthropicServer, Fail, OpenAIServer, Say, Script


def looking(db: Database, home: Path, **settings: Any) -> Describer:
    chosen = Settings(home=home, **settings)
    describer = describer_of(chosen, Meter(db, Caps()), Prompts(home))
    assert describer is not None
    return describer


async def test_a_model_of_openai_sees_the_picture_and_is_paid(db: Database, tmp_path: Path) -> None:
    picture = made.picture(form="JPEG")
    with OpenAIServer(Script(Say("A red door.")), api_key="sk-1") as server:
        describer = looking(
            db, tmp_path, openai_api_key="sk-1", openai_base_url=server.url, vision_model="openai:gpt-4.1-mini"
        )
        assert await describer.describe(picture, "image/jpeg") == "A red door."
        await describer.close()
    shown = server.requests[0].body["messages"][-1]["content"][1]["image_url"]["url"]
    assert base64.b64decode(shown.removeprefix("data:image/jpeg;base64,")) == picture
    assert "tools" not in server.requests[0].body
    async with db.transaction() as tx:
        cursor = await tx.execute("SELECT provider, model, state, cost > 0 FROM token_ledger")
        assert await cursor.fetchall() == [("openai", "gpt-4.1-mini", "settled", True)]


async def test_the_small_model_of_anthropic_looks_by_default(db: Database, tmp_path: Path) -> None:
    with AnthropicServer(Script(Say("A cat."))) as server:
        describer = looking(db, tmp_path, anthropic_api_key="sk-ant", anthropic_base_url=server.url)
        assert await describer.describe(made.picture(form="JPEG"), "image/jpeg") == "A cat."
        await describer.close()
    body = server.requests[0].body
    assert body["model"] == "claude-haiku-5-5"
    assert body["messages"][0]["content"][1]["type"] == "image"


async def test_a_model_that_fails_is_a_fault(db: Database, tmp_path: Path) -> None:
    with OpenAIServer(Script(Fail(400))) as server:
        describer = looking(
            db, tmp_path, openai_api_key="sk-1", openai_base_url=server.url, vision_model="openai:gpt-4.1-mini"
        )
        with pytest.raises(ModelFault):
            await describer.describe(b"x", "image/jpeg")
        await describer.close()


def spec(**settings: Any) -> str | None:
    return vision_spec(Settings(home=Path("/nowhere"), **settings))


def test_nobody_looks_without_a_key_when_told_not_to_or_when_the_model_may_be_blind() -> None:
    assert spec() is None
    assert spec(default_model="offline") is None
    assert spec(anthropic_api_key="k", describe_images=False) is None
    assert spec(openai_base_url="http://127.0.0.1:11434/v1", default_model="openai:llama") is None
    assert spec(openai_base_url="http://127.0.0.1:11434/v1", vision_model="openai:llava") == "openai:llava"
    assert spec(anthropic_api_key="k") == "anthropic:claude-haiku-5-5"
    assert spec(openai_api_key="k") == "openai:gpt-5.4-mini"
