"""The webhook that Telegram posts to: who may, what is refused, and what happens while nothing can be stored."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from laneway.errors import SettingsError
from tests.journeys.telegram_chat import OWNER, SECRET, on_telegram
from tests.servers.telegram_updates import SECRET_HEADER
from tests.serving import serving
from tests.web.test_database_down import away


async def test_only_telegram_may_post(database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with on_telegram(database_url, tmp_path) as chat, httpx.AsyncClient(timeout=30) as http:
        update = chat.telegram.updates.message("what is new?")
        for headers in (
            {},
            {SECRET_HEADER: "wrong"},
            {SECRET_HEADER: ""},
            {"Authorization": f"Bearer {chat.door.served.key}"},
        ):
            answer = await http.post(chat.hook, json=update, headers=headers)
            assert answer.status_code == 401
            assert SECRET not in answer.text
        assert await chat.jobs() == []
    assert SECRET not in caplog.text
    assert "wrong" not in [word for record in caplog.records for word in record.getMessage().split()]
    assert "without its secret" in caplog.text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"update_id":"x","message":{}}', b"{}"])
async def test_what_is_no_update_is_answered_with_200_and_noted(
    database_url: str, tmp_path: Path, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with on_telegram(database_url, tmp_path) as chat, httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(chat.hook, content=body, headers={SECRET_HEADER: SECRET})
        assert answer.status_code == 200
        assert await chat.jobs() == []
    assert [record for record in caplog.records if record.name == "laneway.telegram" and record.levelname == "WARNING"]


async def test_a_body_that_is_too_long_is_refused(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path) as chat, httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(chat.hook, content=b"x" * 5_000_000, headers={SECRET_HEADER: SECRET})
        assert answer.status_code == 413


async def test_while_nothing_can_be_stored_telegram_is_told_to_come_again(
    database_url: str, tmp_path: Path, postgres: str
) -> None:
    async with on_telegram(database_url, tmp_path) as chat:
        update = chat.telegram.updates.message("what is new?", sender=OWNER)
        with away(postgres, database_url):
            assert await chat.bring(update) == [503]
        assert await chat.bring(update, until_taken=100, pause=0.2) == [200]
        (answer,) = await chat.sees(1)
        assert answer.text == "You said: what is new?"


@pytest.mark.parametrize("secret", [None, SecretStr("")])
async def test_a_webhook_without_a_secret_refuses_to_start(
    database_url: str, tmp_path: Path, secret: SecretStr | None
) -> None:
    with pytest.raises(SettingsError, match="no secret"):
        async with serving(
            database_url, tmp_path, telegram_token=SecretStr("1:x"), telegram_mode="webhook", telegram_secret=secret
        ):
            pass


async def test_where_laneway_polls_there_is_no_webhook(database_url: str, tmp_path: Path) -> None:
    async with on_telegram(database_url, tmp_path, mode="polling") as chat, httpx.AsyncClient(timeout=30) as http:
        answer = await http.post(chat.hook, json={"update_id": 1}, headers={SECRET_HEADER: SECRET})
        assert answer.status_code == 404
