"""Secrets are kept out of what people and logs see, and hostile texts take no time."""

from __future__ import annotations

import time

import pytest

from laneway.domain.redaction import HIDDEN, redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("PGPASSWORD=hunter2 psql -h db", "hunter2"),
        ("curl -H 'X-Api-Key: abc123' https://example.org", "abc123"),
        ("curl 'https://example.org/?key=zzz9&page=1'", "zzz9"),
        ("AWS_SECRET_ACCESS_KEY=abcd aws s3 ls", "abcd"),
        ("Authorization: Bearer abcdefghijk", "abcdefghijk"),
        ("psql postgres://me:pass@db/shop", "pass"),
        ("echo sk-ant-0123456789abcdef", "0123456789abcdef"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "MIIE"),
    ],
)
def test_a_secret_in_a_text_is_hidden(text: str, secret: str) -> None:
    shown = redacted(text)
    assert secret not in shown
    assert HIDDEN in shown


def test_what_follows_a_secret_stays_readable() -> None:
    shown = redacted("echo -----BEGIN PRIVATE KEY----- >/dev/null; rm -rf work")
    assert shown.endswith("; rm -rf work")
    assert redacted("sort --key=2 names.txt") == "sort --key=2 names.txt"


def test_whatever_stands_under_a_secrets_name_is_hidden() -> None:
    given = {"token": ["a", "b"], "api_key": 5, "key": "office wifi", "headers": {"X-Api-Key": "k"}, "password": ""}
    shown = {"token": HIDDEN, "api_key": HIDDEN, "key": "office wifi", "headers": {"X-Api-Key": HIDDEN}, "password": ""}
    assert redacted(given) == shown


def test_a_count_of_tokens_is_no_secret() -> None:
    counts = {"tokens": {"input": 12, "output": 3}, "tokens_used": 15, "max_tokens": 4000}
    assert redacted(counts) == counts
    kept = {"tokens": ["a1b2"], "refresh_tokens": {"shop": "c3"}, "token": 1234, "csrftokens": 5}
    assert redacted(kept) == dict.fromkeys(kept, HIDDEN)


@pytest.mark.parametrize("piece", ["?", "-eyJ", "a", "password", "-----BEGIN ", "key=", "://a", "authorization "])
def test_a_hostile_text_is_read_in_no_time(piece: str) -> None:
    began = time.process_time()
    redacted(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 5
