"""Fills references in a node's settings: what earlier nodes gave, the run's input, and secrets by their name.

Everything is filled twice: once as the node uses it, and once as it may be written down, where a secret stays the
reference it was. What a secret's value leaves in an output is taken out again before anybody stores it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from laneway.domain.redaction import HIDDEN
from laneway.errors import BadInput
from laneway.lanes.workflow.references import Parts, Reference, replaced, whole
from laneway.lanes.workflow.schema import schema

SHORTEST_SECRET = 4
"""Shorter values occur by chance; taking them out would damage texts."""

Secret = Callable[[str], str | None]


@dataclass
class Filling:
    """What may be referred to, and what was: nodes whose outputs were used, secrets whose values were."""

    nodes: Mapping[str, Any]
    input: Any
    previous: Mapping[str, Any]
    """What the nodes gave in the run before."""
    trigger: Mapping[str, Any]
    """What started the run."""
    secret: Secret
    may_know_secrets: bool = False
    used: set[str] = field(default_factory=set)
    told: dict[str, str] = field(default_factory=dict)

    def fill(self, value: Any) -> Any:
        """The value with every reference in it replaced by what it stands for; BadInput names one that is not there."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.fill(item) for key, item in value.items()}
        return [self.fill(item) for item in value] if isinstance(value, list | tuple) else value

    def shown(self, value: Any) -> Any:
        """A filled value as it may be written down: every secret's value is hidden."""
        return scrubbed(value, self.told.values())

    def _text(self, text: str) -> Any:
        alone = whole(text)
        return self._value(alone) if alone else replaced(text, lambda found: _as_text(self._value(found)))

    def _value(self, found: Reference) -> Any:
        root, path, reference = found.root, found.parts, found.text
        if root == "secrets":
            return self._secret(reference, path)
        if root == "nodes":
            if not path:
                raise BadInput(f"`{reference}` names no node.", hint="Write $nodes.id.path.")
            self.used.add(str(path[0]))
        else:
            self.used.add(f"${root}")
        if root == "previous":
            return _found_or_none(self.previous, path)
        known = {"nodes": self.nodes, "input": self.input, "trigger": self.trigger}[root]
        return _looked_up(known, path, reference)

    def _secret(self, reference: str, path: Parts) -> str:
        if not self.may_know_secrets:
            raise BadInput(
                f"`{reference}` cannot be used here.", hint="Secrets are for http, notify and function nodes."
            )
        name = str(path[0]) if len(path) == 1 else ""
        value = self.secret(name) if name else None
        if not value:
            raise BadInput(f"There is no secret `{name}`.", hint=f"`laneway secrets set {name}` keeps it.")
        self.told[name] = value
        return value


def scrubbed(value: Any, secrets: Any) -> Any:
    """The value without these secrets, however deep they lie and whatever they stand in."""
    known = {spelt for one in secrets if len(one) >= SHORTEST_SECRET for spelt in _spellings(one)}
    hidden = sorted(known, key=len, reverse=True)
    return _scrub(value, hidden) if hidden else value


def _spellings(secret: str) -> set[str]:
    """A secret as it is, and as an address or JSON writes it."""
    addresses = {quote(secret, safe=""), quote(secret), quote_plus(secret)}
    return {secret, *addresses, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}


def _scrub(value: Any, hidden: list[str]) -> Any:
    if isinstance(value, str):
        for secret in hidden:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {_scrub(key, hidden): _scrub(item, hidden) for key, item in value.items()}
    return [_scrub(item, hidden) for item in value] if isinstance(value, list | tuple) else value


def _looked_up(value: Any, path: Parts, reference: str) -> Any:
    for part in path:
        if isinstance(value, Mapping) and str(part) in value:
            value = value[str(part)]
        elif isinstance(value, list) and str(part).isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise BadInput(f"`{reference}` leads nowhere: there is no `{part}`.", hint=_offered(value))
    return value


def _found_or_none(value: Any, path: Parts) -> Any:
    """What lies there, else None: the first run has none before it, and the last one may have gone another way."""
    try:
        return _looked_up(value, path, "$previous")
    except BadInput:
        return None


def _offered(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"There are: {', '.join(sorted(map(str, value))[:12]) or 'no fields'}."
    return f"There is a list of {len(value)}." if isinstance(value, list) else "It is a single value."


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)


_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
}


def check_filled(node_type: str, written: Mapping[str, Any], filled: Mapping[str, Any]) -> None:
    """Returns only if every setting that was filled is of a kind that the type takes there, or null.

    That is known only when the node runs.
    """
    for name, value in filled.items():
        kinds = _kinds(node_type, name) if value is not None and value != written[name] else ()
        if kinds and not any(_is(value, kind) for kind in kinds):
            # Only its kind is told: the value may be a secret.
            wanted = " or ".join(_WORDS[kind] for kind in kinds)
            raise BadInput(f"`{name}` was filled with {_kind(value)}.", hint=f"Let it lead to {wanted}.")


@lru_cache(maxsize=256)
def _kinds(node_type: str, name: str) -> tuple[str, ...]:
    """What a setting may be instead of a reference; nothing where any value is made into what is needed."""
    choices = schema()["$defs"].get(node_type, {}).get("properties", {}).get(name, {}).get("anyOf", ())
    return tuple(one["type"] for one in choices if "type" in one)


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "object":
            return isinstance(value, Mapping)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
    if isinstance(value, str):
        # Forms and tables hold numbers as texts.
        return (value.replace(".", "", 1) if kind == "number" else value).isdecimal() and value.isascii()
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    found = next((kind for kind in ("object", "array", "string") if _is(value, kind)), "number")
    return _WORDS[found]
