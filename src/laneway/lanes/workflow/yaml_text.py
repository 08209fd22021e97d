"""Workflows as YAML: what JSON can say, written more readably; everything else that YAML can do is refused."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import yaml

from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow.document import DEEPEST, MOST_BYTES, bounded

_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {
    "bool": (r"true|True|TRUE|false|False|FALSE", "tTfF"),
    "int": r"[-+]?(?:0|[1-9][0-9]*)",
    "float": r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]*(?:[eE][-+][0-9]+)?",
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
}
"""`on`, `yes`, `12:30`, dates and numbers with a leading zero (`02139` is a place) stay the texts they look like; all
that is read here, YAML 1.1 reads the same way."""


class _Loader(_SAFE):  # type: ignore[misc]
    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        if twice := next((key for number, key in enumerate(keys) if key in keys[:number]), None):
            raise yaml.YAMLError(f"the key `{str(twice)[:60]}` stands there twice")
        return super().construct_mapping(node, deep)

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _name, _given in _PLAIN.items():
    _pattern, _first = _given if isinstance(_given, tuple) else (_given, list("-+0123456789"))
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(rf"(?:{_pattern})\Z"), list(_first))


def from_yaml(text: str | bytes, *, most_bytes: int = MOST_BYTES) -> Any:
    """The value of one YAML document; references, double keys, too much and too deep are refused."""
    if len(text) > most_bytes:
        raise TooLarge(f"The YAML has {len(text)} bytes; {most_bytes} are allowed.", hint="Keep large values outside.")
    try:
        whole = text.decode("utf-8") if isinstance(text, bytes) else text
        _look_through(whole)
        value = yaml.load(whole, Loader=_Loader)  # noqa: S506  a safe loader that takes less
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise BadInput(f"This is no YAML that is taken here: {said}.", hint="Correct it.") from None
    bounded(value, most_bytes=most_bytes)
    return value


def to_yaml(value: Any) -> str:
    """The value as YAML that reads back as the same."""
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))


def _look_through(text: str) -> None:
    """Returns only if nothing refers to something else (a small text could become a huge one) or lies too deep."""
    depth = 0
    for event in yaml.parse(text, Loader=_SAFE):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("references (*name) are not taken")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise yaml.YAMLError(f"it is nested deeper than {DEEPEST}")
