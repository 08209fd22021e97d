"""`laneway waha status`, what the doctor says of the bridge, and a start that is refused without a key."""

from __future__ import annotations

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
from tests.cli.processes import Shell, free_port, up
from tests.servers.waha_server import WahaServer


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


def test_without_a_bridge_the_command_says_how_to_set_one_up(server: Server) -> None:
    printed = server.shell.refused("waha", "status", code=1)
    assert "There is no WhatsApp bridge here." in printed
    assert "WAHA_HMAC_KEY" in printed


def test_a_bridge_without_a_key_for_signatures_is_refused_at_the_start(shell: Shell) -> None:
    told = shell.ended("up", code=2, WAHA_URL="http://127.0.0.1:1").stderr
    assert "Error: WAHA_URL is set, but not WAHA_HMAC_KEY" in told


def test_the_status_of_a_bridge_is_shown(shell: Shell, bridge: WahaServer) -> None:
    keys = {"WAHA_URL": bridge.url, "WAHA_API_KEY": bridge.api_key, "WAHA_HMAC_KEY": bridge.hmac_key}
    running = up(shell, LANEWAY_PORT=str(free_port()), **keys)
    try:
        printed = shell.run("waha", "status")
        assert "Session default: WORKING (WAHA 2026.8.1)" in printed
        bridge.status = "SCAN_QR_CODE"
        found = json.loads(shell.run("waha", "status", "--json", code=1))
        assert (found["works"], found["status"]) == (False, "SCAN_QR_CODE")
        assert bridge.api_key not in json.dumps(found)
    finally:
        running.stop()


async def test_the_doctor_finds_a_bridge_that_is_set_up_healthy(tmp_path: Path, bridge: WahaServer) -> None:
    bridge.hook = "https://shop.example/waha/webhook"
    found = await examined(tmp_path, **secrets(bridge))
    assert set(found) == {"bridge keys", "bridge", "bridge session", "bridge webhook"}
    assert {one.state for one in found.values()} == {"ok"}


async def test_without_a_bridge_the_doctor_says_nothing_of_it(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("hook", "state"),
    [
        ({"url": "https://x.example/waha/webhook", "events": ["message"], "hmac": {"key": "k"}}, "ok"),
        ({"url": "https://x.example/waha/webhook", "events": ["*"], "hmac": {"key": "k"}}, "ok"),
        ({"url": "https://x.example/waha/webhook", "events": ["message"], "hmac": None}, "fail"),
        ({"url": "https://x.example/waha/webhook", "events": ["session.status"], "hmac": {"key": "k"}}, "fail"),
        ({"url": "https://x.example/other", "events": ["message"], "hmac": {"key": "k"}}, "warn"),
    ],
)
def test_the_webhook_of_a_session_is_looked_at(hook: dict[str, Any], state: str) -> None:
    assert waha_checks.webhook([hook]).state == state
