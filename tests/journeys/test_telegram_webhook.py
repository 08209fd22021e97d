"""The webhook that Telegram posts to: who may, what is refused, and what happens while nothing can be stored."""

from __future__ import annotations

import httpx
import pytest

from tests.journeys.telegram_chat import OWNER, SECRET, Chat
from tests.journeys.tooling import Start
from tests.servers.telegram_updates import SECRET_HEADER
from tests.web.test_database_down import away


async def test_only_telegram_may_post(telegram: Start[Chat], caplog: pytest.LogCaptureFixture) -> None:
    async with telegram() as chat, httpx.AsyncClient(timeout=30) as http:
        update = chat.telegram.updates.message("what is new?")
        keyed = {"Authorization": f"Bearer {chat.door.served.key}"}
        for headers in ({}, {SECRET_HEADER: "wrong"}, {SECRET_HEADER: ""}, keyed):
            answer = await http.post(chat.hook, json=update, headers=headers)
            assert answer.status_code == 401
            assert SECRET not in answer.text
        assert await chat.jobs() == []
    assert SECRET not in caplog.text
    assert "wrong" not in [word for record in caplog.records for word in record.getMessage().split()]
    assert "without its secret" in caplog.text


async def test_what_is_no_update_is_answered_with_200_and_noted(
    telegram: Start[Chat], caplog: pytest.LogCaptureFixture
) -> None:
    async with telegram() as chat, httpx.AsyncClient(timeout=30) as http:
        for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"update_id":"x","message":{}}', b"{}"):
            caplog.clear()
            answer = await http.post(chat.hook, content=body, headers={SECRET_HEADER: SECRET})
            assert answer.status_code == 200, body
            warned = [one for one in caplog.records if (one.name, one.levelname) == ("laneway.telegram", "WARNING")]
            assert warned, body
        answer = await http.post(chat.hook, content=b"x" * 5_000_000, headers={SECRET_HEADER: SECRET})
        assert answer.status_code == 413
        assert await chat.jobs() == []


async def test_while_nothing_can_be_stored_telegram_is_told_to_come_again(
    telegram: Start[Chat], database_url: str, postgres: str
) -> None:
    async with telegram() as chat:
        update = chat.telegram.updates.message("what is new?", sender=OWNER)
        with away(postgres, database_url):
            assert await chat.bring(update) == [503]
        assert await chat.bring(update, until_taken=100, pause=0.2) == [200]
        (answer,) = await chat.sees(1)
        assert answer.text == "You said: what is new?"
