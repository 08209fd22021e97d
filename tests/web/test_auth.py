"""No key, no entry."""

from __future__ import annotations

import httpx
import psycopg
import pytest

from laneway.store.principals import hashed
from tests.web.conftest import Door, counts

ROUTES = [
    ("GET", "/messages"), ("POST", "/messages"), ("GET", "/threads"), ("GET", "/jobs"), ("GET", "/events"),
    ("GET", "/approvals"), ("GET", "/ledger"), ("GET", "/outbox"), ("POST", "/sql"), ("GET", "/status"),
    ("GET", "/logs"), ("GET", "/metrics"), ("GET", "/openapi.json"), ("GET", "/nowhere"),
]  # fmt: skip


async def test_without_a_key_nothing_opens(door: Door, database_url: str) -> None:
    before = counts(database_url)
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
        for method, path in ROUTES:
            response = await stranger.request(method, path, json={"text": "x"} if method == "POST" else None)
            assert response.status_code == 401, path
            assert response.headers["content-type"] == "application/problem+json"
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.json()["code"] == "unauthorized"
    assert counts(database_url) == before


async def test_life_and_readiness_need_no_key(door: Door) -> None:
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
        assert (await stranger.get("/health")).json()["status"] == "ok"
        assert (await stranger.get("/ready")).json() == {"ready": True, "missing": []}


async def test_either_header_carries_the_key(door: Door) -> None:
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as client:
        assert (await client.get("/status", headers={"X-API-Key": door.key})).status_code == 200
        assert (await client.get("/status", headers={"Authorization": f"bearer {door.key}"})).status_code == 200


@pytest.mark.parametrize("key", ["lw_wrong", "x" * 5000, "ключ".encode().decode("latin-1"), "' OR '1'='1"])
async def test_a_wrong_key_opens_nothing_and_is_not_repeated(
    door: Door, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as client:
        response = await client.get("/status", headers=[(b"X-API-Key", key.encode("latin-1"))])
    assert response.status_code == 401
    assert key not in response.text
    assert key not in caplog.text


async def test_a_key_that_is_not_the_owners_is_refused(door: Door, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            "INSERT INTO principals (id, role, name, key_hash) VALUES (gen_random_uuid(), 'operator', 'op', %s)",
            (hashed("lw_operator"),),
        )
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as client:
        response = await client.get("/status", headers={"X-API-Key": "lw_operator"})
    assert (response.status_code, response.json()["code"]) == (403, "forbidden")
