"""Tools for tests of the offline model: named like the real ones, with their parameters, and they note their calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage
from pydantic_ai.tools import ToolDefinition

from laneway.llm.offline import OfflineModel

Made = tuple[str, dict[str, Any]]
PARAMETERS = {
    "server_info": "topics* lines#? process?",
    "bash": "command timeout#? hosts*?",
    "read_file": "path",
    "write_file": "path content",
    "edit_file": "path old new all!?",
    "delete_file": "path",
    "move_file": "path to",
    "list_files": "path?",
    "glob": "pattern",
    "grep": "pattern path?",
    "http_request": "url method?",
    "remember": "text",
    "recall": "query",
    "remind": "text when",
    "create_task": "title description?",
    "delegate": "lane text",
    "search_tools": "query",
}
"""Each tool's parameters: `#` a number, `*` a list, `!` yes or no, else a text; `?` may be left out."""
LIST = {"type": "array", "items": {"type": "string"}}
KINDS = defaultdict(lambda: {"type": "string"}, {"#": {"type": "integer"}, "!": {"type": "boolean"}, "*": LIST})


def success(result: Any = None, **more: Any) -> dict[str, Any]:
    process = {"stdout": None, "stderr": None, "exit_code": None}
    return {"status": "success", "result": result, "error": None, **process, **more}


def failure(error: str, **more: Any) -> dict[str, Any]:
    return success(**{"status": "error", "error": error, **more})


@dataclass
class Bench:
    """All tools, what they were called with, and what they are told to return."""

    returns: Mapping[str, Any] = field(default_factory=dict)
    calls: list[Made] = field(default_factory=list)
    agents: dict[tuple[str, ...], Agent[None, str]] = field(default_factory=dict)

    def did(self, tool: str, **arguments: Any) -> Any:
        self.calls.append((tool, {name: value for name, value in arguments.items() if value is not None}))
        given = self.returns.get(tool, success())
        if not isinstance(given, list):
            return given
        return given[min(len([made for made, _ in self.calls if made == tool]), len(given)) - 1]

    def agent(self, *without: str) -> Agent[None, str]:
        if without not in self.agents:
            tools = [tool for tool in self.tools() if tool.name not in without]
            self.agents[without] = Agent(OfflineModel(), tools=tools)
        return self.agents[without]

    def tools(self) -> list[Tool[None]]:
        return [self._tool(name, told.split()) for name, told in PARAMETERS.items()]

    def _tool(self, name: str, parameters: list[str]) -> Tool[None]:
        async def did(**arguments: Any) -> Any:
            return self.did(name, **arguments)

        properties = {one.rstrip("?").rstrip("#*!"): KINDS[one.rstrip("?")[-1:]] for one in parameters}
        required = [one.rstrip("#*!") for one in parameters if not one.endswith("?")]
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        return Tool.from_schema(did, name, name.replace("_", " "), schema)


async def said(
    text: str, bench: Bench | None = None, *, without: tuple[str, ...] = (), history: list[ModelMessage] | None = None
) -> tuple[str, list[Made]]:
    """What the model answered to a text, and the calls it made."""
    bench = bench or Bench()
    bench.calls = []
    run = await bench.agent(*without).run(text, message_history=history)
    return run.output, bench.calls


@cache
def definitions() -> dict[str, ToolDefinition]:
    """All tools as a model is told of them."""
    return {tool.name: tool.tool_def for tool in Bench().tools()}
