"""The tools of an MCP server as entries of the toolbox, and what they return as outcomes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from laneway.lanes.tools.entry import Arguments, Outcome, ToolEntry, failure, success

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock, Tool

LONGEST_NAME = 64
"""What every provider of models takes: letters, digits, `_` and `-`, so many of them."""

LONGEST_DESCRIPTION = 1500
LARGEST_SCHEMA = 30_000
MOST_CHARACTERS = 1_000_000

CallTool = Callable[[str, dict[str, Any]], Awaitable[Outcome]]


def entries_of(server: str, tools: Sequence[Tool], call: CallTool, *, trusted: bool, seconds: float) -> list[ToolEntry]:
    """An entry for each tool that a model can be shown; of two with the same name, the first."""
    entries: dict[str, ToolEntry] = {}
    for tool in tools:
        if usable(tool.input_schema):
            entry = _entry(server, tool, call, trusted, seconds)
            entries.setdefault(entry.name, entry)
    return list(entries.values())


def usable(schema: dict[str, Any]) -> bool:
    """Whether the schema of a tool's parameters is one a model can be shown."""
    return schema.get("type") == "object" and len(json.dumps(schema)) <= LARGEST_SCHEMA


def tool_name(server: str, tool: str) -> str:
    """`server__tool` in the characters and the length that all providers take; different tools stay different."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}")
    if plain == f"{server}__{tool}" and len(plain) <= LONGEST_NAME:
        return plain
    mark = hashlib.sha256(tool.encode()).hexdigest()[:6]
    return f"{plain[: LONGEST_NAME - 7]}_{mark}"


def _entry(server: str, tool: Tool, call: CallTool, trusted: bool, seconds: float) -> ToolEntry:
    name = tool.name

    async def ask_server(**arguments: Any) -> Outcome:
        return await call(name, arguments)

    def source(arguments: Arguments, outcome: Outcome) -> str:
        return f"the tool {one_line(name, 60)} of the MCP server {server}"

    hints = tool.annotations if trusted else None
    reads = hints is not None and hints.read_only_hint is True
    said = one_line(tool.description or tool.title or "", LONGEST_DESCRIPTION)
    return ToolEntry(
        ask_server,
        changes=not reads,
        idempotent=reads or (hints is not None and hints.idempotent_hint is True),
        asks=not reads,
        source=source,
        seconds=seconds,
        schema=tool.input_schema,
        title=tool_name(server, name),
        about=f"[From the MCP server {server}] {said}".strip(),
        tags=(server, "mcp", one_line(tool.title or "", 100)),
    )


def outcome_of(server: str, tool: str, result: CallToolResult) -> Outcome:
    """What a tool returned, in the shape of all tools."""
    text = "\n".join(_told(block) for block in result.content)
    told: dict[str, Any] = {"text": text[:MOST_CHARACTERS]}
    if len(text) > MOST_CHARACTERS:
        told["note"] = f"Only the first {MOST_CHARACTERS} of {len(text)} characters are shown."
    structured = result.structured_content
    if structured is not None and len(json.dumps(structured, default=str)) <= MOST_CHARACTERS:
        told["structured"] = structured
    if result.is_error:
        return failure(f"{tool_name(server, tool)} failed: {one_line(text, 500) or 'it did not say why.'}", result=told)
    return success(told)


def _told(block: ContentBlock) -> str:
    """One part of an answer as text; what is none is named."""
    if block.type == "text":
        return block.text
    if block.type == "resource":
        inner = block.resource
        text = getattr(inner, "text", None)
        return str(text) if text is not None else f"[a resource, {inner.mime_type or 'of an unknown kind'}: not shown]"
    if block.type == "resource_link":
        return f"[a link to {one_line(str(block.uri), 300)}]"
    return f"[{block.type}, {block.mime_type}, about {len(block.data) * 3 // 4} bytes: not shown]"


def one_line(text: str, longest: int) -> str:
    """The beginning of a text, printable, on one line."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
