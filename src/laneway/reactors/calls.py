"""Tool calls as reactors compare and sort them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from laneway.domain.redaction import redacted
from laneway.sandbox.tool_calls import command_of, kind_of

_REMARKS = {"description", "explanation"}
"""What an agent says about a command, in new words each time."""
_REDACTED_UP_TO = 500
_ASKING = {"askuserquestion", "exitplanmode", "ask_user", "request_user_input", "ask_followup_question"}
_DELEGATING = {"task", "agent", "spawn_agent", "wait_agent", "delegate", "delegate_to_agent"}


class Category(StrEnum):
    """What a tool does, for people who look on."""

    READ = "read"
    WRITE = "write"
    EXEC = "exec"
    ASK = "ask"
    """It asks the person in front of the agent."""
    DELEGATE = "delegate"
    """It sets another agent to work."""
    OTHER = "other"


_BY_KIND = {
    "exec": Category.EXEC, "read": Category.READ, "write": Category.WRITE, "delete": Category.WRITE,
    "send": Category.WRITE,
}  # fmt: skip


def category(tool: str, arguments: Mapping[str, Any]) -> Category:
    """What a call does, by the tool's name and the names of its arguments."""
    return _category(tool, frozenset(arguments), arguments.get("command") == "view")


@lru_cache(maxsize=2_000)
def _category(tool: str, names: frozenset[str], viewing: bool) -> Category:
    bare = tool.lower()
    if bare in _ASKING:
        return Category.ASK
    if bare in _DELEGATING:
        return Category.DELEGATE
    given = dict.fromkeys(names, "x") | ({"command": "view"} if viewing else {})
    return _BY_KIND.get(kind_of(tool, given), Category.OTHER)


_newest: tuple[str, Mapping[str, Any], str] = ("", {}, "")
"""The last call a key was made of: several reactors ask for the same one in turn."""


def key_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same for the same call. What is stored of a call gives the same key, unless it is long."""
    global _newest
    name, known, key = _newest
    if known is not arguments or name != tool or not arguments:
        key = _key(tool, arguments)
        _newest = (tool, arguments, key)
    return key


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    told = {name: value for name, value in arguments.items() if name not in _REMARKS} if arguments else {}
    written = _written(told)
    if len(written) <= _REDACTED_UP_TO:
        # Stored calls carry no secrets, so that those of live ones must not count either.
        written = _written(redacted(told))
    return hashlib.blake2b(tool.encode("utf-8", "replace") + b"\0" + written, digest_size=12).hexdigest()


def _written(value: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(value, default=str, sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError):
        # Keys of several types, or nested too deep.
        return repr(value)[:100_000].encode("utf-8", "replace")


def matches(patterns: tuple[str, ...], tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call is one of `Tool` or `Tool(command)`; `*` stands for anything."""
    for pattern in patterns:
        name, _, rest = pattern.partition("(")
        if not fnmatchcase(tool.lower(), name.strip().lower()):
            continue
        if not rest or fnmatchcase((command_of(arguments) or "").strip(), rest.removesuffix(")")):
            return True
    return False
