"""The JSON Schema of workflows, loaded once, and what it finds wrong with a document, in sentences."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from laneway.lanes.workflow.finding import Finding
from laneway.lanes.workflow.patching import pointer

MOST_FINDINGS = 20


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The schema as it is served at /workflows/schema and shown to a model."""
    text = files("laneway.lanes.workflow").joinpath("schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=1)
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema())


@lru_cache(maxsize=1)
def node_types() -> tuple[str, ...]:
    return tuple(schema()["$defs"]["node"]["properties"]["type"]["enum"])


def config_keys(node_type: str) -> tuple[str, ...]:
    """The keys a node of this type reads from its config."""
    return tuple(schema()["$defs"][node_type]["properties"])


def problems(document: Any) -> list[Finding]:
    """What the schema finds wrong: each names its node, its path and a repair; none when the document fits."""
    found = [_finding(document, error) for error in _some(_validator().iter_errors(document))]
    return found or _misspelt(document)


def _some(errors: Iterator[jsonschema_rs.ValidationError]) -> Iterator[jsonschema_rs.ValidationError]:
    for _, error in zip(range(MOST_FINDINGS), errors, strict=False):
        yield error


def _finding(document: Any, error: jsonschema_rs.ValidationError) -> Finding:
    path = list(error.instance_path)
    place, node = _place(document, path)
    message, repair = _sentence(error, _at(document, path), place, path)
    return Finding("schema", message, repair, node, pointer(path))


def _sentence(error: Any, value: Any, place: str, path: Sequence[Any]) -> tuple[str, str]:
    kind, wanted = str(error.kind.name), error.kind.value
    match kind:
        case "required":
            return f"{place} has no {wanted!r}.", f"Add {wanted!r}."
        case "additionalProperties":
            return _unknown(place, str(wanted[0]), _allowed(path))
        case "enum":
            near = nearest(str(value), [str(each) for each in wanted])
            hint = f"Did you mean {near!r}?" if near else f"Use one of: {', '.join(map(str, wanted))}."
            return f"{place} is {_shown(value)}, which is unknown.", hint
        case "type":
            types = [wanted] if isinstance(wanted, str) else list(wanted)
            return f"{place} is {_shown(value)}.", f"Make it {' or '.join(_A.get(each, each) for each in types)}."
        case "pattern":
            return f"{place} is {_shown(value)}, which is not allowed.", _PATTERNS.get(str(wanted), f"Match {wanted}.")
        case "anyOf":
            return f"{place} is {_shown(value)}.", _choices(error)
        case "minItems":
            return f"{place} is empty.", "Keep at least one."
    return f"{place} is wrong: {_trimmed(error.message)}.", _LIMITS.get(kind, "Mend it.").format(wanted)


_A = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_PATTERNS = {"^[A-Za-z0-9_-]+$": "Use letters, digits, _ and - only."}
_LIMITS = {
    "minimum": "Use at least {}.",
    "maximum": "Use at most {}.",
    "maxLength": "Use at most {} characters.",
    "minLength": "Do not leave it empty.",
    "maxItems": "Keep at most {}.",
}


def _choices(error: Any) -> str:
    """What a value that fits none of several schemas could be."""
    found = [each for group in error.kind.value for each in group]
    types = [
        _A.get(str(name), str(name)) for each in found if each.kind.name == "type" for name in _list(each.kind.value)
    ]
    limits = [_LIMITS[each.kind.name].format(each.kind.value) for each in found if each.kind.name in _LIMITS]
    if limits:
        return " ".join(dict.fromkeys(limits))
    return (
        f"Make it {' or '.join(dict.fromkeys(types))}, or a reference such as $nodes.id.field." if types else "Mend it."
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _unknown(place: str, key: str, known: Sequence[str]) -> tuple[str, str]:
    near = nearest(key, known)
    hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(known)}."
    return f"{place} has an unknown key {_shown(key)}.", hint


def _allowed(path: Sequence[Any]) -> list[str]:
    definitions = schema()["$defs"]
    if not path:
        return list(schema()["properties"])
    if path[-1] == "retry":
        return list(definitions["retry"]["properties"])
    return list(definitions["node" if path[0] == "nodes" else "edge"]["properties"])


def _misspelt(document: Mapping[str, Any]) -> list[Finding]:
    """Keys of a config that are almost a key its type reads: a slip that would be ignored without a word."""
    found = []
    for index, node in enumerate(document["nodes"]):
        known = config_keys(node["type"])
        for key in node.get("config", {}):
            near = None if key in known else nearest(key, [each for each in known if each not in node["config"]])
            if near and _slip(key, near):
                message = f"The config of node {node['id']!r} ({node['type']}) has an unknown key {_shown(key)}."
                path = pointer(["nodes", index, "config", key])
                found.append(Finding("schema", message, f"Did you mean {near!r}?", node["id"], path))
    return found


def _slip(key: str, near: str) -> bool:
    """Whether a key is a known one with a slip in it, and not a word of its own that goes on differently."""
    one, other = _bare(key), _bare(near)
    return one == other or not (one.startswith(other) or other.startswith(one))


def _bare(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that was probably meant."""
    plain, bare = {_bare(each): each for each in known}, _bare(word)
    close = [bare] if bare in plain else difflib.get_close_matches(bare, list(plain), 1, 0.8)
    return plain[close[0]] if close else None


def _place(document: Any, path: Sequence[Any]) -> tuple[str, str | None]:
    """The place in words, and the id of the node it lies in."""
    if not path:
        return "The workflow", None
    if len(path) == 1 or path[0] not in ("nodes", "edges", "triggers"):
        return f"{'.'.join(map(str, path))!r} of the workflow", None
    thing, rest = _at(document, path[:2]), ".".join(map(str, path[2:]))
    whole, node = _named(str(path[0]), int(path[1]), thing)
    return (f"{rest!r} of {whole}" if rest else whole[0].upper() + whole[1:]), node


def _named(kind: str, index: int, thing: Any) -> tuple[str, str | None]:
    if not isinstance(thing, Mapping):
        return f"{kind[:-1]} {index}", None
    if kind == "nodes" and isinstance(thing.get("id"), str):
        return f"node {_shown(thing['id'])}", thing["id"]
    if kind == "edges" and "from" in thing and "to" in thing:
        return f"edge {index} ({_trimmed(str(thing['from']))} → {_trimmed(str(thing['to']))})", None
    return f"{kind[:-1]} {index}", None


def _at(document: Any, path: Sequence[Any]) -> Any:
    for part in path:
        document = document[part]
    return document


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return _trimmed(json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value))


def _trimmed(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
