"""People over HTTP: listed, let in, blocked, promoted and forgotten by the owner, and by nobody else."""

from __future__ import annotations

from typing import Any

import httpx

from tests.web.conftest import Door, Open


async def allow(door: Door, address: str, role: str, expected: int = 200, **more: Any) -> Any:
    return await door.post("/people/allowed", expected, json={"address": address, "role": role, **more})


async def set_role(door: Door, person: str, role: str) -> httpx.Response:
    return await door.http.put(f"/people/{person}/role", json={"role": role})


async def test_people_are_listed_with_their_addresses_page_by_page(own_door: Door) -> None:
    door = own_door
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


async def test_strangers_are_listed_the_last_one_first(door: Door) -> None:
    for number in range(3):
        sql = "INSERT INTO strangers (address, name, last_at) VALUES (%s, 'x', now() - make_interval(secs => %s))"
        door.rows(sql, f"signal:{number}", number)
    first = await door.get("/people/strangers", limit=2)
    rest = await door.get("/people/strangers", limit=2, before=first["next"])
    assert [one["address"] for one in first["items"] + rest["items"]] == ["signal:0", "signal:1", "signal:2"]
    await allow(door, "signal:2", "operator", name="Bob")
    assert "signal:2" not in [one["address"] for one in (await door.get("/people/strangers"))["items"]]


async def test_the_last_owner_cannot_be_blocked_or_demoted(own_door: Door) -> None:
    door = own_door
    me = (await door.get("/principals/me"))["id"]
    assert (await door.post(f"/people/{me}/block", 409))["code"] == "conflict"
    for role in ("operator", "customer"):
        assert (await set_role(door, me, role)).status_code == 409
    second = door.add_principal("owner", "second", "lw_second")
    assert (await set_role(door, second, "operator")).json()["role"] == "operator"
    assert (await set_role(door, second, "owner")).json()["role"] == "owner"
    # One owner may be kept out by the other, who stays.
    door.http.headers["Authorization"] = "Bearer lw_second"
    assert (await door.post(f"/people/{me}/block"))["blocked_at"] is not None
    assert (await door.post(f"/people/{second}/block", 409))["detail"].startswith("The owner whose key this is")
    assert (await door.get("/people", role="owner"))["items"][0]["blocked_at"] is None


async def test_neither_a_blocked_key_nor_a_blocked_customer_gets_in_by_http(door: Door) -> None:
    async with door.somebody_else("operator") as other:
        operator = door.rows("SELECT id FROM principals WHERE role = 'operator' ORDER BY created_at DESC")[0][0]
        waiting = await door.send("hello", sender={"id": "ann"}, thread="customer:ann")
        await door.until(waiting["job_id"])
        await door.post(f"/people/{operator}/block")
        await other.get("/status", 401)
        ann = (await door.get("/people", called="http:ann"))["items"][0]["id"]
        await door.post(f"/people/{ann}/block")
        refused = await door.post("/messages", 403, json={"text": "hello", "sender": {"id": "ann"}})
        assert refused["code"] == "forbidden"
        await door.post(f"/people/{ann}/unblock")
        await door.send("hello", sender={"id": "ann"}, thread="customer:ann")


async def test_a_promoted_customer_is_somebody_new_and_nobody_falls_into_the_customers_world(door: Door) -> None:
    for wrong in ("7", "telegram:", "telegram:\u0000", "TELEGRAM:7", "x" * 300):
        assert (await allow(door, wrong, "operator", 400))["code"] == "bad-input"
    ann = await allow(door, "telegram:77", "customer", name="Ann")
    promoted = (await set_role(door, ann["id"], "operator")).json()
    assert (promoted["role"], promoted["name"]) == ("operator", "Ann")
    assert promoted["id"] != ann["id"]
    assert [one["address"] for one in promoted["addresses"]] == ["telegram:77"]
    assert (await door.get("/people", called=ann["id"]))["items"][0]["addresses"] == []
    assert (await set_role(door, promoted["id"], "customer")).status_code == 409
    assert "cannot become a customer" in (await allow(door, "telegram:77", "customer", 409))["detail"]


async def test_who_sends_too_fast_is_asked_to_wait(opened: Open) -> None:
    async with opened(messages_per_minute=4, customer_messages_per_minute=2) as door:
        for _ in range(4):
            await door.send("hello")
        refused = await door.http.post("/messages", json={"text": "hello"})
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many")
        assert 1 <= int(refused.headers["Retry-After"]) <= 60
        await door.send("/stop")
        for _ in range(2):
            await door.send("hello", sender={"id": "ann"})
        await door.post("/messages", 429, json={"text": "hello", "sender": {"id": "ann"}})
        await door.send("hello", sender={"id": "bob"})


async def test_host_mode_is_switched_by_the_owner_for_one_principal_and_on_record(own_door: Door) -> None:
    door = own_door

    async def switch(principal: str, on: object, expected: int = 200) -> Any:
        return await door.put(f"/principals/{principal}/host-mode", expected, json={"on": on})

    operator, customer = door.add_principal("operator"), door.add_principal("customer", "cust")
    me = await door.get("/principals/me")
    assert (me["role"], me["host_mode"]) == ("owner", False)
    assert (await switch(me["id"], True))["host_mode"] is True
    modes = {one["name"]: one["host_mode"] for one in (await door.get("/principals"))["items"]}
    assert modes == {"op": False, "cust": False, "owner": True}
    for on in (True, False):
        assert (await switch(operator, on))["host_mode"] is on
    told = door.rows("SELECT body FROM events WHERE kind = 'principal.host_mode' ORDER BY id")
    said = [(body["principal"], body["on"]) for (body,) in told if body["by"] == me["id"]]
    assert said == [(me["id"], True), (operator, True), (operator, False)]
    await switch(customer, True, 403)
    await switch("00000000-0000-0000-0000-000000000000", True, 404)
    await switch(operator, "yes", 400)
