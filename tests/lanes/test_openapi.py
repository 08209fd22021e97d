"""`openapi_action`: operations of documents the owner named, checked before they are sent."""

from __future__ import annotations

import json
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
from tests.lanes.calls import a_call
from tests.servers.pages import Pages

PETS: dict[str, Any] = json.loads(Path(__file__).with_name("pets.json").read_text(encoding="utf-8"))


@pytest.fixture
def web(web: Pages) -> Pages:
    web.pages["/api/pets"] = JSONResponse([{"name": "Rex"}])
    return web


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
    given = {"limit": 5, "tags": ["a b", "c"], "filter": {"age": 3}, "X-Trace": "t1"}
    outcome = await act(together, "pets.listPets", **given)
    assert json.loads(outcome["result"]["text"]) == [{"name": "Rex"}]
    assert together.entries()[0].source({"operation": "listPets"}, outcome) == "the API pets"
    await act(together, "createPet", body={"name": "Tom", "kind": "cat", "nick": None})
    await act(together, "showPet", petId="../admin?x=1#y")
    listed, created, shown = web.visits
    assert (listed.method, listed.path) == ("GET", "/api/pets")
    assert listed.query == "limit=5&tags=a+b&tags=c&filter%5Bage%5D=3"
    assert (listed.headers["x-trace"], listed.headers["authorization"]) == ("t1", "Bearer abc")
    assert json.loads(created.body) == {"name": "Tom", "kind": "cat", "nick": None}
    assert created.headers["content-type"] == "application/json"
    assert (shown.path.startswith("/api/pets/"), shown.query) == (True, ""), "a value cannot leave its place"


async def test_reading_is_allowed_and_everything_else_is_asked(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    reading = judged(together, "pets.listPets")
    assert (reading.decision, reading.changes) == (Decision.ALLOW, False)
    asking = judged(together, "pets.createPet", body={"name": "Tom"})
    assert (asking.decision, asking.changes) == (Decision.ASK, True)
    assert "POST" in asking.why
    assert judged(together, "pets.delete_pets_petId", petId="7").decision is Decision.ASK
    about = together.entries()[0].description
    assert "pets.listPets (GET): List all pets" in about
    assert 'pets.createPet (POST): Add a pet {body*: {name*: string, kind: "cat" | "dog"' in about


async def test_what_is_wrong_is_told_before_anybody_is_asked(web: Pages, tmp_path: Path) -> None:
    together = await apis(web, tmp_path)
    cases: list[tuple[str, dict[str, Any], str]] = [
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
    ]
    for operation, parameters, told in cases:
        verdict = judged(together, operation, **parameters)
        assert (verdict.decision, told in verdict.why) == (Decision.DENY, True), verdict.why
        assert told in (await act(together, operation, **parameters))["error"]
    together = await apis(web, tmp_path, headers={"X-Key": "${NOWHERE_SET}"})
    assert "NOWHERE_SET is not set" in (await act(together, "listPets"))["error"]
    assert web.visits == []


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


async def test_a_document_that_cannot_be_used_says_why_and_hurts_nobody(web: Pages, tmp_path: Path) -> None:
    for text, told in (
        (None, "cannot be read"),
        ("{", "neither JSON nor YAML"),
        ("swagger: '2.0'", "not an OpenAPI 3 document"),
        ("- a", "not an OpenAPI 3"),
        ("openapi: 3.1.0", "describes no operation"),
    ):
        if text is not None:
            (tmp_path / "bad.yaml").write_text(text)
        together = await apis(web, tmp_path, document="bad.yaml")
        assert together.entries() == []
        [state] = together.states()
        assert (state.status, told in state.says) == ("down", True), state.says


def test_a_small_file_that_unfolds_stays_small() -> None:
    laughs = "openapi: 3.0.0\na0: &a0 {x: lol}\n"
    laughs += "".join(f"a{n}: &a{n} {{{', '.join(f'k{i}: *a{n - 1}' for i in range(10))}}}\n" for n in range(1, 30))
    with pytest.raises(BadInput, match="describes no operation"):
        read("laughs", laughs)
    with pytest.raises(BadInput, match="nested too deeply"):
        read("deep", json.dumps({"openapi": "3.0.0", "x": json.loads("[" * 90 + "]" * 90)}))
