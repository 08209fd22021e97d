"""From an operation and its parameters to the request that is sent, or a sentence that says what is wrong."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from laneway.errors import BadInput
from laneway.lanes.tools.openapi_document import BODIES, ROOT, Document, Operation, Parameter, brief
from laneway.sandbox.exchange import Question, checked_headers


def request(
    operation: Operation, document: Document, server: str, parameters: Mapping[str, Any], headers: Mapping[str, str]
) -> Question:
    """The request; BadInput if the parameters are not what the document says."""
    check(operation, document, parameters)
    path, query, own = operation.path, [], {}
    for one in operation.parameters:
        if one.key not in parameters:
            continue
        value = parameters[one.key]
        match one.place:
            case "path":
                path = path.replace(f"{{{one.name}}}", _segment(one, value))
            case "query":
                query += list(_query(one, value))
            case "header":
                own[one.name] = _joined(value)
            case _:
                raise BadInput(f"`{one.key}` is a cookie, and cookies are not sent.", hint="Leave it out.")
    kind, content = _body(operation, parameters.get("body"))
    url = server.rstrip("/") + quote(path, safe="/%:@!$&'()*+,;=~-._")
    # The owner's own headers come last: a parameter cannot take the place of a key.
    sent = {**checked_headers(own), **kind, **headers}
    return Question(operation.method, f"{url}?{urlencode(query)}" if query else url, sent, content)


def check(operation: Operation, document: Document, parameters: Mapping[str, Any]) -> None:
    """Returns only if the parameters are what the operation takes."""
    # The library reads a good part of the disk when it is imported; most runs never need it.
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    schema = operation.schema
    if unknown := [name for name in parameters if name not in schema["properties"]]:
        near = nearest(unknown[0], schema["properties"]) or schema["properties"]
        hint = f"It takes {', '.join(near)}." if near else "It takes no parameters."
        raise BadInput(f"{operation.name} has no parameter `{unknown[0][:60]}`.", hint=hint)
    there = Registry().with_resource(ROOT, Resource.from_contents(document.root, DRAFT202012))
    try:
        faults = sorted(
            Draft202012Validator(schema, registry=there).iter_errors(dict(parameters)), key=lambda f: len(f.path)
        )
    except Unresolvable:
        # Its own document is incomplete; the API will say what it thinks.
        return
    if faults:
        where = ".".join(str(part) for part in faults[0].path)
        told = faults[0].message[:200]
        sentence = f"{operation.name}, `{where}`: {told}." if where else f"{operation.name}: {told}."
        raise BadInput(sentence, hint=f"It takes {brief(schema, document.root)}.")


def nearest(name: str, known: Iterable[str], most: int = 5) -> list[str]:
    """Those of the known names that may have been meant: alike as a whole, or sharing a word."""
    names = list(known)
    close = difflib.get_close_matches(name.lower(), [one.lower() for one in names], n=most, cutoff=0.5)
    by_lower = {one.lower(): one for one in names}
    return [by_lower[one] for one in close]


def _segment(parameter: Parameter, value: Any) -> str:
    text = quote(_joined(value), safe="")
    if text in ("", ".", ".."):
        # The address would lead to another operation.
        raise BadInput(f"`{parameter.key}` cannot be `{text}`.", hint="Give the id of one thing.")
    return text


def _query(parameter: Parameter, value: Any) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        if parameter.style == "deepObject":
            return [(f"{parameter.name}[{key}]", _plain(inner)) for key, inner in value.items()]
        if parameter.explode:
            return [(key, _plain(inner)) for key, inner in value.items()]
        return [(parameter.name, ",".join(f"{key},{_plain(inner)}" for key, inner in value.items()))]
    if isinstance(value, list) and parameter.explode:
        return [(parameter.name, _plain(inner)) for inner in value]
    return [(parameter.name, _joined(value))]


def _body(operation: Operation, body: Any) -> tuple[dict[str, str], bytes | None]:
    if body is None:
        return {}, None
    kind = operation.body_type
    if kind == "application/x-www-form-urlencoded" and isinstance(body, dict):
        return {"Content-Type": kind}, urlencode({key: _plain(value) for key, value in body.items()}).encode()
    if kind == "text/plain":
        return {"Content-Type": "text/plain; charset=utf-8"}, _plain(body).encode()
    if kind == "application/json" or kind.endswith("+json"):
        return {"Content-Type": kind}, json.dumps(body, ensure_ascii=False).encode()
    raise BadInput(f"{operation.name} takes a body of the kind {kind[:60]}.", hint=f"Only {', '.join(BODIES)} is sent.")


def _joined(value: Any) -> str:
    return ",".join(_plain(inner) for inner in value) if isinstance(value, list) else _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)
