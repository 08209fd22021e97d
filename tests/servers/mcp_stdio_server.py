"""A real MCP server as a program: `python mcp_stdio_server.py [stubborn]`; a stubborn one does not end when asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

server = MCPServer("odds and ends")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def write_note(text: str) -> str:
    """Write a note down."""
    return f"Noted: {text}"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def environment() -> dict[str, str]:
    """Show the environment of this server."""
    return dict(os.environ)


@server.tool()
def fail() -> str:
    """Fail with a sentence."""
    raise ToolError("the drawer is stuck")


@server.tool()
def sleep(seconds: float) -> str:
    """Sleep for a while."""
    time.sleep(seconds)
    return "awake"


@server.tool()
def much() -> str:
    """Return more than anybody wants to read."""
    return "y" * 1_500_000


@server.tool()
def spawn(file: str) -> str:
    """Start a child that ignores polite requests to end, and write its id to a file."""
    ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", ignore])
    Path(file).write_text(str(child.pid))
    return "spawned"


@server.tool(name="a tool/with odd ✨ name " + "x" * 60)
def odd() -> str:
    """Have a name no provider takes."""
    return "odd"


def main(mode: str) -> None:
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server.run()
    if mode == "stubborn":
        time.sleep(600)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
