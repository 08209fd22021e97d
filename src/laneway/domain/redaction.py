"""Keeps secrets out of what people and logs see: by the name they stand under, and by the look of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "•••"
_WORDS = r"(?:password|passwd|passphrase|pwd|secret|token|credential|cookie|apikey|(?<=[a-z0-9][-_])key|(?<=[?&])key)s?"
_NAMES = re.compile(rf"(?i)authori[sz]ation|{_WORDS}")
_COUNTS = re.compile(r"(?i)(?:^|_)tokens(?:_|$)")
_LOOKS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s:,-]*"), HIDDEN),
    (
        re.compile(r"(?i)\b(authorization[ ]{0,4}[:=][ ]{0,4})(?:(?:bearer|basic|token)[ ]{1,4})?[^\s\"']+"),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)\b((?:bearer|basic)[ ]{1,4})[\w.~+/=-]{8,}"), rf"\1{HIDDEN}"),
    (
        re.compile(
            rf"(?i)(?<![\w-])([\w-]{{0,40}}?{_WORDS}[\"']?[ \t]{{0,4}}(?:=|:(?!//))[ \t]{{0,4}})"
            rf"(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&\"'}}]+)"
        ),
        rf"\1{HIDDEN}",
    ),
    (re.compile(r"(?i)(?<=://)[^\s:/@]{0,80}:[^\s@/]{1,200}(?=@)"), HIDDEN),
    (re.compile(r"\b(?:sk|pk|rk|lw)[-_][\w-]{16,}"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza)[\w-]{8,}"), HIDDEN),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),
    (re.compile(r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"), HIDDEN),
)


def _is_secret(name: str, value: Any) -> bool:
    if _COUNTS.search(name):
        # A model's tokens are counted, not kept: {"tokens": {"input": 12, "output": 3}}.
        counts = value.values() if isinstance(value, Mapping) else (value,)
        if all(isinstance(count, int | float) for count in counts):
            return False
    return bool(value and _NAMES.search(name))


def redacted(value: Any) -> Any:
    """The same value with everything that is or looks like a secret replaced."""
    if isinstance(value, str):
        for pattern, shown in _LOOKS:
            value = pattern.sub(shown, value)
        return value
    if isinstance(value, Mapping):
        return {key: HIDDEN if _is_secret(str(key), item) else redacted(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value
