"""The toolbox: which functions a model may call, for whom, and what each may do to the world."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from pydantic_ai import RunContext, Tool
from pydantic_ai.tools import ToolDefinition

from laneway.domain.conversation import World
from laneway.engine.steps import Steps
from laneway.lanes.contract import Request


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool: its function, whether it changes the world, whether doing it twice is the same as once."""

    function: Callable[..., Awaitable[Any]]
    changes: bool = False
    idempotent: bool = True
    worlds: frozenset[World] = frozenset({World.OWNER})

    @property
    def name(self) -> str:
        return str(self.function.__name__)


class Toolbox:
    """The tools at hand, each wrapped so that a call is a durable step."""

    def __init__(self, entries: Sequence[ToolEntry], steps: Steps) -> None:
        self._entries, self._steps = tuple(entries), steps

    @property
    def changes(self) -> bool:
        """Whether any tool in here can change the world."""
        return any(entry.changes for entry in self._entries)

    def tools(self) -> list[Tool[Request]]:
        """The tools as a model sees them; which of them depends on who is asking."""
        return [Tool(self._durable(entry), prepare=_offered(entry)) for entry in self._entries]

    def _durable(self, entry: ToolEntry) -> Callable[..., Awaitable[Any]]:
        signature = inspect.signature(entry.function)

        @wraps(entry.function)
        async def call(**arguments: Any) -> Any:
            bound = signature.bind(**arguments).arguments
            return await self._steps.effect(
                entry.name, dict(bound), lambda: entry.function(**arguments), idempotent=entry.idempotent
            )

        return call


def _offered(entry: ToolEntry) -> Callable[[RunContext[Request], ToolDefinition], Awaitable[ToolDefinition | None]]:
    async def prepare(context: RunContext[Request], definition: ToolDefinition) -> ToolDefinition | None:
        request = context.deps
        return definition if request.world in entry.worlds and request.job.mode != "PLAN" else None

    return prepare
