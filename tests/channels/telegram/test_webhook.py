"""What the webhook needs before it may open: a secret, an https address, one of Telegram's ports."""

from __future__ import annotations

import pytest

from laneway.channels.telegram.webhook import checked_secret, checked_url, opens, update_in
from laneway.errors import SettingsError


@pytest.mark.parametrize("secret", [None, ""])
def test_a_webhook_without_a_secret_refuses_to_start(secret: str | None) -> None:
    with pytest.raises(SettingsError, match="no secret, so anybody could post") as refused:
        checked_secret(secret)
    assert "laneway telegram setup" in refused.value.hint


@pytest.mark.parametrize("secret", ["with space", "ä", "x" * 257, "a/b"])
def test_a_secret_telegram_would_not_send_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(SettingsError) as refused:
        checked_secret(secret)
    assert secret not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (None, "must know the address"),
        ("http://bot.example.org", "https addresses only"),
        ("bot.example.org", "https addresses only"),
        ("https://", "https addresses only"),
        ("https://bot.example.org:8080", "not post to port 8080"),
        ("https://bot.example.org:x", "https addresses only"),
    ],
)
def test_an_address_telegram_would_not_post_to_is_refused(url: str | None, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        checked_url(url)


@pytest.mark.parametrize("port", ["", ":443", ":80", ":88", ":8443"])
def test_addresses_telegram_posts_to_are_taken(port: str) -> None:
    assert checked_url(f"https://bot.example.org{port}/") == f"https://bot.example.org{port}/telegram/webhook"
    assert checked_url(f"https://bot.example.org{port}/x") == f"https://bot.example.org{port}/x/telegram/webhook"


def test_only_the_secret_opens() -> None:
    assert opens("s3cret", "s3cret")
    for other in ("", "s3cre", "s3cret ", "S3cret", "ä", "\ud800"):
        assert not opens("s3cret", other)


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{", b"\xff", b"[" * 100_000, b"1" * 5000, b'"x"'])
def test_a_body_without_an_update_is_told_in_the_log(body: bytes, caplog: pytest.LogCaptureFixture) -> None:
    assert update_in(body) is None
    assert "no update" in caplog.text


def test_fields_nobody_knows_are_kept() -> None:
    assert update_in(b'{"update_id": 1, "new": {"a": [1]}}') == {"update_id": 1, "new": {"a": [1]}}
