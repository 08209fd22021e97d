"""An MCP server that misbehaves, written by hand: the library's own server would not let a tool do these things.

`python mcp_rude_server.py [MODE]`: deaf, broken or nonsense from the start, one with too many tools; else its tools are
the misbehaviour.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

TOOLS = ["add", "crash", "freeze", "endless_line", "chatter", "wrong_shape", "lie_about_id", "grow"]


def say(message: dict[str, Any]) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def called(name: str, arguments: dict[str, Any]) -> Any:
    match name:
        case "crash":
            os._exit(3)
        case "freeze":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "endless_line":
            while True:
                os.write(1, b"x" * 65536)
        case "chatter":
            os.write(1, b'hello there\n{"half": \n\n\xff\xfe\n[]\n42\n')
        case "wrong_shape":
            return {"content": "not a list", "isError": "perhaps"}
        case "grow":
            TOOLS.append("grown")
            say({"method": "notifications/tools/list_changed"})
        case "lie_about_id":
            say({"id": 987654321, "result": {"content": []}})
    total = sum(value for value in arguments.values() if isinstance(value, int))
    return {"content": [{"type": "text", "text": str(total)}]}


def answered(method: str, params: dict[str, Any]) -> Any:
    if method == "initialize":
        about = {"name": "rude", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": about,
        }
    if method == "tools/list":
        reads = {"annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}}
        return {"tools": [{"name": name, "description": name.replace("_", " "), **reads} for name in TOOLS]}
    return called(params["name"], params.get("arguments") or {})


def main(mode: str) -> None:
    if mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if mode == "many":
        TOOLS[:] = ["weather_forecast", *(f"press_button_{number}" for number in range(30))]
    if mode == "broken":
        sys.stderr.write("cannot find my config\n")
        sys.exit(7)
    while mode == "nonsense":
        os.write(1, b"this is not JSON\n")
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        if asked["method"] in ("initialize", "tools/list", "tools/call"):
            say({"id": asked["id"], "result": answered(asked["method"], asked.get("params") or {})})
        else:
            say({"id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
