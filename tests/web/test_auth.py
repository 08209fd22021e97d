"""No key, no entry."""

from __future__ import annotations

import httpx
import pytest

from tests.web.conftest import Door, counts

ROUTES = [
    ("GET", "/messages"), ("POST", "/messages"), ("GET", "/threads"), ("GET", "/jobs"), ("GET", "/events"),
    ("GET", "/approvals"), ("GET", "/ledger"), ("GET", "/outbox"), ("POST", "/sql"), ("GET", "/status"),
    ("GET", "/logs"), ("GET", "/metrics"), ("GET", "/openapi.json"), ("GET", "/nowhere"),
]  # fmt: skip
OWNERS = [
    ("GET", "/status", None), ("GET", "/schedules", None), ("GET", "/reminders", None), ("GET", "/api/tasks", None),
    ("GET", "/memories", None), ("GET", "/sessions", None), ("POST", "/notices", {"text": "x"}),
    ("GET", "/ledger/saved", None), ("GET", "/budget", None),
    ("PUT", "/budget", {"subject": "all", "period": "day", "usd": 1}),
    ("DELETE", "/budget?subject=all&period=day", None),
    ("GET", "/people", None), ("GET", "/people/strangers", None), ("POST", "/people/pairings", {}),
    ("POST", "/people/allowed", {"address": "telegram:1", "role": "owner"}),
    ("POST", "/people/{me}/block", None), ("POST", "/people/{me}/unblock", None),
    ("PUT", "/people/{me}/role", {"role": "owner"}), ("PUT", "/principals/{me}/host-mode", {"on": True}),
    ("DELETE", "/people/addresses?address=telegram:1", None),
]  # fmt: skip
"""What only the owner may do."""


async def test_without_a_key_nothing_opens_but_life_and_readiness(door: Door) -> None:
    before = counts(door.database_url)
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as stranger:
        for method, path in ROUTES + [(method, path) for method, path, _ in OWNERS]:
            response = await stranger.request(method, path, json={"text": "x"} if method == "POST" else None)
            assert response.status_code == 401, path
            assert response.headers["content-type"] == "application/problem+json"
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.json()["code"] == "unauthorized"
        assert (await stranger.get("/health")).json()["status"] == "ok"
        assert (await stranger.get("/ready")).json() == {"ready": True, "missing": []}
    assert counts(door.database_url) == before


async def test_either_header_carries_the_key_and_a_wrong_key_opens_nothing_and_is_not_repeated(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    async with httpx.AsyncClient(base_url=door.url, timeout=30) as client:
        for header in ({"X-API-Key": door.key}, {"Authorization": f"bearer {door.key}"}):
            assert (await client.get("/status", headers=header)).status_code == 200
        for key in ("lw_wrong", "x" * 5000, "ключ".encode().decode("latin-1"), "' OR '1'='1"):
            response = await client.get("/status", headers=[(b"X-API-Key", key.encode("latin-1"))])
            assert response.status_code == 401
            assert key not in response.text
            assert key not in caplog.text


@pytest.mark.parametrize("role", ["operator", "customer"])
async def test_a_key_that_is_not_the_owners_does_nothing_of_the_owners(door: Door, role: str) -> None:
    before = counts(door.database_url)
    async with door.somebody_else(role) as other:
        me = door.rows("SELECT id FROM principals WHERE role = %s ORDER BY id DESC", role)[0][0]
        for method, path, body in OWNERS + [(method, path, {"text": "x"}) for method, path in ROUTES]:
            assert (await other.call(method, path.format(me=me), 403, json=body))["code"] == "forbidden", path
    [(pairings, addresses)] = door.rows("SELECT (SELECT count(*) FROM pairings), (SELECT count(*) FROM addresses)")
    assert (pairings, addresses) == (0, 0)
    assert counts(door.database_url) == {**before, "principals": before["principals"] + 1}
