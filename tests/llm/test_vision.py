"""Images are described by a model that can see, which is asked only where there is one."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from laneway.errors import ModelFault
from laneway.llm.meter import Caps, Meter
from laneway.llm.prompts import Prompts
from laneway.llm.vision import describer_of, vision_spec
from laneway.settings import Settings
from laneway.store.database import Database
from tests.channels.attachments import made
from tests.llm.conftest import rows
from tests.servers import AnthropicServer, Fail, OpenAIServer, Say

PICTURE = made.picture(form="JPEG")


async def described(db: Database, home: Path, **settings: Any) -> str:
    describer = describer_of(Settings(home=home, **settings), Meter(db, Caps()), Prompts(home))
    assert describer is not None
    try:
        return await describer.describe(PICTURE, "image/jpeg")
    finally:
        await describer.close()


async def test_a_model_of_openai_sees_the_picture_and_is_paid(
    db: Database, tmp_path: Path, openai_server: OpenAIServer
) -> None:
    given = {"openai_api_key": "k", "openai_base_url": openai_server.url, "vision_model": "openai:gpt-4.1-mini"}
    openai_server.script.then(Say("A red door."), Fail(400))
    assert await described(db, tmp_path, **given) == "A red door."
    body = openai_server.requests[0].body
    shown = body["messages"][-1]["content"][1]["image_url"]["url"]
    assert base64.b64decode(shown.removeprefix("data:image/jpeg;base64,")) == PICTURE
    assert "tools" not in body
    with pytest.raises(ModelFault):
        await described(db, tmp_path, **given)
    paid, refused = await rows(db)
    assert (paid.provider, paid.model, paid.state, paid.cost > 0) == ("openai", "gpt-4.1-mini", "settled", True)
    assert refused.state == "released"


async def test_the_small_model_of_anthropic_looks_by_default(
    db: Database, tmp_path: Path, anthropic_server: AnthropicServer
) -> None:
    anthropic_server.script.then(Say("A cat."))
    given = {"anthropic_api_key": "sk-ant", "anthropic_base_url": anthropic_server.url}
    assert await described(db, tmp_path, **given) == "A cat."
    body = anthropic_server.requests[0].body
    assert (body["model"], body["messages"][0]["content"][1]["type"]) == ("claude-haiku-5-5", "image")


def test_nobody_looks_without_a_key_when_told_not_to_or_when_the_model_may_be_blind() -> None:
    def spec(**settings: Any) -> str | None:
        return vision_spec(Settings(home=Path("/nowhere"), **settings))

    own = {"openai_base_url": "http://127.0.0.1:11434/v1"}
    assert spec() is spec(default_model="offline") is spec(anthropic_api_key="k", describe_images=False) is None
    assert spec(**own, default_model="openai:llama") is None
    assert spec(**own, vision_model="openai:llava") == "openai:llava"
    assert spec(anthropic_api_key="k") == "anthropic:claude-haiku-5-5"
    assert spec(openai_api_key="k") == "openai:gpt-5.4-mini"
