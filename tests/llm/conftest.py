"""What tests of models share: providers on loopback, and no way out of this machine."""

from __future__ import annotations

import ipaddress
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from laneway.errors import BudgetExceeded
from laneway.llm.meter import Caps, Meter, MeteredModel
from laneway.llm.retry import RetryingModel
from laneway.store.database import Database
from tests.servers import AnthropicServer, OpenAIServer, Order, Say
from tests.servers.script import Asked

_watch = {"on": False}


def _refuse_foreign_hosts(event: str, args: tuple[Any, ...]) -> None:
    if not _watch["on"] or event not in ("socket.connect", "socket.getaddrinfo"):
        return
    host = args[0] if event == "socket.getaddrinfo" else args[1][0] if isinstance(args[1], tuple) else None
    if isinstance(host, str | bytes) and not _is_here(host.decode() if isinstance(host, bytes) else host):
        raise RuntimeError(f"a test of models tried to reach {host!r}")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# Python cannot take such a hook away again, so it is added once and told when to look.
sys.addaudithook(_refuse_foreign_hosts)


@pytest.fixture(autouse=True)
def _no_way_out() -> Iterator[None]:
    _watch["on"] = True
    yield
    _watch["on"] = False


@pytest.fixture
def anthropic_server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


class Refusals:
    """Of many calls at once so many are to be refused; the others are answered when they were, and not before."""

    def __init__(self, wanted: int) -> None:
        self._left, self._all = wanted, threading.Event()

    async def counted(self, call: Awaitable[ModelResponse]) -> ModelResponse:
        """What the call gives; a budget that refuses it is noted and raised."""
        try:
            return await call
        except BudgetExceeded:
            self._left -= 1
            if self._left == 0:
                self._all.set()
            raise

    def late(self, asked: Asked) -> Order:
        """The answer, once nobody's refusal is missing; its server holds everybody until then."""
        if not self._all.wait(30):
            # Too few were refused, as the test will find; the others need not wait as long.
            self._all.set()
        return Say("late", tokens_in=10, tokens_out=10)


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
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(api_key=key, base_url=server.url, max_retries=0)
    cached = AnthropicModelSettings(anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True)
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client), settings=cached)


def openai(server: OpenAIServer, name: str = "gpt-5-mini") -> Model:
    """The real model over the real SDK, talking to the loopback server."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

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


@pytest.fixture
def metered(db: Database) -> Metered:
    """Puts a model under a meter."""

    def make(model: Model, caps: Caps | None = None, *, allow_unknown_price: bool = False) -> MeteredModel:
        return MeteredModel(model, Meter(db, caps or Caps(), allow_unknown_price))

    return make


def retrying(model: Model, naps: Naps, **options: Any) -> RetryingModel:
    """The model with retries that take no time and always draw the longest pause."""
    return RetryingModel(model, sleep=naps, chance=lambda: 1.0, **options)
