"""Whether an agent's hooks are in place and Laneway answers them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laneway.cli.agent_settings import SettingsFile
from laneway.cli.hook_call import PATIENCE, NoAnswer, asked
from laneway.cli.hook_entries import EVENTS, Wanted, ours
from laneway.errors import BadInput

_TRIAL = json.dumps({"hook_event_name": "Laneway.Status", "session_id": ""}).encode()


def examined(agent: str, path: Path, wanted: Wanted, home: Path) -> dict[str, Any]:
    """The state of one agent's hooks: none, in place, partly, other settings, or unreadable; and of the server."""
    try:
        found = ours(SettingsFile(path).tree, agent)
    except BadInput as error:
        return {"agent": agent, "state": "unreadable", "server": error.message, "file": str(path), "events": []}
    state = _state(agent, found, wanted)
    server = "" if not found else _server(agent, home)
    return {"agent": agent, "state": state, "server": server, "file": str(path), "events": sorted(found)}


def _state(agent: str, found: Mapping[str, Mapping[str, Any]], wanted: Wanted) -> str:
    if not found:
        return "none"
    if set(EVENTS[agent]) - set(found):
        return "partly; install again"
    commands = {str(called["command"]) for called in found.values() if called.get("type") == "command"}
    return "in place" if commands <= {wanted.command} else "other settings; install again"


def _server(agent: str, home: Path) -> str:
    """Whether the server answers a hook with the key a hook would bring."""
    try:
        asked(agent, _TRIAL, str(home), PATIENCE)
    except NoAnswer as error:
        return str(error)
    return "answers"
