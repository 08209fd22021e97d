"""Text that PostgreSQL cannot store is refused on every route, wherever it stands, and nothing fails on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.web.conftest import Door, counts

NUL, HALF = "a\0b", "\ud800"
LOOK_THEMSELVES = ("/hooks/", "/workflow-hooks/", "/telegram/", "/whatsapp/", "/waha/")
"""Below these others post what they have: it is taken as far as it can be."""
Schema = dict[str, Any]


class Description:
    """The API's description, and values that fit it."""

    def __init__(self, document: Schema) -> None:
        self.document = document

    def operations(self) -> Iterator[tuple[str, str, Schema]]:
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def plain(self, schema: Schema) -> Schema:
        """The schema itself: of several the first that is not null."""
        if "$ref" in schema:
            return self.plain(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        choices = [one for one in (*schema.get("anyOf", ()), *schema.get("oneOf", ())) if one.get("type") != "null"]
        return self.plain(choices[0]) if choices else schema

    def fitting(self, schema: Schema, text: str = "x") -> Any:
        """A value that fits, and holds the text wherever a text may stand."""
        schema = self.plain(schema)
        if "enum" in schema or "const" in schema:
            return schema.get("const", next(iter(schema.get("enum", ()))))
        kind = schema.get("type")
        if kind == "string":
            known = {"uuid": str(uuid4()), "date-time": "2026-11-01T00:00:00Z", "date": "2026-11-01"}
            return known.get(schema.get("format", ""), text)
        if kind == "object":
            fields = {name: self.fitting(one, text) for name, one in schema.get("properties", {}).items()}
            return fields or {"x": text}
        if kind == "array":
            return [self.fitting(schema.get("items", {"type": "string"}), text)]
        return {"integer": 1, "number": 1, "boolean": True}.get(kind or "", text)

    def free(self, schema: Schema) -> bool:
        """Whether any text may stand there."""
        return bool(self.fitting(schema, NUL) == NUL)

    def requests(self) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
        """Each route with the text in each place where one may stand: what is sent, and where it stands."""
        for method, path, operation in self.operations():
            parameters = [self.plain(one) for one in operation.get("parameters", ())]
            here = {one["name"]: one for one in parameters if one["in"] == "path"}
            given = {name: str(self.fitting(one["schema"])) for name, one in here.items()}
            for name, one in here.items():
                if self.free(one["schema"]):
                    yield method, path.format(**given | {name: "a%00b"}), f"path {name}", {}
            for one in parameters:
                if one["in"] == "query" and self.free(one["schema"]):
                    yield method, path.format(**given), f"query {one['name']}", {"params": {one["name"]: NUL}}
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if schema is not None:
                for text in (NUL, HALF):
                    whole = self.fitting(schema, text)
                    bodies = {"all": whole}
                    if isinstance(whole, dict):
                        usual = self.fitting(schema)
                        bodies |= {name: {**usual, name: value} for name, value in whole.items()}
                    for name, body in bodies.items():
                        if "\\u0000" in json.dumps(body) or "\\ud800" in json.dumps(body):
                            more = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
                            yield method, path.format(**given), f"body {name}", more


async def test_what_cannot_be_stored_is_refused_on_every_route(door: Door) -> None:
    description = Description(await door.get("/openapi.json"))
    before, wrong, tried = counts(door.database_url), [], 0
    for method, path, where, more in description.requests():
        response = await door.http.request(method, path, **more)
        tried += 1
        foreign = path.startswith(LOOK_THEMSELVES) and where.startswith("body")
        if response.status_code >= 500 or (response.status_code != 400 and not foreign):
            wrong.append(f"{method} {path} {where}: {response.status_code} {response.text[:200]}")
    assert tried > 100
    assert not wrong, "\n".join(wrong)
    assert counts(door.database_url) == before


async def test_the_field_that_cannot_be_stored_is_named(door: Door) -> None:
    body = {"name": "night", "text": "x", "when": "every day at 9", "thread": NUL}
    problem = await door.post("/schedules", 400, json=body)
    assert problem["fields"] == {"thread": "holds a NUL or half a character"}
