"""Lets people watch while a model writes: a call goes out as a stream, its text is passed on piece by piece.

The caller still gets one whole response, so the durable step around the call stores one outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from laneway.domain.storable import storable

_NUL = re.compile(r"((?<!\\)(?:\\\\)*)\\u0000")


class Listener(Protocol):
    """Somebody who watches model calls."""

    async def began(self, model: str) -> None:
        """A call to `model` is about to be made."""
        ...

    async def wrote(self, text: str) -> None:
        """The model wrote this piece."""
        ...

    async def ended(self, response: ModelResponse) -> None:
        """The call is over; this is all of it."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("laneway_live", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """While the block lasts, `listener` hears every model call."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class LiveModel(WrapperModel):
    """Streams whenever somebody listens, and answers as if it had not."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        listener = _listener.get()
        if listener is None:
            return fit(await self.wrapped.request(messages, model_settings, model_request_parameters))
        await listener.began(self.model_name)
        async with self.wrapped.request_stream(messages, model_settings, model_request_parameters) as stream:
            async for event in stream:
                if text := _text_of(event):
                    await listener.wrote(storable(text))
            response = fit(stream.get())
        await listener.ended(response)
        return response


def fit(response: ModelResponse) -> ModelResponse:
    """The response without characters that no store can hold; a model can write any."""
    for part in response.parts:
        if isinstance(part, TextPart):
            part.content = storable(part.content)
        elif isinstance(part, ToolCallPart) and part.args is not None:
            part.args = _NUL.sub(r"\1\\ufffd", part.args) if isinstance(part.args, str) else storable(part.args)
    return response


def _text_of(event: object) -> str:
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return ""
