"""An order: one tool call that the user's words ask for, and how to tell what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_ai.tools import ToolDefinition

from laneway.llm.offline.outcomes import Outcome
from laneway.llm.offline.politeness import Words

# What tools may call the parameter that an order names first.
_NAMES: dict[str, tuple[str, ...]] = {
    "command": ("command", "cmd", "script"),
    "path": ("path", "file", "file_path", "filename", "source"),
    "to": ("to", "destination", "target", "new_path"),
    "content": ("content", "contents", "text", "body"),
    "old": ("old", "old_string", "old_text", "search", "find"),
    "new": ("new", "new_string", "new_text", "replacement", "replace"),
    "all": ("all", "replace_all", "everywhere"),
    "pattern": ("pattern", "regex", "query"),
    "url": ("url", "address", "uri"),
    "text": ("text", "content", "note", "message", "fact"),
    "when": ("when", "at", "time", "due"),
    "query": ("query", "about", "topic", "text"),
    "title": ("title", "name", "summary"),
    "lane": ("lane", "to"),
}


Telling = Callable[[Outcome], str]


@dataclass(frozen=True)
class Order:
    """A tool call that was asked for."""

    tool: str
    arguments: Mapping[str, Any]
    about: str
    """What it does, after "I could not": "delete `notes.txt`"."""
    tell: Telling
    """What to say when it succeeded."""
    is_free: bool = False
    """True if it ends with free text, which may swallow what was meant as the next order."""
    tells_all: bool = False
    """True if `tell` has words for failures too, since part of it may have succeeded."""


@dataclass(frozen=True)
class Ask:
    """Words that order something but leave open what exactly; `text` asks for it."""

    text: str


Understood = list[Order] | Ask | None


class Offer:
    """The tools on offer, as the makers of orders see them."""

    def __init__(self, tools: Mapping[str, ToolDefinition]) -> None:
        self._tools = tools

    def has(self, tool: str) -> bool:
        """True if this tool may be called."""
        return tool in self._tools

    def tool(self, name: str) -> ToolDefinition | None:
        """The definition of this tool, if it may be called."""
        return self._tools.get(name)

    def order(
        self,
        tool: str,
        about: str,
        tell: Telling,
        *,
        is_free: bool = False,
        **arguments: Any,
    ) -> Order | None:
        """The order, or None if the tool is not offered or does not take these arguments."""
        if tool not in self._tools:
            return None
        fitted = _fitted(self._tools[tool].parameters_json_schema, arguments)
        return None if fitted is None else Order(tool, fitted, about, tell, is_free)


Reader = Callable[[Words, Offer], Understood]


def saying(sentence: str) -> Telling:
    """Says this sentence, whatever the tool's result."""
    return lambda _: sentence


def one(order: Order | None) -> list[Order] | None:
    """This order alone, or nothing if there is none."""
    return None if order is None else [order]


def every(orders: list[Order | None]) -> list[Order] | None:
    """All of these orders, or nothing if one of them cannot be given."""
    kept = [order for order in orders if order is not None]
    return kept if kept and len(kept) == len(orders) else None


def _fitted(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments under the names the schema has for them; None if one has no place or a required one is missing."""
    known: Mapping[str, Any] = schema.get("properties", {})
    fitted: dict[str, Any] = {}
    for name, value in arguments.items():
        places = (place for place in _NAMES.get(name, (name,)) if place in known and place not in fitted)
        place = next(places, None)
        if place is None:
            return None
        fitted[place] = value
    return fitted if set(schema.get("required", ())) <= set(fitted) else None
