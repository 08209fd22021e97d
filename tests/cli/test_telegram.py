"""`laneway telegram` and what the doctor says of it, against a loopback Bot API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from laneway.channels.telegram.polling import CONFLICT, POLLING
from laneway.channels.telegram.updates import ASKED_FOR
from laneway.channels.telegram.webhook import checked_secret
from laneway.cli import telegram_checks as checks
from laneway.cli.telegram import set_up
from laneway.cli.telegram_checks import Heard
from laneway.errors import BadInput, LanewayError, SettingsError, Unavailable
from laneway.settings import Settings
from laneway.store import events, principals
from laneway.store.database import Database
from tests.cli.processes import Shell, free_port
from tests.servers.telegram_server import Fail, TelegramServer

URL = "https://bot.example.org"
HOOK = f"{URL}/telegram/webhook"
SECRET = "a-secret_of-Telegram"
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def telegram() -> Iterator[TelegramServer]:
    with TelegramServer() as server:
        yield server


def environ(telegram: TelegramServer, **more: str) -> dict[str, Any]:
    return {"TELEGRAM_BOT_TOKEN": telegram.token, "LANEWAY_TELEGRAM_API_URL": telegram.url, **more}


def by_webhook(telegram: TelegramServer, **more: str) -> dict[str, Any]:
    mode = {"LANEWAY_TELEGRAM_MODE": "webhook", "LANEWAY_PUBLIC_URL": URL, "TELEGRAM_WEBHOOK_SECRET": SECRET}
    return environ(telegram, **{**mode, **more})


def settings(tmp_path: Path, environ: dict[str, Any]) -> Settings:
    return Settings.load({**environ, "LANEWAY_HOME": str(tmp_path / "home")}, tmp_path)


def test_setup_registers_the_webhook_with_its_secret_or_removes_it_where_laneway_polls(
    shell: Shell, telegram: TelegramServer
) -> None:
    telegram.world.updates.append(telegram.updates.message("Hi"))
    printed = shell.run("telegram", "setup", **by_webhook(telegram))
    assert [part in printed for part in ("@laneway_test_bot", HOOK, SECRET)] == [True, True, False]
    hook = telegram.world.webhook
    assert (hook["url"], hook["secret_token"], hook["allowed_updates"]) == (HOOK, SECRET, list(ASKED_FOR))
    assert [one["command"] for one in telegram.world.commands] == ["help", "new", "status", "budget", "stop", "plan"]
    told = json.loads(shell.run("telegram", "setup", "--json", **environ(telegram)))
    assert (told["mode"], told["url"], telegram.world.webhook) == ("polling", None, {})
    assert telegram.world.updates, "what waited was not dropped"


def test_setup_says_exactly_what_is_wrong_with_the_settings(shell: Shell, telegram: TelegramServer) -> None:
    cases: list[tuple[dict[str, str], str]] = [
        ({"LANEWAY_PUBLIC_URL": "http://bot.example.org"}, "public_url"),
        ({"LANEWAY_PUBLIC_URL": ""}, "LANEWAY_PUBLIC_URL"),
        ({"LANEWAY_PUBLIC_URL": "https://bot.example.org:8080"}, "not post to port 8080"),
        ({"TELEGRAM_WEBHOOK_SECRET": "not so secret"}, "letters, digits"),
    ]
    for more, words in cases:
        said = shell.refused("telegram", "setup", **by_webhook(telegram, **more))
        assert words in said
        assert "not so secret" not in said
    assert "@BotFather" in shell.refused("telegram", "setup")
    assert "@BotFather" in shell.refused("telegram", "status")
    assert telegram.calls == []


async def test_setup_says_what_is_wrong_with_the_token_who_cannot_be_reached_and_what_telegram_says(
    tmp_path: Path, telegram: TelegramServer
) -> None:
    wrong: list[tuple[type[LanewayError], str, dict[str, str]]] = [
        (SettingsError, "not look like a token", {"TELEGRAM_BOT_TOKEN": "nonsense"}),
        (SettingsError, "does not know", {"TELEGRAM_BOT_TOKEN": "1:bad"}),
        (Unavailable, "cannot be reached", {"LANEWAY_TELEGRAM_API_URL": f"http://127.0.0.1:{free_port()}"}),
        (BadInput, "Failed to resolve host", {}),
    ]
    telegram.orders.give("setWebhook", Fail(400, "Bad Request: bad webhook: Failed to resolve host"))
    for error, words, more in wrong:
        chosen = by_webhook(telegram, **more)
        with pytest.raises(error, match=words) as refused:
            await set_up(settings(tmp_path, chosen))
        assert chosen["TELEGRAM_BOT_TOKEN"] not in str(refused.value)


def test_without_a_secret_one_is_offered(shell: Shell, telegram: TelegramServer) -> None:
    ended = shell.ended("telegram", "setup", code=2, **by_webhook(telegram, TELEGRAM_WEBHOOK_SECRET=""))
    name, _, secret = ended.stdout.strip().partition("=")
    assert name == "TELEGRAM_WEBHOOK_SECRET"
    assert checked_secret(secret) == secret
    assert ".env" in ended.stderr


async def test_status_tells_whether_updates_travel_as_the_settings_want(
    tmp_path: Path, telegram: TelegramServer
) -> None:
    async def states(environ: dict[str, Any]) -> dict[str, tuple[str, str]]:
        return {one.check: (one.state, one.says) for one in await checks.examined(settings(tmp_path, environ))}

    hooked = by_webhook(telegram)
    assert (await states(hooked))["telegram webhook"][0] == "fail"
    await set_up(settings(tmp_path, hooked))
    assert (await states(hooked))["telegram webhook"] == ("ok", f"Telegram posts to {HOOK}.")
    assert (await states(environ(telegram)))["telegram polling"][0] == "fail"
    without = await states(by_webhook(telegram, TELEGRAM_WEBHOOK_SECRET=""))
    assert "no secret" in without["telegram webhook"][1]
    assert await checks.examined(settings(tmp_path, {})) == []


# One finding for each thing that can be wrong


def heard(**more: Any) -> Heard:
    return Heard("laneway_test_bot", **{"url": HOOK, "asked_for": ASKED_FOR, **more})


def test_telegrams_own_report_is_explained() -> None:
    cases = {
        "SSL error {error:0A000086:SSL routines::certificate verify failed}": "certificate",
        "Connection refused": "Nobody listens",
        "Connection timed out": "firewall",
        "Read timeout expired": "in time",
        "Failed to resolve host: Name or service not known": "DNS",
        "Wrong response from the webhook: 401 Unauthorized": "laneway telegram setup",
        "Wrong response from the webhook: 404 Not Found": "LANEWAY_TELEGRAM_MODE=webhook",
        "Wrong response from the webhook: 502 Bad Gateway": "laneway up",
        "Wrong response from the webhook: 503 Service Unavailable": "database",
        "something new": "laneway logs",
    }
    for error, words in cases.items():
        found = checks.webhook(heard(error=error, error_at=NOW, pending=2), HOOK, ASKED_FOR, NOW)
        assert (found.state, words in f"{found.says} {found.fix}", error in found.says) == ("fail", True, True), error
        old = checks.webhook(heard(error=error, error_at=NOW - timedelta(hours=2)), HOOK, ASKED_FOR, NOW)
        assert old.state == "ok"


def test_a_webhook_elsewhere_a_second_program_and_nobody_who_may_write_are_found() -> None:
    changes: list[dict[str, Any]] = [{"url": "https://other.example/x"}, {"asked_for": ("message",)}, {"pending": 500}]
    states = [checks.webhook(heard(**change), HOOK, ASKED_FOR, NOW).state for change in changes]
    assert states == ["fail", "fail", "warn"]
    assert checks.account(SettingsError("Telegram does not know this bot token.")).state == "fail"
    assert checks.polling(heard(url=""), False).state == "ok"
    assert checks.polling(heard(), False).state == "fail"
    conflict = checks.polling(heard(url=""), True)
    assert ("somebody else" in conflict.says, "Stop the other program" in conflict.fix) == (True, True)
    assert "laneway people pair" in checks.people(0, 0, False).fix
    assert {checks.people(*who).state for who in ((1, 0, False), (0, 1, False), (0, 0, True))} == {"ok"}


async def test_a_conflict_is_told_until_it_is_over(telegram: TelegramServer, db: Database, tmp_path: Path) -> None:
    chosen = settings(tmp_path, environ(telegram))

    async def state(check: str) -> str:
        return next(one.state for one in await checks.examined(chosen, db) if one.check == check)

    assert await state("telegram polling") == "ok"
    assert await state("telegram people") == "warn"
    async with db.transaction() as tx:
        await events.append(tx, CONFLICT, {})
        owner = await principals.set_owner_key(tx, "key")
        await principals.link(tx, "telegram:42", owner.id)
    assert await state("telegram polling") == "fail"
    assert await state("telegram people") == "ok"
    async with db.transaction() as tx:
        await events.append(tx, POLLING, {})
    assert await state("telegram polling") == "ok"
