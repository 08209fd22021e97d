"""Keeps secrets out of what people and logs see: by the name they stand under, and by the look of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    (re.compile(r"\b(?:sk|pk|rk|lw)[-_][\w-]{12,}"), HIDDEN),
    (re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza)[\w-]{8,}"), HIDDEN),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), HIDDEN),
    (re.compile(r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}\b"), HIDDEN),
    (re.compile(r"(?<=hooks\.slack\.com/services/)[\w/]{20,}"), HIDDEN),
)
LONGEST_READ = 200
"""Characters of a value by which it is told whether it is a secret."""
_PLACEHOLDER = re.compile(r"\$\{[^{}]*\}|\$[A-Za-z_][\w.\[\]]*|\{\{[^{}]*\}\}|<[^<>\s]*>")
_LEFT_OUT = re.compile(r"…|\.{3}|•+|\*{3,}|(?i:x{3,})")
_SCHEME = re.compile(r"(?i)\A(?:bearer|basic|token)(?:[ ]+|\Z)")
_VARIABLE = re.compile(r"[A-Z]+(?:_[A-Z]+)+")
_SURE_NAMES = re.compile(r"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|authori[sz]ation|api[-_]?key)s?\Z")
_OTHER_NAMES = re.compile(rf"(?i){_NAMES.pattern[4:]}|^key$|key\Z|^app_?id$|^(?:x-)?auth$|signature\Z")
_RANDOM = re.compile(r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[A-Za-z0-9]{6,}|(?:[A-Z]+[a-z]+){4,}|\w{32,}")
"""A run of characters that no word looks like: letters among digits, capitals here and there, or a very long one."""


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


def exposed(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places in a document or a text where a secret is written out; a reference or another placeholder is none."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if isinstance(item, str) and _holds(str(key), item):
                yield (*path, str(key))
            else:
                yield from exposed(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from exposed(item, (*path, index))
    elif isinstance(value, str):
        text = _LEFT_OUT.sub("", _PLACEHOLDER.sub("", value))
        if any(_is_credential(match) for pattern, _ in _LOOKS for match in pattern.finditer(text)):
            yield path


def _holds(name: str, text: str) -> bool:
    """Whether what stands under this name is a secret."""
    value = _SCHEME.sub("", _PLACEHOLDER.sub("", text).strip())[:LONGEST_READ]
    if not value or _LEFT_OUT.search(value) or re.search(r"\s", value) or _VARIABLE.fullmatch(value):
        return False
    return bool(_SURE_NAMES.search(name) or (_OTHER_NAMES.search(name) and _RANDOM.search(value)))


def _is_credential(match: re.Match[str]) -> bool:
    """Whether what looks like a secret is one, and not a sentence about secrets."""
    whole, label = match[0], match[1] if match.re.groups else ""
    value = whole[len(label) :].strip("\"' ")[:LONGEST_READ]
    if whole.startswith(("-----BEGIN", "xox")) or match.string[max(0, match.start() - 3) : match.start()] == "://":
        return True
    if label and (match.string[: match.start()].endswith(("?", "&")) or _SCHEME.match(value)):
        return _holds(label.strip("=: \"'"), value)
    return bool(_RANDOM.search(value))


def holds_secret(value: Any) -> bool:
    """Whether a secret is written out anywhere in it."""
    return next(exposed(value), None) is not None


def without_secrets(text: str) -> str:
    """The text, with what is a secret in it replaced; a text that only speaks of secrets stays as it is."""
    return str(redacted(text)) if holds_secret(text) else text
