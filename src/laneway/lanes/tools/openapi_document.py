"""An OpenAPI 3 document, read: its operations, and what each takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from laneway.errors import BadInput

ROOT = "urn:laneway:document"
METHODS = ("get", "put", "post", "delete", "patch", "head")
BODIES = ("application/json", "application/x-www-form-urlencoded", "text/plain")
DEEPEST = 60
MOST_OPERATIONS = 3000

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One thing an operation takes besides its body."""

    key: str
    """What callers call it: its name, with its place in front where two share a name."""
    name: str
    place: str
    required: bool
    schema: Json
    style: str
    explode: bool
    about: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing an API can do."""

    api: str
    id: str
    method: str
    path: str
    about: str
    parameters: tuple[Parameter, ...]
    body: Json | None = None
    body_type: str = ""
    body_required: bool = False

    @property
    def name(self) -> str:
        return f"{self.api}.{self.id}"

    @property
    def description(self) -> str:
        return f"{self.method} {self.path} {self.about}"

    @property
    def tags(self) -> tuple[str, ...]:
        return (self.api, *(parameter.name for parameter in self.parameters))

    @property
    def schema(self) -> Json:
        """The JSON schema of everything it takes."""
        properties = {one.key: one.schema for one in self.parameters}
        required = [one.key for one in self.parameters if one.required]
        if self.body is not None:
            properties["body"] = self.body
            required += ["body"] if self.body_required else []
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Document:
    """What an API says of itself."""

    operations: dict[str, Operation]
    servers: tuple[str, ...]
    root: Json
    """The document with references that can be looked up, for schemas that point into it."""


def read(api: str, text: str) -> Document:
    """The document, or BadInput that says what is wrong with it."""
    tree = _parsed(text)
    if not isinstance(tree, dict) or not str(tree.get("openapi", "")).startswith("3."):
        raise BadInput("It is not an OpenAPI 3 document.", hint="Convert older ones first.")
    root: Json = _normal(tree, {}, 0)
    operations: dict[str, Operation] = {}
    for operation in _operations(api, root):
        operations.setdefault(operation.id, operation)
        if len(operations) >= MOST_OPERATIONS:
            break
    if not operations:
        raise BadInput("It describes no operation.", hint="Look at its `paths`.")
    return Document(operations, tuple(_servers(root)), root)


def _parsed(text: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text)
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are the safe one
    except (ValueError, yaml.YAMLError, RecursionError):
        raise BadInput("It is neither JSON nor YAML.", hint="Correct it.") from None


def _normal(node: Any, seen: dict[int, Any], depth: int) -> Any:
    """The tree as today's JSON Schema reads it, with references that name the document they point into.

    The same subtree, named again and again by YAML's aliases, is looked at once: a small file stays small.
    """
    if depth > DEEPEST:
        raise BadInput("It is nested too deeply.", hint="Correct it.")
    if isinstance(node, list):
        return [_normal(item, seen, depth + 1) for item in node]
    if not isinstance(node, dict):
        return node
    if id(node) not in seen:
        made = {str(key): _normal(value, seen, depth + 1) for key, value in node.items()}
        seen[id(node)] = _modern(made)
    return seen[id(node)]


def _modern(node: Json) -> Json:
    if isinstance(node.get("$ref"), str) and node["$ref"].startswith("#"):
        node["$ref"] = ROOT + node["$ref"]
    # A pattern of somebody else's could keep this process busy for ever; the API checks it anyway.
    if isinstance(node.get("pattern"), str):
        del node["pattern"]
    if node.get("nullable") is True and isinstance(node.get("type"), str):
        node["type"] = [node["type"], "null"]
        if isinstance(node.get("enum"), list) and None not in node["enum"]:
            node["enum"] = [*node["enum"], None]
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(node.get(exclusive), bool) and node.pop(exclusive) and bound in node:
            node[exclusive] = node.pop(bound)
    return node


def _operations(api: str, root: Json) -> Iterator[Operation]:
    for path, item in _mapping(root.get("paths")).items():
        shared = _mapping(resolved(item, root))
        for method in METHODS:
            if isinstance(found := shared.get(method), dict):
                yield _operation(api, method, path, found, shared.get("parameters") or [], root)


def _operation(api: str, method: str, path: str, node: Json, shared: Any, root: Json) -> Operation:
    told = [_mapping(resolved(one, root)) for one in [*_list(shared), *_list(node.get("parameters"))]]
    unique = {(str(one.get("name")), str(one.get("in"))): one for one in told}
    names = [name for name, _ in unique]
    parameters = tuple(_parameter(one, names) for one in unique.values())
    body = _mapping(resolved(node.get("requestBody"), root))
    content = _mapping(body.get("content"))
    kind = next((known for known in BODIES if known in content), next(iter(content), ""))
    default_id = re.sub(r"[\W_]+", "_", f"{method}_{path}").strip("_")
    return Operation(
        api, re.sub(r"[^\w.-]", "_", str(node.get("operationId") or default_id)), method.upper(), path,
        " ".join(str(node.get("summary") or node.get("description") or "").split())[:300], parameters,
        _mapping(_mapping(content.get(kind)).get("schema")) if content else None, kind, body.get("required") is True,
    )  # fmt: skip


def _parameter(node: Json, names: list[str]) -> Parameter:
    name, place = str(node.get("name")), str(node.get("in"))
    style = str(node.get("style") or ("form" if place in ("query", "cookie") else "simple"))
    explode = node.get("explode")
    return Parameter(
        f"{place}.{name}" if names.count(name) > 1 or name == "body" else name, name, place,
        node.get("required") is True or place == "path", _mapping(node.get("schema")), style,
        explode if isinstance(explode, bool) else style == "form",
        " ".join(str(node.get("description") or "").split())[:120],
    )  # fmt: skip


def resolved(node: Any, root: Json) -> Any:
    """What a reference into the document stands for; the node itself if it is none."""
    for _ in range(20):
        if not isinstance(node, dict) or not isinstance(reference := node.get("$ref"), str):
            return node
        node = root
        if not reference.startswith(f"{ROOT}#/"):
            return {}
        for part in reference.removeprefix(f"{ROOT}#/").split("/"):
            node = _mapping(node).get(part.replace("~1", "/").replace("~0", "~"))
    return {}


def _servers(root: Json) -> Iterator[str]:
    for server in _list(root.get("servers")):
        variables = _mapping(_mapping(server).get("variables"))
        url = str(_mapping(server).get("url", ""))
        for name in re.findall(r"\{(\w+)\}", url):
            url = url.replace(f"{{{name}}}", str(_mapping(variables.get(name)).get("default", "")))
        yield url


def _mapping(node: Any) -> Json:
    return dict(node) if isinstance(node, Mapping) else {}


def _list(node: Any) -> list[Any]:
    return node if isinstance(node, list) else []


def brief(schema: Any, root: Json, depth: int = 3) -> str:
    """A schema in a few words: `{name*: string, kind: "cat" | "dog"}`; the star marks what must be given."""
    node = _mapping(resolved(schema, root))
    if isinstance(choices := node.get("enum"), list):
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices[:12])
    if node.get("type") == "array":
        return f"[{brief(node.get('items'), root, depth - 1)}]" if depth else "list"
    if fields := _mapping(node.get("properties")):
        if not depth:
            return "object"
        required = _list(node.get("required"))
        told = [f"{name}{'*' if name in required else ''}: {brief(inner, root, depth - 1)}"
                for name, inner in list(fields.items())[:30]]  # fmt: skip
        return "{" + ", ".join(told) + "}"
    kind = node.get("type", "any")
    return " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
