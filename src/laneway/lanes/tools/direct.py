"""Calls a tool by its name, without a model: behind the same gate, in the same workspace, on the same record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from laneway.lanes.contract import Request
from laneway.lanes.tools.toolbox import Toolbox
from laneway.lanes.tools.work import Work


class Wanted(Protocol):
    """A call: which tool, with what, for which request, and whose words are in it."""

    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]: ...
    @property
    def request(self) -> Request: ...
    @property
    def sources(self) -> list[str]: ...
    @property
    def key(self) -> str: ...
    @property
    def shown(self) -> Callable[[Any], Any]: ...


def direct_calls(toolbox: Toolbox, workspace: Callable[[UUID], Path]) -> Callable[[Wanted], Awaitable[dict[str, Any]]]:
    """Whoever has a call gets its outcome, or what a person must allow first under `asked`."""

    async def call(wanted: Wanted) -> dict[str, Any]:
        work = Work(wanted.request, workspace(wanted.request.job.thread_id), list(wanted.sources))
        outcome = await toolbox.call(wanted.name, wanted.arguments, work, wanted.key, wanted.shown)
        return outcome if isinstance(outcome, dict) else {"status": "success", "result": outcome}

    return call
