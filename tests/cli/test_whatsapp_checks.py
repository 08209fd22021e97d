"""Each step of setting up a WhatsApp number is checked, and what is wrong is said in a way that can be mended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from laneway.cli import whatsapp_checks as checks
from laneway.cli.checks import Finding
from laneway.settings import Settings
from tests.cli.processes import Shell
from tests.servers.pages import Pages
from tests.servers.whatsapp_server import NUMBER_ID, SECRET, TOKEN, VERIFY, WhatsAppServer


@pytest.fixture
def meta() -> Iterator[WhatsAppServer]:
    with WhatsAppServer() as server:
        yield server


async def examined(home: Path, server: WhatsAppServer, **more: Any) -> dict[str, Finding]:
    settings = Settings(home=home).model_copy(
        update={
            "whatsapp_token": SecretStr(TOKEN), "whatsapp_app_secret": SecretStr(SECRET),
            "whatsapp_verify_token": SecretStr(VERIFY), "whatsapp_number_id": NUMBER_ID,
            "whatsapp_api_url": server.api, **more,
        }
    )  # fmt: skip
    return {finding.check: finding async for finding in checks.examined(settings)}


async def test_a_number_that_is_set_up_passes_every_step(tmp_path: Path, meta: WhatsAppServer) -> None:
    found = await examined(tmp_path, meta, whatsapp_template="note", whatsapp_fees={"utility": 0.004})
    assert {check: one.state for check, one in found.items()} == {
        "whatsapp secrets": "ok", "whatsapp number": "ok", "whatsapp webhook": "ok", "whatsapp address": "warn",
        "whatsapp template": "ok",
    }  # fmt: skip
    assert "+1 555-078-3881 (Desk), quality GREEN" in found["whatsapp number"].says


@pytest.mark.parametrize(
    ("changed", "check", "says"),
    [
        ({"whatsapp_app_secret": None, "whatsapp_number_id": None}, "secrets",
         "WHATSAPP_APP_SECRET, WHATSAPP_PHONE_NUMBER_ID"),
        ({"whatsapp_number_id": None}, "secrets", "API setup page"),
        ({"whatsapp_token": SecretStr("EAAexpired")}, "number", "WHATSAPP_TOKEN"),
        ({"whatsapp_number_id": "15550783881"}, "number", "not the phone number"),
        ({"whatsapp_number_id": "+1 555-078-3881"}, "number", "is a phone number, not the id"),
        ({"public_url": "https://other.example"}, "webhook", "https://desk.example/whatsapp/webhook"),
    ],
)  # fmt: skip
async def test_what_is_missing_or_wrong_is_named_with_how_to_mend_it(
    tmp_path: Path, meta: WhatsAppServer, changed: dict[str, Any], check: str, says: str
) -> None:
    found = (await examined(tmp_path, meta, **changed))[f"whatsapp {check}"]
    assert found.state == "fail"
    assert says in f"{found.says} {found.fix}"


async def test_the_public_address_is_asked_what_meta_asks(tmp_path: Path, meta: WhatsAppServer) -> None:
    async def page(request: Request) -> Response:
        assert request.query_params["hub.verify_token"] == VERIFY
        return PlainTextResponse(request.query_params["hub.challenge"])

    async def no(request: Request) -> Response:
        return Response("no", 403)

    meta.subscribed = False
    for answer, state in ((page, "ok"), (no, "fail"), (None, "fail")):
        with Pages(pages={"/whatsapp/webhook": answer or no}) as pages:
            found = await examined(tmp_path, meta, public_url=pages.url if answer else "http://127.0.0.1:9")
        address = found["whatsapp address"]
        assert (address.state, VERIFY in address.says + address.fix) == (state, False)
        assert "names no webhook" in found["whatsapp webhook"].says


def test_the_command_shows_the_findings_and_fails_if_one_does(shell: Shell, meta: WhatsAppServer) -> None:
    secrets = {"WHATSAPP_TOKEN": TOKEN, "WHATSAPP_APP_SECRET": SECRET, "WHATSAPP_VERIFY_TOKEN": VERIFY}
    environ: dict[str, Any] = {**secrets, "WHATSAPP_PHONE_NUMBER_ID": NUMBER_ID, "LANEWAY_WHATSAPP_API_URL": meta.api}
    right = shell.run("whatsapp", "status", "--json", **environ)
    wrong = shell.run("whatsapp", "status", "--json", code=1, **{**environ, "WHATSAPP_TOKEN": "EAAexpired"})
    assert (json.loads(right)["ok"], json.loads(wrong)["ok"]) == (True, False)
    assert not [secret for secret in secrets.values() if secret in right + wrong]
    assert "WHATSAPP_TOKEN" in shell.refused("whatsapp", "status", **{**environ, "WHATSAPP_TOKEN": ""})
