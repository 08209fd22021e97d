"""`OfflineModel`, the Pydantic AI model that answers by rules; it reads no tokens and costs nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ModelRequestRejectedError
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from laneway.llm.offline.plan import answer_orders
from laneway.llm.offline.turn import HOW_TO_SET_ONE, NEEDS_KEY, latest_turn, small_talk
from laneway.llm.word_by_word import WordByWord

OFFLINE = "offline"


class OfflineModel(Model[None]):
    """Answers and does what has a known shape, and refuses the rest in one line."""

    def __init__(self, *, settings: ModelSettings | None = None) -> None:
        # With inline system prompts nobody rewrites the user's words before we read them.
        super().__init__(settings=settings, profile=ModelProfile(supports_inline_system_prompts=True))

    @property
    def model_name(self) -> str:
        return OFFLINE

    @property
    def system(self) -> str:
        return OFFLINE

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return self._respond(messages, self._accepted(model_settings, model_request_parameters))

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        accepted = self._accepted(model_settings, model_request_parameters)
        yield WordByWord(accepted, self._respond(messages, accepted))

    async def count_tokens(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> RequestUsage:
        return RequestUsage()

    def _accepted(self, settings: ModelSettings | None, parameters: ModelRequestParameters) -> ModelRequestParameters:
        if parameters.output_mode not in ("native", "prompted"):
            _, parameters = self.prepare_request(settings, parameters)
        if parameters.output_mode in ("native", "prompted") or not parameters.allow_text_output:
            # Of this kind, so that a fallback model further down the list gets its turn.
            raise ModelRequestRejectedError(
                OFFLINE, f"The offline model answers in words, not in a given structure. {NEEDS_KEY} {HOW_TO_SET_ONE}"
            )
        return parameters

    def _respond(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        turn = latest_turn(messages, parameters.declared_function_tools)
        answer = small_talk(turn) or answer_orders(turn)
        calls = any(isinstance(part, ToolCallPart) for part in answer)
        return ModelResponse(
            parts=list(answer),
            usage=RequestUsage(cost=Decimal(0)),
            model_name=OFFLINE,
            provider_name=OFFLINE,
            finish_reason="tool_call" if calls else "stop",
        )
