"""Tools for tests of the offline model: named like the real ones, with their parameters, and they note their calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelMessage, ModelRequest
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from laneway.llm.offline import OfflineModel

Made = tuple[str, dict[str, Any]]


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
        did = self.did

        async def server_info(topics: list[str], lines: int | None = None, process: str | None = None) -> Any:
            return did("server_info", topics=topics, lines=lines, process=process)

        async def bash(command: str, timeout: int | None = None, hosts: list[str] | None = None) -> Any:
            return did("bash", command=command, timeout=timeout, hosts=hosts)

        async def read_file(path: str) -> Any:
            return did("read_file", path=path)

        async def write_file(path: str, content: str) -> Any:
            return did("write_file", path=path, content=content)

        async def edit_file(path: str, old: str, new: str, all: bool | None = None) -> Any:
            return did("edit_file", path=path, old=old, new=new, all=all)

        async def delete_file(path: str) -> Any:
            return did("delete_file", path=path)

        async def move_file(path: str, to: str) -> Any:
            return did("move_file", path=path, to=to)

        async def list_files(path: str | None = None) -> Any:
            return did("list_files", path=path)

        async def glob(pattern: str) -> Any:
            return did("glob", pattern=pattern)

        async def grep(pattern: str, path: str | None = None) -> Any:
            return did("grep", pattern=pattern, path=path)

        async def http_request(url: str, method: str | None = None) -> Any:
            return did("http_request", url=url, method=method)

        async def remember(text: str) -> Any:
            return did("remember", text=text)

        async def recall(query: str) -> Any:
            return did("recall", query=query)

        async def remind(text: str, when: str) -> Any:
            return did("remind", text=text, when=when)

        async def create_task(title: str, description: str | None = None) -> Any:
            return did("create_task", title=title, description=description)

        async def delegate(lane: str, text: str) -> Any:
            return did("delegate", lane=lane, text=text)

        async def search_tools(query: str) -> Any:
            return did("search_tools", query=query)

        made = (server_info, bash, read_file, write_file, edit_file, delete_file, move_file, list_files, glob, grep)
        more = (http_request, remember, recall, remind, create_task, delegate, search_tools)
        return [Tool(function, takes_ctx=False) for function in (*made, *more)]


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


async def first_said(text: str) -> tuple[str, list[Made]]:
    """What the model does first with a text and all tools on offer."""
    offered = ModelRequestParameters(function_tools=list(definitions().values()))
    response = await OfflineModel().request([ModelRequest.user_text_prompt(text)], None, offered)
    return response.text or "", [(call.tool_name, call.args_as_dict()) for call in response.tool_calls]
