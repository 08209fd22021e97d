"""WhatsApp's door: only Meta gets in, and what is acknowledged is stored."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import httpx
import pytest

from laneway.app import running
from laneway.errors import SettingsError
from laneway.settings import Settings
from tests.servers.whatsapp_server import SECRET, VERIFY
from tests.serving import serving
from tests.web.conftest import counts
from tests.web.test_database_down import away, recovered
from tests.whatsapp import KIM, desk

HOOK = "/whatsapp/webhook"


async def test_meta_finds_the_webhook_with_the_verify_token_only(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path) as here:
        asked = {"hub.mode": "subscribe", "hub.verify_token": VERIFY, "hub.challenge": "1158201444"}
        found = await here.http.get(HOOK, params=asked)
        assert (found.status_code, found.text) == (200, "1158201444")
        assert found.headers["content-type"].startswith("text/plain")
        for change in ({"hub.verify_token": "guess"}, {"hub.verify_token": ""}, {"hub.mode": "unsubscribe"}):
            refused = await here.http.get(HOOK, params=asked | change)
            assert refused.status_code == 403
            assert VERIFY not in refused.text
        assert (await here.http.get(HOOK)).status_code == 403


async def test_nothing_is_read_without_the_right_signature(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(database_url, tmp_path) as here:
        payload = here.meta.payload(here.meta.value(here.meta.text(KIM, "let me in")))
        raw = json.dumps(payload).encode()
        right = here.meta.signature(raw)
        before = counts(database_url)
        with caplog.at_level(logging.DEBUG):
            for signature in ("", "sha256=" + "0" * 64, right.removeprefix("sha256="), right.upper(), right[:-1]):
                answer = await here.meta.push(here.http, payload, signature=signature)
                assert answer.status_code == 401, signature
            # The right signature of other bytes, even of bytes that mean the same.
            other = await here.http.post(HOOK, content=raw + b" ", headers={"x-hub-signature-256": right})
            assert other.status_code == 401
        assert counts(database_url) == before
        assert SECRET not in caplog.text
        assert (await here.http.post(HOOK, content=b"{}")).status_code == 401
        assert (await here.http.post(HOOK, content=raw, headers={"x-hub-signature-256": right})).status_code == 200


async def test_signed_nonsense_hurts_nobody_and_large_payloads_are_taken_if_they_are_signed(
    database_url: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        for body in (b"", b"{", b"[]", b'"x"', b"null", b"\xff\xfe", b"[" * 100_000, b'{"entry": 1}'):
            signed = {"x-hub-signature-256": here.meta.signature(body)}
            assert (await here.http.post(HOOK, content=body, headers=signed)).status_code in (200, 400)
        assert (await here.say(KIM, "still there?")).status_code == 200
        assert (await here.push(here.meta.text(KIM, "not ours"), number_id="4711")).status_code == 200
        batch = [here.meta.status(f"wamid.{number}", "delivered", pad="x" * 2900) for number in range(1000)]
        assert (await here.meta.tell(here.http, *batch)).status_code == 200, "three megabytes"
        form = {"Content-Type": "multipart/form-data; boundary=x"}
        refused = await here.http.post(HOOK, content=b"x" * 5_000_000, headers=form)
        assert refused.status_code == 413, "unsigned, and ten times what Meta sends at most would be read"


async def test_without_the_database_meta_is_told_to_come_again(
    database_url: str, postgres: str, tmp_path: Path
) -> None:
    async with desk(database_url, tmp_path) as here:
        message = here.meta.text(KIM, "what time is it?", id="wamid.again")
        with away(postgres, database_url):
            assert (await here.push(message)).status_code == 503
        await recovered(here.http)
        assert (await here.push(message)).status_code == 200
        assert (await here.push(message)).status_code == 200
        assert [one["external_id"] for one in await here.messages()] == ["wamid.again"]


async def test_without_a_number_there_is_no_door(database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path) as served, httpx.AsyncClient(base_url=served.url, timeout=30) as http:
        assert (await http.get(HOOK)).status_code == 404
        assert (await http.post(HOOK, content=b"{}")).status_code == 404


async def test_a_token_without_its_secrets_does_not_start(database_url: str, tmp_path: Path) -> None:
    secrets = {
        "whatsapp_app_secret": "WHATSAPP_APP_SECRET",
        "whatsapp_verify_token": "WHATSAPP_VERIFY_TOKEN",
        "whatsapp_number_id": "WHATSAPP_PHONE_NUMBER_ID",
    }
    given = dict.fromkeys(secrets, "1") | {"database_url": database_url, "whatsapp_token": "EAAsecret"}
    for missing, named in secrets.items():
        settings = Settings.model_validate(given | {"home": tmp_path, "local_classifier": False, missing: None})
        with pytest.raises(SettingsError, match=named) as refused:
            async with running(settings):
                pass
        assert "EAAsecret" not in str(refused.value)


async def test_customers_can_be_kept_out(database_url: str, tmp_path: Path) -> None:
    async with desk(database_url, tmp_path, whatsapp_customers=False) as here:
        assert (await here.push(here.meta.text(KIM, "let me in"))).status_code == 200
        (told,) = await here.sent(1)
        assert "private" in told.text
        assert await here.messages() == []
