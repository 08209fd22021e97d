"""How a setting is declared."""

from __future__ import annotations

from typing import Any

from pydantic import Field


def setting(default: Any, key: str | None, env: str, meaning: str, **limits: Any) -> Any:
    """A field that knows its place in config.yaml (`key`, none for secrets) and in the environment (`env`)."""
    return Field(default=default, description=meaning, json_schema_extra={"key": key, "env": env}, **limits)
