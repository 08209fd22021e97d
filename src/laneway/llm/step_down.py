"""When a budget has no room for the strong model any more, a cheaper one answers, as long as that one fits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext

from laneway.errors import BudgetExceeded

_instead_of: ContextVar[str] = ContextVar("laneway_instead_of", default="")


def instead_of() -> str:
    """The model whose place is taken by the one that is called now; empty if none."""
    return _instead_of.get()


class StepDownModel(WrapperModel):
    """The wrapped model, or the cheaper one where only that fits the budget; the response says which it was."""

    def __init__(self, wrapped: Model, cheaper: Model) -> None:
        super().__init__(wrapped)
        self.cheaper = cheaper

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The answer of the model that fits, or the refusal of the first."""
        try:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)
        except BudgetExceeded as refused:
            prepared = self.cheaper.prepare_messages(messages, model_request_parameters)
            with self._in_its_place(refused):
                return await self.cheaper.request(prepared, model_settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The stream of the model that fits; a budget refuses before anything has come."""
        async with AsyncExitStack() as stack:
            try:
                opening = self.wrapped.request_stream(messages, model_settings, model_request_parameters, run_context)
                stream = await stack.enter_async_context(opening)
            except BudgetExceeded as refused:
                prepared = self.cheaper.prepare_messages(messages, model_request_parameters)
                with self._in_its_place(refused):
                    opening = self.cheaper.request_stream(
                        prepared, model_settings, model_request_parameters, run_context
                    )
                    stream = await stack.enter_async_context(opening)
            yield stream

    @contextmanager
    def _in_its_place(self, refused: BudgetExceeded) -> Iterator[None]:
        """Inside, the cheaper model stands for the wrapped one; if it does not fit either, the first refusal counts."""
        token = _instead_of.set(self.wrapped.model_name)
        try:
            yield
        except BudgetExceeded:
            refused.hint += f" The cheaper {self.cheaper.model_name} does not fit either."
            raise refused from None
        finally:
            _instead_of.reset(token)
