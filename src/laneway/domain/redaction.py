"""Keeps secrets out of what people and logs see: by the name they stand under, and by the look of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "•••"
_NAMES = re.compile(
    r"(authori[sz]ation|cookie|passw(or)?d|passphrase|secret|token|api[-_ ]?key|private[-_ ]?key|credential)", re.I
)
_LOOKS = re.compile(
    r"""
    \b(?:sk|pk|rk)-[\w-]{16,}                       # model and payment providers
  | \b(?:ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|lw)_?[-\w]{20,}
  | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
  | \beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}          # a JSON web token
  | \b\d{8,10}:[A-Za-z0-9_-]{35}\b                  # a bot's token
  | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
  | (?<=[Bb]earer\ )[\w.~+/=-]{12,}
  | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)                 # user:password in an address
    """,
    re.X | re.S,
)


def redacted(value: Any) -> Any:
    """The same value with everything that is or looks like a secret replaced."""
    if isinstance(value, str):
        return _LOOKS.sub(HIDDEN, value)
    if isinstance(value, Mapping):
        return {
            key: HIDDEN if item and isinstance(item, str) and _NAMES.search(str(key)) else redacted(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value
