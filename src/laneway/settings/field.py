"""How a setting is declared."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

UserPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
"""A path as a person writes it: a shell expands `~`, files do not."""


def setting(default: Any, key: str | None, env: str, meaning: str, **limits: Any) -> Any:
    """A field that knows its place in config.yaml (`key`, none for secrets) and in the environment (`env`)."""
    return Field(default=default, description=meaning, json_schema_extra={"key": key, "env": env}, **limits)
