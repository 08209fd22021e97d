"""The settings as a record may show them: what differs from the defaults, and of secrets only that they are set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from laneway.settings.fields import Settings

_LONGEST = 300


def told(settings: Settings) -> dict[str, str]:
    """Every setting that somebody changed, by name."""
    fields = Settings.model_fields
    changed = {name: getattr(settings, name) for name, field in fields.items() if name != "home"}
    return {name: _text(value) for name, value in changed.items() if value != fields[name].default}


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return f"set ({_fingerprint(value.get_secret_value())})"
    plain = isinstance(value, str | int | float | Path) or all(isinstance(one, str) for one in value or ())
    # What is nested may hold secrets under any name.
    return str(value)[:_LONGEST] if plain else _fingerprint(repr(value))


def _fingerprint(text: str) -> str:
    # Of a hash this short nothing can be found out, but that it is another one than before.
    return hashlib.sha256(text.encode()).hexdigest()[:6]
