"""A model that follows a script: for tests, demonstrations and the crash self-test.

    ScriptedModel([Call("server_info", {"topic": "uptime"}), Say("Up for five days.")])

Which turn comes next is read from the message history (how many responses follow the last user prompt), never from
memory. So a run that is repeated after a crash asks for the turn it has not had yet.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import RunContext
from pydantic_ai.usage import RequestUsage

from laneway.errors import PermanentFault, TransientFault
from laneway.llm.word_by_word import WordByWord

NAME = "scripted"


@dataclass(frozen=True)
class Say:
    """The model says a text."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fail:
    """The call fails; with `times`, only the first so many tries of this process fail and then comes `then`."""

    kind: Literal["transient", "permanent"] = "transient"
    retry_after: float | None = None
    times: int | None = None
    then: Turn = Say("Here I am again.")


@dataclass(frozen=True)
class Delay:
    """The turn comes late: after `seconds`, or with `per_piece` seconds before each word of a stream."""

    turn: Turn
    seconds: float = 0.0
    per_piece: float = 0.0


Turn: TypeAlias = "Say | Call | Fail | Delay | Sequence[Say | Call]"


@dataclass(frozen=True)
class Asked:
    """What the model was asked, as a script sees it."""

    turn: int
    """How many responses followed the last user prompt: 0 for the first turn."""
    text: str
    """The words of the last user prompt."""
    tools: tuple[str, ...]
    tool_results: tuple[str, ...]
    """What the tools said since the last response."""
    messages: Sequence[ModelMessage]
    stream: bool


Script: TypeAlias = "Sequence[Turn] | Callable[[Asked], Turn]"
OnCall: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]


def echo(asked: Asked) -> Turn:
    """The default script: the user's words come back."""
    return Say(f"You said: {asked.text}")


class ScriptedModel(Model):
    """Answers what the script says, at once and for nothing."""

    def __init__(self, script: Script = echo, *, name: str = NAME, on_call: OnCall | None = None) -> None:
        super().__init__()
        self._script = script
        self._name = name
        self._on_call = on_call
        self._failed: Counter[tuple[int, str]] = Counter()

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def system(self) -> str:
        return NAME

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The whole turn."""
        parts, _ = await self._turn(_asked(messages, model_request_parameters, stream=False))
        return self._response(messages, parts)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """The turn, word by word."""
        parts, per_piece = await self._turn(_asked(messages, model_request_parameters, stream=True))
        yield WordByWord(model_request_parameters, self._response(messages, parts), per_piece)

    def _response(self, messages: list[ModelMessage], parts: list[ModelResponsePart]) -> ModelResponse:
        usage = _usage(messages, parts)
        return ModelResponse(parts=parts, usage=usage, model_name=self._name, provider_name=NAME, finish_reason="stop")

    async def _turn(self, asked: Asked) -> tuple[list[ModelResponsePart], float]:
        if self._on_call is not None:
            call = {"model": self._name, "turn": asked.turn, "text": asked.text, "stream": asked.stream}
            await self._on_call(call | {"tools": list(asked.tools)})
        return await self._play(self._next(asked), asked, 0.0)

    def _next(self, asked: Asked) -> Turn:
        if callable(self._script):
            return self._script(asked)
        if asked.turn >= len(self._script):
            raise PermanentFault(
                f"The script has {len(self._script)} turns and was asked for turn {asked.turn + 1}.",
                hint="Give it one turn for each answer after a user's message.",
            )
        return self._script[asked.turn]

    async def _play(self, turn: Turn, asked: Asked, per_piece: float) -> tuple[list[ModelResponsePart], float]:
        match turn:
            case Delay():
                await asyncio.sleep(turn.seconds)
                return await self._play(turn.turn, asked, turn.per_piece)
            case Fail():
                return await self._play(self._failing(turn, asked), asked, per_piece)
            case Say() | Call():
                return [_part(turn, asked, 0)], per_piece
            case _:
                return [_part(said, asked, place) for place, said in enumerate(turn)], per_piece

    def _failing(self, fail: Fail, asked: Asked) -> Turn:
        self._failed[asked.turn, asked.text] += 1
        if fail.times is not None and self._failed[asked.turn, asked.text] > fail.times:
            return fail.then
        kind = TransientFault if fail.kind == "transient" else PermanentFault
        raise kind(f"The script says that {self._name} fails here.", retry_after=fail.retry_after)


def _asked(messages: Sequence[ModelMessage], parameters: ModelRequestParameters, *, stream: bool) -> Asked:
    asked_at = max((i for i, message in enumerate(messages) if _prompt(message) is not None), default=-1)
    since = messages[asked_at + 1 :]
    tools = (*parameters.function_tools, *parameters.output_tools)
    last = messages[-1] if messages else None
    results = [p.model_response_str() for p in last.parts if isinstance(p, ToolReturnPart)] if last else []
    return Asked(
        turn=sum(isinstance(message, ModelResponse) for message in since),
        text=(_prompt(messages[asked_at]) or "") if asked_at >= 0 else "",
        tools=tuple(tool.name for tool in tools),
        tool_results=tuple(results),
        messages=messages,
        stream=stream,
    )


def _prompt(message: ModelMessage) -> str | None:
    """The user's words in a message, or None if no user speaks in it."""
    if not isinstance(message, ModelRequest):
        return None
    prompts = [part.content for part in message.parts if isinstance(part, UserPromptPart)]
    if not prompts:
        return None
    content = [prompts[-1]] if isinstance(prompts[-1], str) else prompts[-1]
    return "\n".join(item if isinstance(item, str) else getattr(item, "content", "") for item in content)


def _part(said: Say | Call, asked: Asked, place: int) -> ModelResponsePart:
    if isinstance(said, Say):
        return TextPart(said.text)
    # The same history gives the same id, so a repeated run makes the same call.
    return ToolCallPart(said.tool, dict(said.args), tool_call_id=f"scripted-{len(asked.messages)}-{place}")


def _usage(messages: Sequence[ModelMessage], parts: Sequence[ModelResponsePart]) -> RequestUsage:
    """About a token for each four characters, the same for the same history."""
    said = sum(len(_text(part)) for message in messages for part in message.parts)
    answered = sum(len(_text(part)) for part in parts)
    return RequestUsage(input_tokens=said // 4 + 1, output_tokens=answered // 4 + 1)


def _text(part: object) -> str:
    if isinstance(part, ToolCallPart):
        return part.tool_name + part.args_as_json_str()
    content = getattr(part, "content", "")
    return content if isinstance(content, str) else json.dumps(content, default=str)
