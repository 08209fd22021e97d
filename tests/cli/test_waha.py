"""`laneway waha status`, what the doctor says of the bridge, and a start that is refused without a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from laneway.cli import waha_checks
from laneway.cli.checks import Finding
from laneway.settings import Settings
from tests.cli.conftest import Server
from tests.cli.processes import Shell, free_port
from tests.servers.waha_server import WahaServer
from tests.serving import serving


@pytest.fixture
def bridge() -> Iterator[WahaServer]:
    with WahaServer() as running:
        yield running


async def examined(home: Path, **settings: Any) -> dict[str, Finding]:
    chosen = Settings(home=home, **settings)
    return {found.check: found async for found in waha_checks.bridge(chosen)}


def secrets(bridge: WahaServer, **more: Any) -> dict[str, Any]:
    keys = {"waha_key": SecretStr(bridge.api_key), "waha_hmac_key": SecretStr(bridge.hmac_key)}
    return {"waha_url": bridge.url, **keys, **more}


def test_without_a_bridge_or_its_key_for_signatures_the_command_says_what_to_set(server: Server, shell: Shell) -> None:
    printed = server.shell.refused("waha", "status", code=1)
    assert "There is no WhatsApp bridge here." in printed
    assert "WAHA_HMAC_KEY" in printed
    refused = shell.ended("up", code=2, WAHA_URL="http://127.0.0.1:1").stderr
    assert "Error: WAHA_URL is set, but not WAHA_HMAC_KEY" in refused


async def test_the_status_of_a_bridge_is_shown(database_url: str, tmp_path: Path, bridge: WahaServer) -> None:
    async with serving(database_url, tmp_path, **secrets(bridge)) as served:
        shell = Shell(tmp_path, {"LANEWAY_URL": served.url, "LANEWAY_KEY": served.key})
        printed = await asyncio.to_thread(shell.run, "waha", "status")
        assert "Session default: WORKING (WAHA 2026.8.1)" in printed
        bridge.status = "SCAN_QR_CODE"
        found = json.loads(await asyncio.to_thread(shell.run, "waha", "status", "--json", code=1))
        assert (found["works"], found["status"]) == (False, "SCAN_QR_CODE")
        assert bridge.api_key not in json.dumps(found)


async def test_the_doctor_finds_a_bridge_that_is_set_up_healthy(tmp_path: Path, bridge: WahaServer) -> None:
    bridge.hook = "https://shop.example/waha/webhook"
    found = await examined(tmp_path, **secrets(bridge))
    assert set(found) == {"bridge keys", "bridge", "bridge session", "bridge webhook"}
    assert {one.state for one in found.values()} == {"ok"}
    assert await examined(tmp_path) == {}


async def test_the_doctor_names_each_step_that_is_missing(tmp_path: Path, bridge: WahaServer) -> None:
    unsigned = await examined(tmp_path, waha_url=bridge.url)
    assert unsigned["bridge settings"].state == "fail"
    assert "WAHA_HMAC_KEY" in unsigned["bridge settings"].says

    wrong_key = await examined(tmp_path, **secrets(bridge, waha_key=SecretStr("wrong")))
    assert (wrong_key["bridge"].state, wrong_key["bridge"].fix) == ("fail", "Correct WAHA_API_KEY.")

    bridge.status = "SCAN_QR_CODE"
    unpaired = await examined(tmp_path, **secrets(bridge))
    assert unpaired["bridge session"].state == "fail"
    assert "Scan the QR code" in unpaired["bridge session"].fix

    assert unpaired["bridge webhook"].state == "warn", "there is none in the session"
    gone = await examined(tmp_path, **secrets(bridge, waha_url=f"http://127.0.0.1:{free_port()}"))
    assert gone["bridge"].state == "fail"


def test_the_webhook_of_a_session_is_looked_at() -> None:
    good = {"url": "https://x.example/waha/webhook", "events": ["message"], "hmac": {"key": "k"}}
    events = ["session.status"]
    other = "https://x.example/other"
    changes: list[dict[str, Any]] = [{}, {"events": ["*"]}, {"hmac": None}, {"events": events}, {"url": other}]
    states = [waha_checks.webhook([good | change]).state for change in changes]
    assert states == ["ok", "ok", "fail", "fail", "warn"]
