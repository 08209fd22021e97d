"""Each step of setting up a WhatsApp number is checked, and what is wrong is said in a way that can be mended."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from laneway.cli import whatsapp_checks as checks
from laneway.cli.checks import Finding
from laneway.settings import Settings
from tests.servers.pages import Pages
from tests.servers.whatsapp_server import NUMBER_ID, SECRET, TOKEN, VERIFY, WhatsAppServer

PLACE = "https://desk.example"


def examined(home: Path, server: WhatsAppServer, **more: Any) -> dict[str, Finding]:
    settings = Settings(home=home).model_copy(
        update={
            "whatsapp_token": SecretStr(TOKEN), "whatsapp_app_secret": SecretStr(SECRET),
            "whatsapp_verify_token": SecretStr(VERIFY), "whatsapp_number_id": NUMBER_ID,
            "whatsapp_api_url": server.api, **more,
        }
    )  # fmt: skip

    async def look() -> dict[str, Finding]:
        return {finding.check: finding async for finding in checks.examined(settings)}

    return asyncio.run(look())


def test_a_number_that_is_set_up_passes_every_step(tmp_path: Path) -> None:
    with WhatsAppServer() as server:
        found = examined(tmp_path, server, whatsapp_template="note", whatsapp_fees={"utility": 0.004})
    assert {check: one.state for check, one in found.items()} == {
        "whatsapp secrets": "ok", "whatsapp number": "ok", "whatsapp webhook": "ok", "whatsapp address": "warn",
        "whatsapp template": "ok",
    }  # fmt: skip
    assert "+1 555-078-3881 (Desk), quality GREEN" in found["whatsapp number"].says


def test_what_is_missing_is_named_with_the_place_where_it_is_found(tmp_path: Path) -> None:
    with WhatsAppServer() as server:
        found = examined(tmp_path, server, whatsapp_app_secret=None, whatsapp_number_id=None)["whatsapp secrets"]
    assert found.state == "fail"
    assert "WHATSAPP_APP_SECRET, WHATSAPP_PHONE_NUMBER_ID" in found.says
    assert "API setup page" in found.fix


def test_a_wrong_token_is_told_from_a_wrong_number(tmp_path: Path) -> None:
    with WhatsAppServer() as server:
        token = examined(tmp_path, server, whatsapp_token=SecretStr("EAAexpired"))["whatsapp number"]
        phone = examined(tmp_path, server, whatsapp_number_id="15550783881")["whatsapp number"]
        written = examined(tmp_path, server, whatsapp_number_id="+1 555-078-3881")["whatsapp number"]
    assert (token.state, phone.state, written.state) == ("fail", "fail", "fail")
    assert "WHATSAPP_TOKEN" in token.fix
    assert "not the phone number" in phone.fix
    assert "is a phone number, not the id" in written.says


def test_a_webhook_that_leads_elsewhere_is_found(tmp_path: Path) -> None:
    with WhatsAppServer() as server:
        server.subscribed = False
        assert "names no webhook" in examined(tmp_path, server)["whatsapp webhook"].says
        server.subscribed = True
        other = examined(tmp_path, server, public_url="https://other.example")["whatsapp webhook"]
    assert other.state == "fail"
    assert f"{PLACE}/whatsapp/webhook" in other.says


@pytest.mark.parametrize(("answer", "state"), [("echo", "ok"), (403, "fail"), (404, "fail"), (None, "fail")])
def test_the_public_address_is_asked_what_meta_asks(tmp_path: Path, answer: str | int | None, state: str) -> None:
    from starlette.requests import Request
    from starlette.responses import PlainTextResponse, Response

    async def page(request: Request) -> Response:
        if isinstance(answer, int):
            return Response("no", answer)
        assert request.query_params["hub.verify_token"] == VERIFY
        return PlainTextResponse(request.query_params["hub.challenge"])

    with WhatsAppServer() as server, Pages(pages={"/whatsapp/webhook": page}) as pages:
        url = pages.url if answer is not None else "http://127.0.0.1:9"
        found = examined(tmp_path, server, public_url=url)["whatsapp address"]
    assert found.state == state
    assert VERIFY not in found.says + found.fix


def test_the_command_shows_the_findings_and_fails_if_one_does(tmp_path: Path) -> None:
    with WhatsAppServer() as server:
        environ = {
            **os.environ, "LANEWAY_HOME": str(tmp_path), "WHATSAPP_TOKEN": TOKEN, "WHATSAPP_APP_SECRET": SECRET,
            "WHATSAPP_VERIFY_TOKEN": VERIFY, "WHATSAPP_PHONE_NUMBER_ID": NUMBER_ID,
            "LANEWAY_WHATSAPP_API_URL": server.api,
        }  # fmt: skip
        command = [sys.executable, "-m", "laneway", "whatsapp", "status", "--json"]
        right = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=tmp_path, timeout=60)
        environ["WHATSAPP_TOKEN"] = "EAAexpired"
        wrong = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=tmp_path, timeout=60)
        del environ["WHATSAPP_TOKEN"]
        without = subprocess.run(command, env=environ, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (right.returncode, json.loads(right.stdout)["ok"]) == (0, True)
    assert (wrong.returncode, json.loads(wrong.stdout)["ok"]) == (1, False)
    assert without.returncode != 0
    assert "WHATSAPP_TOKEN" in without.stderr
    assert all(secret not in out.stdout + out.stderr for secret in (TOKEN, SECRET, VERIFY) for out in (right, wrong))
