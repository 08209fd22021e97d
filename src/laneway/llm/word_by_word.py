"""A response that is known already, streamed word by word: for models that live in this process."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from pydantic_ai.messages import ModelResponse, ModelResponsePart, ModelResponseStreamEvent, TextPart, ToolCallPart
from pydantic_ai.models import StreamedResponse


@dataclass
class WordByWord(StreamedResponse):
    """A response on its way, with `per_piece` seconds before each piece; what it cost is known at its end."""

    response: ModelResponse
    per_piece: float = 0.0

    async def _get_event_iterator(self) -> AsyncIterator[ModelResponseStreamEvent]:
        for place, part in enumerate(self.response.parts):
            for piece in _pieces(part):
                await asyncio.sleep(self.per_piece)
                for event in self._handled(place, part, piece):
                    yield event
        self.finish_reason = self.response.finish_reason
        self.provider_details = self.response.provider_details
        self._usage = self.response.usage

    def _handled(self, place: int, part: ModelResponsePart, piece: str) -> list[ModelResponseStreamEvent]:
        if isinstance(part, ToolCallPart):
            return list(
                self._parts_manager.handle_tool_call_delta_events(
                    vendor_part_id=place, tool_name=part.tool_name, args=piece, tool_call_id=part.tool_call_id
                )
            )
        return list(self._parts_manager.handle_text_delta(vendor_part_id=place, content=piece))

    async def close_stream(self) -> None:
        """Nothing is open: the whole answer was known before its first word."""

    @property
    def model_name(self) -> str:
        return self.response.model_name or ""

    @property
    def provider_name(self) -> str | None:
        return self.response.provider_name

    @property
    def provider_url(self) -> None:
        return None

    @property
    def timestamp(self) -> datetime:
        return self.response.timestamp


def _pieces(part: ModelResponsePart) -> list[str]:
    if isinstance(part, ToolCallPart):
        return [part.args_as_json_str()]
    return re.findall(r"\S+\s*|\s+", part.content) if isinstance(part, TextPart) else []
