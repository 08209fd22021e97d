"""MCP servers and OpenAPI documents as the owner names them in config.yaml, under `tools`.

Secrets stand there as `${NAME}` and are taken from the environment or a `.env` file when they are needed; a value
that was written out is kept as a secret, too, and never shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator

from laneway.errors import SettingsError

REFERENCE = re.compile(r"\$\{(\w+)\}")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$", max_length=30)]
"""Small letters, digits, single dashes and underscores: it becomes part of the names of tools."""
Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s/@\\]+(/[^\s\\]*)?$", max_length=2000)]
Host = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[\w.:\[\]-]+(/\d{1,3})?$", max_length=300)]
"""A host, a host with a port, or a range of addresses; who reaches hosts looks at it closer."""
Words = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"^[^\x00]*$")]


class _Connection(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class McpServer(_Connection):
    """One MCP server: a program that is started, or an address that is asked."""

    command: Words | None = None
    args: tuple[Words, ...] = ()
    env: dict[str, SecretStr] = {}
    url: Url | None = None
    headers: dict[str, SecretStr] = {}
    trusted: bool = False
    """Whether its own word that a tool only reads is believed."""
    timeout_seconds: float = Field(default=60, gt=0, le=600)
    start_seconds: float = Field(default=20, gt=0, le=120)

    @model_validator(mode="after")
    def _one_way_to_it(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either `command` or `url`")
        if self.url is None and self.headers:
            raise ValueError("`headers` go with `url`")
        if self.command is None and (self.args or self.env):
            raise ValueError("`args` and `env` go with `command`")
        return self


class OpenApiDocument(_Connection):
    """One API: its description, where it is served, and what every request to it carries."""

    document: Words
    """A file (from the data directory, if the path is not absolute) or an address."""
    server: Url | None = None
    headers: dict[str, SecretStr] = {}


def expanded(text: str | SecretStr, variables: Mapping[str, str]) -> str:
    """The text with every `${NAME}` replaced, or a SettingsError that names what is not set."""
    plain = text.get_secret_value() if isinstance(text, SecretStr) else text
    missing = [name for name in REFERENCE.findall(plain) if not variables.get(name)]
    if missing:
        raise SettingsError(f"{', '.join(missing)} is not set.", hint="Set it in the environment or in `.env`.")
    return REFERENCE.sub(lambda match: variables[match[1]], plain)
