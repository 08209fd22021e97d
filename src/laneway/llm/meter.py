"""Every model call is paid for: its worst price is reserved before it, its real price settled after it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import Decimal
from types import TracebackType
from typing import Any, Self

import anyio
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from laneway.domain.budget import Account, Caps
from laneway.domain.conversation import PULLED
from laneway.domain.session import Tokens
from laneway.errors import PermanentFault, Unavailable
from laneway.llm import faults, guard, noted, prices
from laneway.llm.noted import ModelCalled
from laneway.llm.step_down import instead_of
from laneway.store import budget_notices, events, jobs, ledger
from laneway.store.allowance import Refused
from laneway.store.database import Connection, Database
from laneway.store.finishing import to_the_end

__all__ = ["Account", "Caps", "Meter", "MeteredModel", "account", "charged_to", "prompted_by", "provider_label"]

OUTPUT_UNSAID = 8_192
"""The longest answer assumed of a model that was set no limit."""

_log = logging.getLogger(__name__)
_account: ContextVar[Account] = ContextVar("laneway_account", default=Account())  # noqa: B039 - it is frozen
_prompt: ContextVar[str] = ContextVar("laneway_prompt", default="")


@contextmanager
def charged_to(account: Account) -> Iterator[None]:
    """Inside, model calls are charged to the account."""
    token = _account.set(account)
    try:
        yield
    finally:
        _account.reset(token)


@contextmanager
def prompted_by(version: str) -> Iterator[None]:
    """Inside, model calls are recorded with the version of the prompt that made them."""
    token = _prompt.set(version)
    try:
        yield
    finally:
        _prompt.reset(token)


def account() -> Account:
    """Who calls made here are charged to."""
    return _account.get()


def provider_label(model: prices.Priced) -> str:
    """How the ledger calls the model's provider."""
    if model.system == "anthropic":
        return "haiku" if "haiku" in model.model_name.lower() else "claude"
    return "openai" if model.system.startswith("openai") else model.system


class Meter:
    """The one who writes the ledger; the owner is told of budgets through the outbox (`pulled` as there)."""

    def __init__(
        self, db: Database, caps: Caps, allow_unknown_price: bool = False, pulled: Collection[str] = PULLED
    ) -> None:
        self._db = db
        self._caps = caps
        self._allow_unknown_price = allow_unknown_price
        self._pulled = pulled

    async def reserve(self, model: Model, tokens_input: int, tokens_output: int, meta: dict[str, Any]) -> int:
        """The worst case is reserved, or the call refused: over a cap, or at a price nobody knows."""
        # The name of a server may have to be looked up.
        cost = await asyncio.to_thread(prices.worst_cost, model, tokens_input, tokens_output)
        return await self.reserve_at(model, cost, tokens_input, tokens_output, meta)

    async def reserve_at(
        self, model: prices.Priced, cost: Decimal | None, tokens_input: int, tokens_output: int, meta: dict[str, Any]
    ) -> int:
        """The same for a call whose worst price is known to the caller; None if nobody knows it."""
        if cost is None and not self._allow_unknown_price:
            raise PermanentFault(
                f"Nobody knows the price of `{model.model_name}`, so no budget can hold it.",
                hint="Set budget.allow_unknown_price (LANEWAY_ALLOW_UNKNOWN_PRICE) to call it anyway, counted as free.",
            )
        try:
            async with self._db.transaction() as tx:
                await self._note_step_down(tx, model)
                return await ledger.reserve(
                    tx,
                    account=account(),
                    caps=self._caps,
                    provider=provider_label(model),
                    model=model.model_name,
                    tokens_input=tokens_input,
                    tokens_output_max=tokens_output,
                    cost_max=cost or Decimal(0),
                    meta=meta if cost is not None else meta | {"price": "unknown"},
                )
        except Refused as refused:
            async with self._db.transaction() as tx:
                await budget_notices.reached(tx, refused, self._pulled)
            raise

    async def settle(self, entry: int, model: Model, usage: RequestUsage, meta: dict[str, Any]) -> Decimal:
        """The row holds what the call consumed, and the owner knows if a budget is nearly spent; returns its cost."""
        settled = ledger.Usage(
            tokens_input=usage.input_tokens,
            tokens_output=usage.output_tokens,
            tokens_cached=usage.cache_read_tokens,
            tokens_reasoning=usage.output_reasoning_tokens,
            cost=prices.cost_of(model, usage) or Decimal(0),
        )
        written = {"cache_write_tokens": usage.cache_write_tokens} if usage.cache_write_tokens else {}
        await self.settle_at(entry, settled, meta | written)
        return settled.cost

    async def settle_at(self, entry: int, usage: ledger.Usage, meta: dict[str, Any]) -> None:
        """The same for a call whose price the caller worked out."""
        async with self._db.transaction() as tx:
            call = await ledger.settle(tx, entry, usage, meta)
            if call is not None:
                await budget_notices.warn(tx, call.account, call.day, self._caps, self._pulled)
            await jobs.wake(tx)

    async def close(self, entry: int, *, free: bool, meta: dict[str, Any]) -> None:
        """The reservation is released when the call was certainly free, else cut: its worst case stays counted."""
        async with self._db.transaction() as tx:
            await (ledger.release if free else ledger.cut)(tx, entry, meta)
            await jobs.wake(tx)

    async def _note_step_down(self, tx: Connection, model: prices.Priced) -> None:
        if instead_of():
            body, here = {"from": instead_of(), "to": model.model_name}, account()
            await events.append(tx, "budget.stepped_down", body, thread_id=here.thread_id, job_id=here.job_id)


class MeteredModel(WrapperModel):
    """A model whose every call is in the ledger, and is only made if the caps and the guard allow it."""

    def __init__(self, wrapped: Model, meter: Meter) -> None:
        super().__init__(wrapped)
        self._meter = meter

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The model's answer, paid for."""
        async with await self._call(messages, model_settings, model_request_parameters, stream=False) as call:
            await guard.check()
            call.answer = await self.wrapped.request(messages, model_settings, model_request_parameters)
            return call.answer

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The model's answer as it comes; paid for when it ends, or for what came when it breaks off."""
        async with await self._call(messages, model_settings, model_request_parameters, stream=True) as call:
            await guard.check()
            async with self.wrapped.request_stream(
                messages, model_settings, model_request_parameters, run_context
            ) as call.stream:
                yield call.stream

    async def _call(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        *,
        stream: bool,
    ) -> _Call:
        merged = merge_model_settings(self.wrapped.settings, model_settings) or {}
        tokens_input, tokens_output = 0, 0
        if self.wrapped.system != prices.RULES:
            tokens_input = prices.estimate_request(messages, parameters)
            tokens_output = merged.get("max_tokens", OUTPUT_UNSAID)
        meta: dict[str, Any] = {"model": self.model_name, "stream": stream, "prompt": _prompt.get()}
        meta |= {"seconds_most": most} if isinstance(most := merged.get("timeout"), int | float) else {}
        meta |= {"job_id": str(job_id)} if (job_id := account().job_id) else {}
        meta |= {"instead_of": stronger} if (stronger := instead_of()) else {}
        entry = await self._meter.reserve(self.wrapped, tokens_input, tokens_output, meta)
        return _Call(self._meter, self.wrapped, entry, tokens_input, stream)


class _Call:
    """One reserved call; leaving it closes its row by how the call ended."""

    def __init__(self, meter: Meter, model: Model, entry: int, tokens_input: int, streaming: bool) -> None:
        self.answer: ModelResponse | None = None
        self.stream: StreamedResponse | None = None
        self._meter = meter
        self._model = model
        self._entry = entry
        self._tokens_input = tokens_input
        self._streaming = streaming
        self._began = time.perf_counter()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = time.perf_counter() - self._began
        meta: dict[str, Any] = {"milliseconds": round(seconds * 1000)}
        if error is not None:
            meta["failed"] = type(error).__name__
        # A row that could not be closed stays reserved, which counts the worst case: no reason to lose the answer.
        with anyio.CancelScope(shield=True), _logged(self._entry):
            # No scope shields from a task that is cancelled by its own name.
            called = await to_the_end(self._close(error, meta))
            if not isinstance(error, asyncio.CancelledError):
                await noted.note(replace(called, seconds=seconds))

    async def _close(self, error: BaseException | None, meta: dict[str, Any]) -> ModelCalled:
        called = ModelCalled(self._entry, self._model.model_name, failed="" if error is None else type(error).__name__)
        response = self.stream.get() if self.stream is not None else self.answer
        if error is not None and self._nothing_came(response, error):
            await self._meter.close(self._entry, free=True, meta=meta)
            return called
        if response is None:
            await self._meter.close(self._entry, free=False, meta=meta)
            return called
        usage = response.usage
        if self._model.system != prices.RULES and (response.state != "complete" or not usage.total_tokens):
            usage, meta["estimated"] = self._known(response), True
        cost = await self._meter.settle(self._entry, self._model, usage, meta)
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        return replace(called, tokens=_tokens(usage), cost=cost, text=text)

    def _nothing_came(self, response: ModelResponse | None, error: BaseException) -> bool:
        """Whether the call was certainly not charged: not sent, turned away, or a stream that began with an error."""
        if response is None:
            return faults.certainly_free(error) or (self._streaming and faults.status_of(error) is not None)
        return faults.status_of(error) is not None and not response.parts and not response.usage.total_tokens

    def _known(self, response: ModelResponse) -> RequestUsage:
        """The usage as far as it was told, and estimated where it was not."""
        told = response.usage
        if self._model.system in prices.IN_PROCESS:
            return told
        return RequestUsage(
            input_tokens=told.input_tokens or self._tokens_input,
            cache_read_tokens=told.cache_read_tokens,
            cache_write_tokens=told.cache_write_tokens,
            cache_write_1h_tokens=told.cache_write_1h_tokens,
            output_tokens=max(told.output_tokens, prices.estimate_parts(response.parts)),
            output_reasoning_tokens=told.output_reasoning_tokens,
        )


def _tokens(usage: RequestUsage) -> Tokens:
    """The same by what each kind costs: cached tokens are not counted among the input again."""
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    fresh = max(0, usage.input_tokens - read - written)
    return Tokens(fresh, usage.output_tokens, read, written, usage.output_reasoning_tokens)


@contextmanager
def _logged(entry: int) -> Iterator[None]:
    """Inside, an unreachable database is written to the log and no more."""
    try:
        yield
    except Unavailable as error:
        _log.warning("Row %s of the ledger stays reserved at its worst case: %s", entry, error)
