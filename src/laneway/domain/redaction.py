"""Keeps secrets out of what people and logs see: by the name they stand under, and by the look of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]
HIDDEN = "•••"
_WORDS = (
    r"(?:password|passwd|passwort|passphrase|pwd|secret|token|credential|cookie|apikey|(?<=[a-z0-9][-_])(?:key|pass)"
    r"|(?<=[?&])(?:key|pass|auth|sig|appid|(?:x-amz-)?signature))s?"
)
_NAMES = re.compile(rf"(?i)authori[sz]ation|{_WORDS}")
_COUNTS = re.compile(r"(?i)(?:^|_)tokens(?:_|$)")
_LOOKS = tuple(
    re.compile(look)
    for look in (
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s:,-]*",
        r"(?i)\b(authorization[ ]{0,4}[:=][ \t]{0,4})(?:[a-z][a-z-]{0,30}[ \t]{1,4})?[^\s\"']+",
        r"(?i)\b((?:bearer|basic(?=[ \t]{1,4}\S{0,80}?(?-i:[a-z][A-Z])))[ \t]{1,4})[\w.~+/=-]{8,}",
        rf"(?i)(?<![\w-])([\w-]{{0,40}}?{_WORDS}[\"']?[ \t]{{0,4}}(?:=|:(?!//))[ \t]{{0,4}})"
        r"(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&\"'}]+)",
        r"(?i)(?<=://)[^\s:/@]{0,80}:[^\s@/]{1,200}(?=@)",
        r"(?<=://)(?=[\w-]{0,60}?[A-Za-z0-9]{16})[\w-]{16,200}(?=@)",
        r"\b(?:lw[-_]|(?:sk|pk|rk)[-_](?=[\w-]{0,80}?[A-Za-z0-9]{12}))[\w-]{12,}",
        r"\b(?:gh[pousr]_|sk-(?:ant|proj)-|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza)[\w-]{8,}",
        r"\b(?:(?:hf|npm|whsec|dop_v1|shpat|gsk|lin_api|ntn)_|dapi)[A-Za-z0-9]{16,}",
        r"\b(?:pypi-|xapp-|GOCSPX-|SG\.|ya29\.|hvs\.|ATATT)[\w.-]{16,}",
        r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}\b",
        r"(?<=hooks\.slack\.com/services/)[\w/]{20,}|(?<=/api/webhooks/)\d{6,}/[\w-]{20,}",
    )
)
"""What is a secret by its look; what tells that it is one, and may be seen, is in brackets."""
LONGEST_READ = 200
"""Characters of a value by which it is told whether it is a secret."""
_ANY = re.compile(r"\w")
_RANDOM = re.compile(r"(?=[a-zA-Z]*\d)(?=\d*[a-zA-Z])[A-Za-z0-9]{6,}|(?:[A-Z]+[a-z]+){4,}|\w{32,}")
"""A run of characters that no word looks like: letters among digits, capitals here and there, or a very long one."""
_KEY = re.compile(r"(?<![A-Za-z0-9])(?=[a-zA-Z]{0,200}\d)(?=\d{0,200}[a-zA-Z])[A-Za-z0-9]{16,}")
_NAME_CLASSES: tuple[tuple[str, re.Pattern[str] | None], ...] = (
    (r"^(?:has|is|needs|max|min|page|next)_", None),
    (r"(?:^|_)(?:ur[il]|endpoint|(?<!app_)id|type|name|in|format|selector|description)$", None),
    (r"(?:passw(?:or)?d|passwort|passphrase|pwd|secret|authori[sz]ation|api_?key)$", _ANY),
    (r"(?:passw(?:or)?d|passphrase|secret|token|credential|cookie|authori[sz]ation|api_?key)s?$", _RANDOM),
    (r"(?:^|_)(?:pass|auth|(?:access|secret|private|subscription|signing|account)_?keys?)$", _RANDOM),
    (r"keys?$|(?:^|_)(?:sig|signature|app_?id)$", _KEY),
)
"""By the end of its name: what a value must look like to be a secret. The first class that fits decides."""
_PLACEHOLDER = re.compile(
    r"\$\{[^{}]*\}|\{\{[^{}]*\}\}|\{[\w.$-]+\}|<[^<>\s]*>|\$\.[\w.\[\]]+|\$(?:[A-Z][A-Z0-9_]*|[a-z_]+)\b(?:[.\[][\w.\[\]]*)?"
)
_QUOTED = re.compile(r"(['\"])(.*?)\1")
_JOINED = re.compile(r"(['\"])[ ]{0,4}\+[ ]{0,4}\1")
_LEFT_OUT = re.compile(r"…|\.{3}|•+|\*{3,}|(?<![A-Za-z0-9])(?i:x{3,})(?![A-Za-z0-9])")
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z-]*\s+")
_HARMLESS = re.compile(
    r"https?://.*|[A-Z]+(?:_[A-Z]+)+|[A-Za-z_][\w.]*\(.*|.*=|(?i:your[-_].*|bearer|basic|token"
    r"|none|null|true|false|yes|no|string|text|number|boolean|object|array|required|optional)"
)
_ADDRESS = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]+|\.{0,2}/.*|[\w./-]+\.[a-z]{2,4}")
"""What names a thing, and is random without being secret: a UUID, an address, a path."""


def _is_secret(name: str, value: Any) -> bool:
    # A model's tokens are counted, not kept: {"tokens": {"input": 12, "output": 3}}.
    counts = value.values() if isinstance(value, Mapping) else (value,)
    counted = _COUNTS.search(name) and all(isinstance(count, int | float) for count in counts)
    return bool(value and _NAMES.search(name) and not counted)


def redacted(value: Any) -> Any:
    """The same value with everything that is or looks like a secret replaced."""
    if isinstance(value, str):
        for look in _LOOKS:
            value = look.sub(rf"\1{HIDDEN}" if look.groups else HIDDEN, value)
        return value
    if isinstance(value, Mapping):
        return {key: HIDDEN if _is_secret(str(key), item) else redacted(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value


def exposed(value: Any, path: Path = (), look: re.Pattern[str] | None = None) -> Iterator[Path]:
    """The places in a document or a text where a secret is written out; a reference or another placeholder is none.

    `look` is what makes a secret of a value, by the names above it. A key that is a secret is found where it is held.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            if holds_secret(str(key)):
                yield path
            else:
                yield from exposed(item, (*path, str(key)), _look_under(str(key), look))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from exposed(item, (*path, index), look)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = _LEFT_OUT.sub("…", _PLACEHOLDER.sub(_literal, _JOINED.sub("", str(value))))
        found = (match for one in _LOOKS for match in one.finditer(text))
        if (look and _holds(look, text)) or any(map(_is_credential, found)):
            yield path


def _look_under(name: str, above: re.Pattern[str] | None) -> re.Pattern[str] | None:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|-", "_", name[-LONGEST_READ:]).lower()
    carried = _RANDOM if above is _ANY and not re.fullmatch(r"values?|default|const|_|\d+", words) else above
    return next((look for names, look in _NAME_CLASSES if re.search(names, words)), carried)


def _literal(placeholder: re.Match[str]) -> str:
    """What a placeholder writes out instead of referring to it."""
    quoted = " ".join(found[2] for found in _QUOTED.finditer(placeholder[0]))
    return quoted or (placeholder[0].strip("${}<>") if _KEY.search(placeholder[0]) else "")


def _holds(look: re.Pattern[str], text: str) -> bool:
    """Whether a value without references is a secret: any word after the scheme that is no plain one."""
    words = [word for word in re.split(r"[\s,;]+", _SCHEME.sub("", text[:LONGEST_READ]).strip("\"'")) if word]
    odd = [word for word in words if not _HARMLESS.fullmatch(word)]
    if look is _ANY and ("…" in text or (len(words) > 1 and (len(odd) < len(words) or _NAMES.search(text)))):
        look = _RANDOM
    return any(look.search(word) and (look is _ANY or not _ADDRESS.fullmatch(word)) for word in odd)


def _is_credential(match: re.Match[str]) -> bool:
    """Whether what looks like a secret is one, and not a sentence about secrets."""
    whole, label = match[0], match[1] if match.re.groups else ""
    value = whole[len(label) :].strip("\"' ")[:LONGEST_READ]
    before = match.string[max(0, match.start() - 3) : match.start()]
    if whole.startswith(("-----BEGIN", "xox")) or (before == "://" and ":" in whole):
        return True
    if not label.rstrip().endswith(("=", ":")):
        return bool(_RANDOM.search(value))
    look = _look_under(label.strip("=:\"' \t"), None)
    # In a sentence a word may follow the name, "password: required"; not in an address, in JSON or after a scheme.
    plain = (
        not before.endswith(("?", "&")) and '"' not in label and not re.match(r"(?i)(?:bearer|basic|token)\s", value)
    )
    return look is not None and _holds(_RANDOM if look is _ANY and plain else look, value)


def holds_secret(value: Any) -> bool:
    """Whether a secret is written out anywhere in it."""
    return next(exposed(value), None) is not None


def without_secrets(text: str) -> str:
    """The text, with what is a secret in it replaced; a text that only speaks of secrets stays as it is."""
    shown = str(redacted(text)) if holds_secret(text) else text
    return HIDDEN if holds_secret(shown) else shown
