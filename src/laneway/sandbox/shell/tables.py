"""The guard's tables: data in TOML files beside the code that reads them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """The table of a name, as its file has it."""
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))


VALUED: dict[str, str] = table("programs/options")
"""Options that take a value, by the program they belong to."""
