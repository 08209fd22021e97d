"""Trying again: the only place that does, since the SDKs' own retries are switched off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponseStreamEvent
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.tools import RunContext

from laneway.domain.patience import RetryPolicy
from laneway.errors import TransientFault
from laneway.llm import faults

Sleep = Callable[[float], Awaitable[None]]


class RetryingModel(WrapperModel):
    """A model whose errors are faults, and whose transient faults are tried again after a pause.

    The pause doubles, with full jitter, or is what the provider asked for; when it asks for more than `max_wait`
    the fault is raised at once and says for how long. Each try has the `timeout` of its settings, else `time_limit`.
    """

    def __init__(
        self,
        wrapped: Model,
        *,
        attempts: int = 3,
        first_wait: float = 0.5,
        max_wait: float = 10.0,
        time_limit: float = 120.0,
        key_setting: str = "",
        sleep: Sleep = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(wrapped)
        self._retries = RetryPolicy(attempts, first_wait, max_wait, chance)
        self._time_limit = time_limit
        self.key_setting = key_setting
        self._sleep = sleep

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The model's answer, or the fault that trying again did not help."""
        tried = 0
        while True:
            tried += 1
            try:
                with self._explained():
                    async with asyncio.timeout(self._limit(model_settings)):
                        return await self.wrapped.request(messages, model_settings, model_request_parameters)
            except TransientFault as fault:
                await self._sleep(self._pause(tried, fault))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The model's answer as it comes; tried again only while nothing of it has come."""
        async with AsyncExitStack() as stack:
            yield await self._opened(stack, messages, model_settings, model_request_parameters, run_context)

    async def _opened(
        self,
        stack: AsyncExitStack,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None,
    ) -> StreamedResponse:
        """The stream is open, its first event has come, and leaving the stack closes it."""
        tried = 0
        while True:
            tried += 1
            deadline = asyncio.get_running_loop().time() + self._limit(model_settings)
            try:
                with self._explained():
                    async with AsyncExitStack() as opening, asyncio.timeout_at(deadline):
                        stream = await opening.enter_async_context(
                            self.wrapped.request_stream(messages, model_settings, parameters, run_context)
                        )
                        await self._peek(stream, deadline)
                        stack.push_async_exit(opening.pop_all())
                        return stream
            except TransientFault as fault:
                await self._sleep(self._pause(tried, fault))

    def _pause(self, tried: int, fault: TransientFault) -> float:
        """How long to wait before the next try; raises the fault when there is to be none."""
        pause = self._retries.pause(tried, fault.retry_after)
        if pause is None:
            raise fault
        return pause

    def _limit(self, model_settings: ModelSettings | None) -> float:
        limit = (merge_model_settings(self.settings, model_settings) or {}).get("timeout")
        return float(limit) if isinstance(limit, int | float) else self._time_limit

    def _explained(self) -> faults.Explained:
        return faults.Explained(self.model_name, key_setting=self.key_setting)

    async def _peek(self, stream: StreamedResponse, deadline: float) -> None:
        """The first event has come, and whoever iterates the stream gets it and the rest."""
        events = aiter(stream)
        first = await anext(events, None)
        # `aiter(stream)` hands out what is stored here, so the event taken above is not lost.
        stream._event_iterator = self._rest(first, events, deadline)

    async def _rest(
        self, event: ModelResponseStreamEvent | None, events: AsyncIterator[ModelResponseStreamEvent], deadline: float
    ) -> AsyncIterator[ModelResponseStreamEvent]:
        while event is not None:
            yield event
            with self._explained():
                async with asyncio.timeout_at(deadline):
                    event = await anext(events, None)
