"""What `laneway doctor` says of MCP servers, APIs and opened hosts: whether they could be reached, starting none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from laneway.cli.checks import Finding
from laneway.connections import McpServer, OpenApiDocument, expanded
from laneway.errors import SettingsError

STATE = "`laneway tools` shows how it is now."


def outside(
    allowed_hosts: tuple[str, ...], servers: Mapping[str, McpServer], apis: Mapping[str, OpenApiDocument], home: Path,
    variables: Mapping[str, str],
) -> Iterator[Finding]:  # fmt: skip
    """One finding for each server, each API, and the opened hosts; none if there are none."""
    if allowed_hosts:
        yield hosts_readable(allowed_hosts)
    for name, server in servers.items():
        yield mcp_server(name, server, variables)
    for name, api in apis.items():
        yield api_document(name, api, home, variables)


def hosts_readable(entries: tuple[str, ...]) -> Finding:
    """Whether every opened host is one."""
    from laneway.sandbox.hosts import Allowed

    try:
        Allowed.of(entries)
    except SettingsError as error:
        return Finding("allowed hosts", "fail", error.message, error.hint)
    return Finding("allowed hosts", "ok", f"Tools may reach these inner hosts: {', '.join(entries)}.")


def mcp_server(name: str, server: McpServer, variables: Mapping[str, str]) -> Finding:
    """Whether the server could be started or asked."""
    check = f"MCP server {name}"
    try:
        for secret in (*server.env.values(), *server.headers.values()):
            expanded(secret, variables)
        for argument in server.args:
            expanded(argument, variables)
    except SettingsError as error:
        return Finding(check, "fail", error.message, error.hint)
    if server.command is None:
        return Finding(check, "ok", f"It is asked at {server.url}. {STATE}")
    path = server.env["PATH"].get_secret_value() if "PATH" in server.env else os.environ.get("PATH")
    if shutil.which(server.command, path=path) is None:
        return Finding(check, "fail", f"There is no program {server.command}.", "Install it, or give its whole path.")
    return Finding(check, "ok", f"Its program {server.command} is there. {STATE}")


def api_document(name: str, api: OpenApiDocument, home: Path, variables: Mapping[str, str]) -> Finding:
    """Whether the API's document is there, as far as that can be seen without asking anybody."""
    from laneway.errors import BadInput
    from laneway.lanes.tools.openapi_document import read

    check = f"API {name}"
    try:
        for value in api.headers.values():
            expanded(value, variables)
        if api.document.startswith(("http://", "https://")):
            return Finding(check, "ok", f"Its document is read from {api.document}. {STATE}")
        document = read(name, (home / api.document).expanduser().read_text(encoding="utf-8"))
    except SettingsError as error:
        return Finding(check, "fail", error.message, error.hint)
    except (OSError, UnicodeDecodeError):
        return Finding(check, "fail", f"{api.document} cannot be read.", "Correct the path or the file.")
    except BadInput as error:
        return Finding(check, "fail", f"{api.document}: {error.message}", error.hint)
    return Finding(check, "ok", f"{len(document.operations)} operations can be called.")
