"""Several models in turn: one that fails is left alone for a while and the next one is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from laneway.clock import Clock, SystemClock
from laneway.errors import ModelFault
from laneway.llm import faults


class FallbackChain(FallbackModel):
    """The first model that answers, in order; the response says which one it was.

    A model cools down after a transient fault, a refused key or an unknown name, and is passed over meanwhile.
    When all are cooling, the one that recovers first is asked. Refusals that are not the model's own (a budget, a
    lost lease) end the call at once.
    """

    def __init__(self, models: Sequence[Model], *, cooldown_seconds: float = 60.0, clock: Clock | None = None) -> None:
        super().__init__(*models)
        self._cooldown = timedelta(seconds=cooldown_seconds)
        self._clock = clock or SystemClock()
        self._ready_at: list[datetime | None] = [None] * len(models)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer of the first model that has one, or the last one's fault."""
        fault: ModelFault | None = None
        for place in self._order():
            model = self.models[place]
            # Each model has its own way of being told the history.
            prepared = model.prepare_messages(messages, model_request_parameters)
            try:
                return await model.request(prepared, model_settings, model_request_parameters)
            except ModelFault as failed:
                fault = self._note(place, failed)
        assert fault is not None
        raise fault

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The stream of the first model that opens one; once it runs, its faults are the caller's."""
        async with AsyncExitStack() as stack:
            place, stream = await self._opened(stack, messages, model_settings, model_request_parameters, run_context)
            try:
                yield stream
            except ModelFault as fault:
                self._note(place, fault)
                raise

    async def _opened(
        self,
        stack: AsyncExitStack,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None,
    ) -> tuple[int, StreamedResponse]:
        fault: ModelFault | None = None
        for place in self._order():
            model = self.models[place]
            prepared = model.prepare_messages(messages, parameters)
            opening = model.request_stream(prepared, model_settings, parameters, run_context)
            try:
                return place, await stack.enter_async_context(opening)
            except ModelFault as failed:
                fault = self._note(place, failed)
        assert fault is not None
        raise fault

    def cooling(self) -> list[str]:
        """The names of the models that are passed over now."""
        now = self._clock.now()
        return [m.model_name for m, at in zip(self.models, self._ready_at, strict=True) if at is not None and at > now]

    def _order(self) -> list[int]:
        now = self._clock.now()
        until = dict(enumerate(self._ready_at))
        ready = [place for place, at in until.items() if at is None or at <= now]
        return ready or [min(until, key=lambda place: until[place] or now)]

    def _note(self, place: int, fault: ModelFault) -> ModelFault:
        if faults.should_cool(fault):
            self._ready_at[place] = self._clock.now() + max(self._cooldown, timedelta(seconds=fault.retry_after or 0.0))
        return fault
