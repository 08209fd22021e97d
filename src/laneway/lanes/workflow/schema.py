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
from laneway.lanes.workflow.quoting import named, short, shown

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


def load() -> None:
    """The schema is read and compiled; nobody waits for that later."""
    _validator()


@lru_cache(maxsize=32)
def _settings_validator(node_type: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{node_type}", "$defs": schema()["$defs"]})


@lru_cache(maxsize=1)
def node_types() -> tuple[str, ...]:
    return tuple(schema()["$defs"]["node"]["properties"]["type"]["enum"])


def config_keys(node_type: str) -> tuple[str, ...]:
    """The keys a node of this type reads from its config."""
    return tuple(schema()["$defs"][node_type]["properties"])


def problems(document: Any) -> list[Finding]:
    """What the schema finds wrong: each names its node, its path and a repair; none when the document fits."""
    return [_finding(document, error) for error in _some(_validator().iter_errors(document))]


def unfit(node: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Settings of a node that its type cannot work with: what is wrong, what to do, and where below its config."""
    config, kind = node.get("config", {}), node["type"]
    for error in _some(_settings_validator(kind).iter_errors(config)) if kind in schema()["$defs"] else ():
        path = list(error.instance_path)
        yield *_sentence(error, _at(config, path), repr(".".join(map(str, path)))), path


def _some(errors: Iterator[jsonschema_rs.ValidationError]) -> Iterator[jsonschema_rs.ValidationError]:
    for _, error in zip(range(MOST_FINDINGS), errors, strict=False):
        yield error


def _finding(document: Any, error: jsonschema_rs.ValidationError) -> Finding:
    path = list(error.instance_path)
    place, node = _place(document, path)
    message, repair = _sentence(error, _at(document, path), place)
    return Finding("schema", message, repair, node, pointer(path))


def _sentence(error: Any, value: Any, place: str) -> tuple[str, str]:
    kind, wanted = str(error.kind.name), error.kind.value
    match kind:
        case "required":
            return f"{place} has no {wanted!r}.", f"Add {wanted!r}."
        case "enum":
            near = difflib.get_close_matches(str(value).lower(), [str(each) for each in wanted], 1, 0.8)
            hint = f"Did you mean {near[0]!r}?" if near else f"Use one of: {', '.join(map(str, wanted))}."
            return f"{place} is {shown(value)}, which is unknown.", hint
        case "type":
            types = [wanted] if isinstance(wanted, str) else list(wanted)
            return f"{place} is {shown(value)}.", f"Make it {' or '.join(_A.get(each, each) for each in types)}."
        case "pattern":
            return f"{place} is {shown(value)}, which is not allowed.", _PATTERNS.get(str(wanted), f"Match {wanted}.")
        case "anyOf":
            return f"{place} is {shown(value)}.", _choices(error)
        case "minItems":
            return f"{place} is empty.", "Keep at least one."
    return f"{place} {_beyond(kind, value, error)}.", _LIMITS.get(kind, "Mend it.").format(wanted)


def _beyond(kind: str, value: Any, error: Any) -> str:
    """What a value is beyond its limit; never the value itself where it is long."""
    match kind:
        case "minimum":
            return f"is {shown(value)}, which is too small"
        case "maximum":
            return f"is {shown(value)}, which is too large"
        case "minLength":
            return "is empty"
        case "maxLength":
            return f"has {len(value)} characters"
        case "maxItems":
            return f"has {len(value)} entries"
    return f"is wrong: {short(error.message)}"


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
        return f"node {shown(thing['id'])}", thing["id"]
    if kind == "edges" and "from" in thing and "to" in thing:
        return f"edge {index} ({named(thing['from'])} → {named(thing['to'])})", None
    return f"{kind[:-1]} {index}", None


def _at(document: Any, path: Sequence[Any]) -> Any:
    for part in path:
        document = document[part]
    return document
