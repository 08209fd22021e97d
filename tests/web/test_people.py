"""People over HTTP: listed, let in, blocked, promoted and forgotten by the owner, and by nobody else."""

from __future__ import annotations

from typing import Any

import httpx
import psycopg
import pytest

from tests.web.conftest import Door, Open
from tests.web.test_principals import add


async def allow(door: Door, address: str, role: str, expected: int = 200, **more: Any) -> Any:
    return await door.post("/people/allowed", expected, json={"address": address, "role": role, **more})


async def set_role(door: Door, person: str, role: str) -> httpx.Response:
    return await door.http.put(f"/people/{person}/role", json={"role": role})


async def test_people_are_listed_with_their_addresses_page_by_page(door: Door) -> None:
    for number in range(3):
        await allow(door, f"telegram:{number}", "customer", name=f"Ann {number}")
    await allow(door, "whatsapp:+49 151 12", "owner")
    first = await door.get("/people", limit=2)
    second = await door.get("/people", limit=2, before=first["next"])
    assert [one["name"] for one in first["items"] + second["items"]] == ["Ann 2", "Ann 1", "Ann 0", "owner"]
    assert second["next"] is None
    assert [one["address"] for one in second["items"][1]["addresses"]] == ["whatsapp:4915112"]
    assert [one["name"] for one in (await door.get("/people", role="owner"))["items"]] == ["owner"]
    for called in ("Ann 1", "telegram:1", first["items"][1]["id"]):
        assert [one["name"] for one in (await door.get("/people", called=called))["items"]] == ["Ann 1"]
    assert [one["role"] for one in (await door.get("/people", called="whatsapp:+49151 12"))["items"]] == ["owner"]


async def test_strangers_are_listed_the_last_one_first(door: Door, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        for number in range(5):
            connection.execute(
                "INSERT INTO strangers (address, name, last_at) VALUES (%s, 'x', now() - make_interval(secs => %s))",
                (f"telegram:{number}", number),
            )
    found, before = [], None
    while True:
        page = await door.get("/people/strangers", limit=2, **({"before": before} if before else {}))
        found += [one["address"] for one in page["items"]]
        before = page["next"]
        if before is None:
            break
    assert found == [f"telegram:{number}" for number in range(5)]
    await allow(door, "telegram:2", "operator", name="Bob")
    assert "telegram:2" not in [one["address"] for one in (await door.get("/people/strangers"))["items"]]


async def test_a_code_is_shown_once_and_only_its_hash_is_kept(door: Door, database_url: str) -> None:
    made = await door.post("/people/pairings", 201, json={"role": "operator", "name": " Bob\u202e "})
    assert (made["role"], made["name"], len(made["code"])) == ("operator", "Bob", 9)
    with psycopg.connect(database_url) as connection:
        stored = connection.execute("SELECT code_hash, tries_left FROM pairings").fetchall()
        told = str(connection.execute("SELECT body FROM events").fetchall())
    assert len(stored[0][0]) == 64
    assert stored[0][1] == 5
    assert made["code"] not in told
    await door.post("/people/pairings", 400, json={"role": "owner", "name": "Bob"})
    await door.post("/people/pairings", 400, json={"role": "king"})
    await door.post("/people/pairings", 400, json={"role": "operator", "name": "\u200b"})


async def test_nobody_but_the_owner_has_a_say_about_people(door: Door, database_url: str) -> None:
    operator = add(database_url, "operator", "op", "lw_operator")
    door.http.headers["Authorization"] = "Bearer lw_operator"
    requests = [
        ("GET", "/people", None), ("GET", "/people/strangers", None), ("POST", "/people/pairings", {}),
        ("POST", "/people/allowed", {"address": "telegram:1", "role": "owner"}),
        ("POST", f"/people/{operator}/block", None), ("POST", f"/people/{operator}/unblock", None),
        ("PUT", f"/people/{operator}/role", {"role": "owner"}),
        ("DELETE", "/people/addresses?address=telegram:1", None),
    ]  # fmt: skip
    for method, path, body in requests:
        refused = await door.http.request(method, path, json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden"), path
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT (SELECT count(*) FROM pairings), (SELECT count(*) FROM addresses)").fetchone()
    assert row == (0, 0)


async def test_the_last_owner_cannot_be_blocked_or_demoted(door: Door, database_url: str) -> None:
    me = (await door.get("/principals/me"))["id"]
    assert (await door.post(f"/people/{me}/block", 409))["code"] == "conflict"
    for role in ("operator", "customer"):
        assert (await set_role(door, me, role)).status_code == 409
    second = add(database_url, "owner", "second", "lw_second")
    assert (await set_role(door, second, "operator")).json()["role"] == "operator"
    assert (await set_role(door, second, "owner")).json()["role"] == "owner"
    # One owner may be kept out by the other, who stays.
    door.http.headers["Authorization"] = "Bearer lw_second"
    assert (await door.post(f"/people/{me}/block"))["blocked_at"] is not None
    assert (await door.post(f"/people/{second}/block", 409))["detail"].startswith("The owner whose key this is")
    assert (await door.get("/people", role="owner"))["items"][0]["blocked_at"] is None


async def test_neither_a_blocked_key_nor_a_blocked_customer_gets_in_by_http(opened: Open, database_url: str) -> None:
    async with opened() as door:
        operator = add(database_url, "operator", "op", "lw_operator")
        waiting = await door.send("hello", sender={"id": "ann"}, thread="customer:ann")
        await door.until(waiting["job_id"])
        await door.post(f"/people/{operator}/block")
        answer = await door.http.get("/status", headers={"Authorization": "Bearer lw_operator"})
        assert answer.status_code == 401
        ann = (await door.get("/people", called="http:ann"))["items"][0]["id"]
        await door.post(f"/people/{ann}/block")
        refused = await door.http.post("/messages", json={"text": "hello", "sender": {"id": "ann"}})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        await door.post(f"/people/{ann}/unblock")
        await door.send("hello", sender={"id": "ann"})


async def test_a_promoted_customer_is_somebody_new_and_nobody_falls_into_the_customers_world(door: Door) -> None:
    ann = await allow(door, "telegram:7", "customer", name="Ann")
    promoted = (await set_role(door, ann["id"], "operator")).json()
    assert (promoted["role"], promoted["name"]) == ("operator", "Ann")
    assert promoted["id"] != ann["id"]
    assert [one["address"] for one in promoted["addresses"]] == ["telegram:7"]
    assert (await door.get("/people", called=ann["id"]))["items"][0]["addresses"] == []
    assert (await set_role(door, promoted["id"], "customer")).status_code == 409
    assert "cannot become a customer" in (await allow(door, "telegram:7", "customer", 409))["detail"]


async def test_an_address_is_forgotten_unless_it_is_blocked(door: Door, database_url: str) -> None:
    bob = await allow(door, "telegram:7", "operator", name="Bob")
    await door.post(f"/people/{bob['id']}/block")
    assert (await door.http.delete("/people/addresses", params={"address": "telegram:7"})).status_code == 409
    await allow(door, "telegram:7", "owner", 409)
    await door.post(f"/people/{bob['id']}/unblock")
    gone = await door.http.delete("/people/addresses", params={"address": "telegram:7"})
    assert gone.json() == {"address": "telegram:7"}
    assert (await door.http.delete("/people/addresses", params={"address": "telegram:7"})).status_code == 404
    with psycopg.connect(database_url) as connection:
        connection.execute("INSERT INTO strangers (address) VALUES ('telegram:8')")
    assert (await door.http.delete("/people/addresses", params={"address": "telegram:8"})).status_code == 200


@pytest.mark.parametrize("address", ["7", "telegram:", "telegram:\u0000", "TELEGRAM:7", "x" * 300])
async def test_what_is_no_address_is_refused(door: Door, address: str) -> None:
    assert (await allow(door, address, "operator", 400))["code"] == "bad-input"


async def test_who_sends_too_fast_is_asked_to_wait(opened: Open) -> None:
    async with opened(messages_per_minute=4, customer_messages_per_minute=2) as door:
        for _ in range(4):
            await door.send("hello")
        refused = await door.http.post("/messages", json={"text": "hello"})
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert refused.json()["hint"].startswith("Wait ")
        await door.send("/stop")
        for _ in range(2):
            await door.send("hello", sender={"id": "ann"})
        await door.post("/messages", 429, json={"text": "hello", "sender": {"id": "ann"}})
        await door.send("hello", sender={"id": "bob"})
