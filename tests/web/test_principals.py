"""Principals are listed, and host mode is the owner's to switch, for each of them."""

from __future__ import annotations

import httpx
import psycopg

from laneway.store.principals import hashed
from tests.web.conftest import Door


def add(database_url: str, role: str, name: str, key: str | None = None) -> str:
    with psycopg.connect(database_url) as connection:
        row = connection.execute(
            "INSERT INTO principals (id, role, name, key_hash) VALUES (gen_random_uuid(), %s, %s, %s) RETURNING id",
            (role, name, hashed(key) if key else None),
        ).fetchone()
    assert row is not None
    return str(row[0])


async def switch(door: Door, principal: str, on: object, key: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return await door.http.put(f"/principals/{principal}/host-mode", json={"on": on}, headers=headers)


async def test_host_mode_is_switched_for_one_principal_and_on_record(door: Door, database_url: str) -> None:
    operator = add(database_url, "operator", "op", "lw_operator")
    me = await door.get("/principals/me")
    assert (me["role"], me["host_mode"]) == ("owner", False)
    assert (await switch(door, me["id"], True)).json()["host_mode"] is True
    assert {one["name"]: one["host_mode"] for one in (await door.get("/principals"))["items"]} == {
        "op": False, "owner": True,
    }  # fmt: skip
    assert (await switch(door, operator, True)).json()["host_mode"] is True
    assert (await switch(door, operator, False)).json()["host_mode"] is False
    with psycopg.connect(database_url) as connection:
        told = connection.execute("SELECT body FROM events WHERE kind = 'principal.host_mode' ORDER BY id").fetchall()
    assert [(body["principal"], body["on"], body["by"]) for (body,) in told] == [
        (me["id"], True, me["id"]), (operator, True, me["id"]), (operator, False, me["id"]),
    ]  # fmt: skip


async def test_only_the_owner_switches_it_and_never_for_customers(door: Door, database_url: str) -> None:
    operator = add(database_url, "operator", "op", "lw_operator")
    customer = add(database_url, "customer", "cust")
    assert (await switch(door, operator, True, "lw_operator")).status_code == 403
    assert (await switch(door, customer, True)).status_code == 403
    assert (await switch(door, "00000000-0000-0000-0000-000000000000", True)).status_code == 404
    assert (await switch(door, operator, "yes")).status_code == 400
    assert [one["host_mode"] for one in (await door.get("/principals"))["items"]] == [False, False, False]
