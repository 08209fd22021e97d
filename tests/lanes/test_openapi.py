"""`openapi_action`: operations of documents the owner named, checked before they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.responses import JSONResponse, PlainTextResponse

from laneway.connections import OpenApiDocument
from laneway.domain.action import Decision, Verdict
from laneway.errors import BadInput
from laneway.lanes.tools.entry import Outcome
from laneway.lanes.tools.openapi import OpenApis
from laneway.lanes.tools.openapi_document import read
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from tests.lanes.surroundings import a_call
from tests.servers.pages import Pages

POSITIVE = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}
PETS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "https://pets.example/{version}", "variables": {"version": {"default": "v1"}}}],
    "paths": {
        "/pets": {
            "get": {
                "operationId": "listPets",
                "summary": "List all pets",
                "parameters": [
                    {"name": "limit", "in": "query", "schema": POSITIVE},
                    {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
                    {"$ref": "#/components/parameters/Trace"},
                ],
            },
            "post": {
                "operationId": "createPet",
                "summary": "Add a pet",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                },
            },
        },
        "/pets/{petId}": {
            "parameters": [{"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}}],
            "get": {"operationId": "showPet", "summary": "Show one pet"},
            "delete": {"summary": "Remove a pet"},
        },
    },
    "components": {
        "parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}},
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "pattern": "(a+)+$"},
                    "kind": {"type": "string", "enum": ["cat", "dog"]},
                    "nick": {"type": "string", "nullable": True},
                    "friends": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
                },
            }
        },
    },
}  # fmt: skip


@pytest.fixture
def web() -> Iterator[Pages]:
    with Pages() as pages:
        pages.pages["/api/pets"] = JSONResponse([{"name": "Rex"}])
        yield pages


async def apis(web: Pages, home: Path, allowed: Allowed | None = None, **said: Any) -> OpenApis:
    (home / "pets.json").write_text(json.dumps(PETS))
    settings = {"document": "pets.json", "server": f"{web.url}/api", **said}
    given = {name: value for name, value in settings.items() if value is not None}
    together = OpenApis(
        {"pets": OpenApiDocument.model_validate(given)}, home, {"PETS_KEY": "abc"}, Exchange(allowed or Allowed())
    )
    await together.settled()
    return together


async def act(together: OpenApis, operation: str, **parameters: Any) -> Outcome:
    outcome: Outcome = await together.entries()[0].function(a_call(), operation, parameters)
    return outcome


def judged(together: OpenApis, operation: str, **parameters: Any) -> Verdict:
    verdict = together.entries()[0].judge({"operation": operation, "parameters": parameters}, a_call())
    assert verdict is not None
    return verdict


async def test_an_operation_is_called_with_its_parameters_in_their_places(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path, headers={"Authorization": "Bearer ${PETS_KEY}"})
    outcome = await act(
        together, "pets.listPets", limit=5, tags=["a b", "c"], filter={"age": 3}, **{"X-Trace": "t1"}
    )  # fmt: skip
    assert json.loads(outcome["result"]["text"]) == [{"name": "Rex"}]
    [visit] = web.visits
    assert (visit.method, visit.path) == ("GET", "/api/pets")
    assert visit.query == "limit=5&tags=a+b&tags=c&filter%5Bage%5D=3"
    assert (visit.headers["x-trace"], visit.headers["authorization"]) == ("t1", "Bearer abc")
    assert together.entries()[0].source({"operation": "listPets"}, outcome) == "the API pets"


async def test_a_body_is_sent_as_the_document_says(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    await act(together, "createPet", body={"name": "Tom", "kind": "cat", "nick": None})
    assert json.loads(web.visits[0].body) == {"name": "Tom", "kind": "cat", "nick": None}
    assert web.visits[0].headers["content-type"] == "application/json"


async def test_reading_is_allowed_and_everything_else_is_asked(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    reading = judged(together, "pets.listPets")
    assert (reading.decision, reading.changes) == (Decision.ALLOW, False)
    asking = judged(together, "pets.createPet", body={"name": "Tom"})
    assert (asking.decision, asking.changes) == (Decision.ASK, True)
    assert "POST" in asking.why
    assert judged(together, "pets.delete_pets_petId", petId="7").decision is Decision.ASK


@pytest.mark.parametrize(
    ("operation", "parameters", "told"),
    [
        ("pets.listPet", {}, "pets.listPets"),
        ("nonsense", {}, "Perhaps"),
        ("pets.listPets", {"limt": 5}, "It takes limit"),
        ("pets.listPets", {"limit": "five"}, "is not of type 'integer'"),
        ("pets.listPets", {"limit": 0}, "limit"),
        ("pets.showPet", {}, "'petId' is a required property"),
        ("pets.showPet", {"petId": ".."}, "cannot be"),
        ("pets.createPet", {}, "'body' is a required property"),
        ("pets.createPet", {"body": {"kind": "cat"}}, "'name' is a required property"),
        ("pets.createPet", {"body": {"name": "T", "kind": "cow"}}, "'cow' is not one of ['cat', 'dog']"),
        ("pets.createPet", {"body": {"name": "T", "friends": [{"name": 7}]}}, "body.friends.0.name"),
        ("pets.listPets", {"X-Trace": "a\r\nHost: b"}, "characters it cannot"),
    ],
)
async def test_what_is_wrong_is_told_before_anybody_is_asked(
    web: Pages, tmp_path: Path, operation: str, parameters: dict[str, Any], told: str
) -> None:
    together = await apis(web, tmp_path)
    verdict = judged(together, operation, **parameters)
    assert verdict.decision is Decision.DENY
    assert told in verdict.why
    assert told in (await act(together, operation, **parameters))["error"]
    assert web.visits == []


async def test_a_value_in_the_path_cannot_leave_it(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    await act(together, "showPet", petId="../admin?x=1#y")
    assert web.visits[0].path.startswith("/api/pets/")
    assert web.visits[0].query == ""


async def test_the_model_is_told_the_operations_and_what_they_take(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    about = together.entries()[0].description
    assert "pets.listPets (GET): List all pets" in about
    assert 'pets.createPet (POST): Add a pet {body*: {name*: string, kind: "cat" | "dog"' in about


async def test_only_what_the_owner_wrote_opens_an_inner_host(web: Pages, tmp_path: Path) -> None:
    inner = {**PETS, "servers": [{"url": f"{web.url}/api"}]}
    (tmp_path / "inner.json").write_text(json.dumps(inner))
    together = await apis(web, tmp_path, document="inner.json", server=None)
    assert "LANEWAY_ALLOWED_HOSTS" in (await act(together, "listPets"))["error"]
    together = await apis(web, tmp_path, Allowed.of(["127.0.0.1"]), document="inner.json", server=None)
    assert (await act(together, "listPets"))["status"] == "success"


async def test_a_document_behind_an_address_is_read_and_does_not_decide_who_gets_the_keys(
    web: Pages, tmp_path: Path
) -> None:
    web.pages["/pets.yaml"] = PlainTextResponse(yaml.safe_dump(PETS))
    together = await apis(web, tmp_path, document=f"{web.url}/pets.yaml")
    assert (await act(together, "listPets"))["status"] == "success"
    keyed = await apis(web, tmp_path, document=f"{web.url}/pets.yaml", server=None, headers={"X-Key": "${PETS_KEY}"})
    assert keyed.entries() == []
    assert "Set `server`" in keyed.states()[0].says


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "neither JSON nor YAML"), ("swagger: '2.0'", "not an OpenAPI 3 document"), ("- a", "not an OpenAPI 3"),
     ("openapi: 3.1.0", "describes no operation"), (None, "cannot be read")],
)  # fmt: skip
async def test_a_document_that_cannot_be_used_says_why_and_hurts_nobody(
    web: Pages, tmp_path: Path, text: str | None, told: str
) -> None:
    if text is not None:
        (tmp_path / "bad.yaml").write_text(text)
    together = await apis(web, tmp_path, document="bad.yaml")
    assert together.entries() == []
    [state] = together.states()
    assert state.status == "down"
    assert told in state.says


def test_a_small_file_that_unfolds_stays_small() -> None:
    laughs = "openapi: 3.0.0\na0: &a0 {x: lol}\n"
    laughs += "".join(f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(10))}}}\n" for n in range(1, 30))
    with pytest.raises(BadInput, match="describes no operation"):
        read("laughs", laughs)
    with pytest.raises(BadInput, match="nested too deeply"):
        read("deep", json.dumps({"openapi": "3.0.0", "x": json.loads("[" * 90 + "]" * 90)}))


async def test_a_missing_key_is_named_and_nothing_is_sent(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path, headers={"X-Key": "${NOWHERE_SET}"})
    assert "NOWHERE_SET is not set" in (await act(together, "listPets"))["error"]
    assert web.visits == []
