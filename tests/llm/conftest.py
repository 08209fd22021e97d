"""What tests of models share: providers on loopback and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from laneway.llm.meter import Caps, Meter, MeteredModel
from laneway.llm.retry import RetryingModel
from laneway.store.database import Database
from tests.servers import AnthropicServer, OpenAIServer


@pytest.fixture
def anthropic_server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


class Naps:
    """A sleep that takes no time and remembers how long it was asked to take."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


@pytest.fixture
def naps() -> Naps:
    return Naps()


def anthropic(server: AnthropicServer, name: str = "claude-sonnet-5-5", key: str = "any") -> Model:
    """The real model over the real SDK, talking to the loopback server."""
    client = AsyncAnthropic(api_key=key, base_url=server.url, max_retries=0)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def openai(server: OpenAIServer, name: str = "gpt-5-mini") -> Model:
    """The real model over the real SDK, talking to the loopback server."""
    client = AsyncOpenAI(api_key="any", base_url=server.url, max_retries=0)
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))


def said(text: str, instructions: str | None = None) -> list[ModelMessage]:
    """A conversation in which a user has said a text."""
    return [ModelRequest.user_text_prompt(text, instructions=instructions)]


async def ask(
    model: Model, text: str = "Hello", *, instructions: str | None = None, settings: ModelSettings | None = None
) -> ModelResponse:
    """The model's answer to one text."""
    settings = settings or ModelSettings(max_tokens=1000)
    return await model.request(said(text, instructions), settings, ModelRequestParameters())


async def listen(model: Model, text: str = "Hello", *, settings: ModelSettings | None = None) -> str:
    """The model's answer to one text, listened to as it comes."""
    settings = settings or ModelSettings(max_tokens=1000)
    async with model.request_stream(said(text), settings, ModelRequestParameters()) as stream:
        async for _ in stream:
            pass
        return stream.get().text or ""


@dataclass(frozen=True)
class Row:
    """A row of the ledger as a test looks at it."""

    state: str
    scope: str
    provider: str
    model: str
    tokens_input: int
    tokens_output: int
    tokens_total: int
    tokens_cached: int
    tokens_reasoning: int
    cost: Decimal
    reserved_tokens: int
    reserved_cost: Decimal
    meta_json: dict[str, Any]


async def rows(db: Database) -> list[Row]:
    """The whole ledger, in the order of its calls."""
    names = ", ".join(Row.__dataclass_fields__)
    async with db.transaction() as tx:
        cursor = await tx.execute(f"SELECT {names} FROM token_ledger ORDER BY id".encode())
        return [Row(*row) for row in await cursor.fetchall()]


Metered = Callable[..., MeteredModel]


async def worst_cost(db: Database, metered: Metered, model: Model) -> Decimal:
    """What a call of `ask` may cost at worst; it has been made, and the ledger is empty again."""
    await ask(metered(model))
    [row] = await rows(db)
    async with db.transaction() as tx:
        await tx.execute("DELETE FROM token_ledger")
    return row.reserved_cost


@pytest.fixture
def metered(db: Database) -> Metered:
    """Puts a model under a meter."""

    def make(model: Model, caps: Caps | None = None, *, allow_unknown_price: bool = False) -> MeteredModel:
        return MeteredModel(model, Meter(db, caps or Caps(), allow_unknown_price))

    return make


def add(a: int, b: int) -> int:
    """The sum."""
    return a + b


def retrying(model: Model, naps: Naps, **options: Any) -> RetryingModel:
    """The model with retries that take no time and always draw the longest pause."""
    return RetryingModel(model, sleep=naps, chance=lambda: 1.0, **options)
