"""Tokens and money: what a call may cost at worst, and what it did cost, by the price list of genai-prices."""

from __future__ import annotations

import json
import math
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import cache
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from genai_prices import Usage, calc_price
from pydantic_ai.messages import (
    BinaryContent,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponsePart,
    TextContent,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.usage import RequestUsage

IN_PROCESS = frozenset({"offline", "scripted", "function", "test"})
"""Systems that answer inside this process and cost nothing."""
RULES = "offline"
"""The one of them that is no model and reads no tokens."""

BYTES_PER_TOKEN = 2.5
"""Fewer than any common tokenizer needs for prose, code or Chinese, so that estimates err upwards."""
PER_MESSAGE = 8
PER_FILE = 5_000
BYTES_PER_FILE_TOKEN = 50


class Priced(Protocol):
    """What names a price: every model does, and so does a name alone."""

    @property
    def system(self) -> str: ...

    @property
    def model_name(self) -> str: ...

    @property
    def base_url(self) -> str | None: ...


def cost_of(model: Priced, usage: RequestUsage) -> Decimal | None:
    """What this usage costs in US dollars, or None when nobody knows the model's price."""
    if model.system in IN_PROCESS:
        return Decimal(0)
    if usage.cost is not None:
        return usage.cost
    return _listed(model, usage)


def cost_of_sound(model: Priced, seconds: float, tokens_input: int, tokens_output: int) -> Decimal | None:
    """What so long a recording costs; models have a price for its hours or for its tokens, some for none we know."""
    usage = Usage(
        audio_seconds=seconds,
        input_audio_seconds=seconds,
        input_tokens=tokens_input,
        input_audio_tokens=tokens_input,
        output_tokens=tokens_output,
    )
    return _listed(model, usage)


def _listed(model: Priced, usage: RequestUsage | Usage) -> Decimal | None:
    # The address tells resellers of the same model apart; the provider's name is the second best.
    if model.base_url:
        with suppress(LookupError):
            return calc_price(usage, model.model_name, provider_api_url=model.base_url).total_price
    with suppress(LookupError):
        return calc_price(usage, model.model_name, provider_id=model.system).total_price
    return Decimal(0) if model.base_url and is_own(model.base_url) else None


def is_own(address: str) -> bool:
    """Whether what answers there is on this machine or in a private network: nobody sends a bill for it."""
    with suppress(OSError, ValueError):
        return _is_inner(urlsplit(address).hostname or "")
    return False


@cache
def _is_inner(host: str) -> bool:
    found = {str(place[4][0]).partition("%")[0] for place in socket.getaddrinfo(host, None)}
    return not any(ip_address(one).is_global for one in found)


def worst_cost(model: Priced, tokens_input: int, tokens_output: int) -> Decimal | None:
    """The most a call of this size can cost: all of its input read afresh, or all of it written to the cache."""
    plain = RequestUsage(input_tokens=tokens_input, output_tokens=tokens_output)
    written = RequestUsage(input_tokens=tokens_input, cache_write_tokens=tokens_input, output_tokens=tokens_output)
    costs = [cost for cost in (cost_of(model, plain), cost_of(model, written)) if cost is not None]
    return max(costs, default=None)


def estimate_request(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> int:
    """At least as many tokens as the request will probably have."""
    texts = [tool.name + (tool.description or "") + json.dumps(tool.parameters_json_schema)
             for tool in (*parameters.function_tools, *parameters.output_tools)]  # fmt: skip
    texts.append(_instructions(messages, parameters))
    tools = sum(estimate_text(text) for text in texts)
    return tools + sum(PER_MESSAGE + estimate_parts(message.parts) for message in messages)


def estimate_parts(parts: Iterable[ModelRequestPart | ModelResponsePart]) -> int:
    """At least as many tokens as these parts have."""
    return sum(_estimate_part(part) for part in parts)


def estimate_text(text: str) -> int:
    """At least as many tokens as the text has."""
    return math.ceil(len(text.encode(errors="replace")) / BYTES_PER_TOKEN)


def _instructions(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str:
    # Every request in the history repeats the instructions; the model is sent them once.
    if parameters.instruction_parts:
        return "\n".join(part.content for part in parameters.instruction_parts)
    said = (m.instructions for m in reversed(messages) if isinstance(m, ModelRequest) and m.instructions)
    return next(said, "")


def _estimate_part(part: ModelRequestPart | ModelResponsePart) -> int:
    if isinstance(part, UserPromptPart):
        content = [part.content] if isinstance(part.content, str) else part.content
        return sum(_estimate_content(item) for item in content)
    if isinstance(part, ToolReturnPart):
        return estimate_text(part.tool_name + part.model_response_str())
    if isinstance(part, ToolCallPart):
        return estimate_text(part.tool_name + part.args_as_json_str())
    said = getattr(part, "content", None)
    return 0 if said is None else estimate_text(said if isinstance(said, str) else str(said))


def _estimate_content(item: object) -> int:
    match item:
        case str():
            return estimate_text(item)
        case TextContent():
            return estimate_text(item.content)
        case BinaryContent() if not item.is_image:
            return max(PER_FILE, len(item.data) // BYTES_PER_FILE_TOKEN)
        case BinaryContent() | FileUrl() | UploadedFile():
            return PER_FILE
        case _:
            return estimate_text(str(item))
