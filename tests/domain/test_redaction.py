"""Secrets are kept out of what people and logs see, and hostile texts do not hold anybody up."""

from __future__ import annotations

from laneway.domain.redaction import HIDDEN, redacted

SECRETS = {
    "hunter2": "PGPASSWORD=hunter2 psql -h db",
    "abc123": "curl -H 'X-Api-Key: abc123' https://example.org",
    "zzz9": "curl 'https://example.org/?key=zzz9&page=1'",
    "abcd": "AWS_SECRET_ACCESS_KEY=abcd aws s3 ls",
    "abcdefghijk": "Authorization: Bearer abcdefghijk",
    "pass": "psql postgres://me:pass@db/shop",
    "0123456789abcdef": "echo sk-ant-0123456789abcdef",
    "MIIE": "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
}


def test_a_secret_in_a_text_is_hidden() -> None:
    shown = {secret: redacted(text) for secret, text in SECRETS.items()}
    assert [secret for secret, text in shown.items() if secret in text or HIDDEN not in text] == []
    assert redacted("echo -----BEGIN PRIVATE KEY----- >/dev/null; rm -rf work").endswith("; rm -rf work")
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


def test_a_hostile_text_is_read_before_the_test_times_out() -> None:
    for piece in ("?", "-eyJ", "a", "password", "-----BEGIN ", "key=", "://a", "authorization "):
        redacted(piece * (200_000 // len(piece)))
