"""Secrets are kept out of what people and logs see, and hostile texts do not hold anybody up."""

from __future__ import annotations

from typing import Any

from laneway.domain.redaction import HIDDEN, exposed, redacted, without_secrets

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
        list(exposed(piece * (200_000 // len(piece))))
        list(exposed({"token": piece * (200_000 // len(piece)), "x": f"api_key={piece * (200_000 // len(piece))}"}))


LONG = "sk-live-0123456789abcdef"
WRITTEN_OUT: tuple[Any, ...] = (
    {"headers": {"Authorization": f"Bearer {LONG}"}}, {"headers": {"authorization": "abcdefghijk"}},
    {"headers": {"Authorization": "Basic dXNlcjpwYXNz"}}, {"headers": {"X-Api-Key": "abc123"}},
    {"headers": {"X-Auth-Token": "a1b2c3d4e5"}}, {"headers": {"Cookie": "session=8f14e45fceea167a"}},
    {"headers": [{"name": "Authorization", "value": f"Bearer {LONG}"}]},
    {"url": "https://x.example/?api_key=abc123def"}, {"url": "https://x.example/?q=1&key=AIzaSyA123456789"},
    {"url": "https://x.example/?access_token=EAABsbCS1234"}, {"url": "https://bob:letmein@x.example/a"},
    {"url": "https://hooks.slack.com/services/T00000000/B00000000/abcdefghijklmnopqrstuvwx"},
    {"url": f"https://api.telegram.org/bot123456789:{'Ab3' * 11}cd/sendMessage"},
    {"params": {"key": "8f14e45fceea167a5a36dedd4bea2543"}}, {"params": {"appid": "8f14e45fceea167a5a36dedd4bea2543"}},
    {"body": {"password": "letmein"}}, {"json": {"client_secret": "wJalrXUtnFEMI"}}, {"apiKey": "live"},
    {"body": '{"password": "hunter2"}'}, {"accessKey": "wJalrXUtnFEMI12"},
    {"body": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQ\n-----END RSA PRIVATE KEY-----"},
    {"command": f"curl -H 'Authorization: Bearer {LONG}' https://x"}, {"x": "DATABASE_URL=postgres://me:pass@db/shop"},
    {"x": "PGPASSWORD=hunter2 psql"}, {"x": "AKIAIOSFODNN7EXAMPLE"}, {"x": "ghp_0123456789abcdefABCD"},
    {"x": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc"}, {"x": ["a", {"y": LONG}]}, {"x": "xoxb-1234567890-abcdefgh"},
    "log in with password: hunter2", f"my api key is {LONG}",
)  # fmt: skip
NO_SECRET: tuple[Any, ...] = (
    *({"headers": {"Authorization": f"Bearer {put}"}} for put in (
        "$secrets.X", "${$secrets.X}", "{{token}}", "<token>", "xxx", "x" * 20, "YOUR_API_KEY", "sk-…", "•••", ""
    )),
    {"headers": {"Authorization": "$secrets.X"}}, {"url": "https://x.example/?api_key=${$secrets.X}&a=1"},
    {"url": "https://x.example/?api_key=<key>"}, {"url": "https://bob:${$secrets.PW}@x.example"},
    {"url": "https://prices.example/today?sort=key&page=2"}, {"url": "https://x.example/?page_token=${$input.next}"},
    {"url": "https://x.example/a:b@c"}, {"x": "git@github.com:a/b"}, {"to": "bob@x.example"},
    {"prompt": "Ask for the password: it is required, and use bearer authentication"}, {"prompt": "Many tokens: 12"},
    {"sort_key": "price"}, {"primary_key": "id"}, {"key": "price"}, {"by": "key"}, {"token_path": "data.token"},
    {"Idempotency-Key": "order-2026-01-15"}, {"max_tokens": 4000}, {"max_tokens": "4000"}, {"password": ""},
    {"token": "$nodes.login.token"}, {"output": {"properties": {"password": {"type": "string"}}}},
    {"condition": "$.token == 'abc'"}, {"x": "Basic information about the workflow"}, {"secret_name": "shop"},
    {"x": f"artifact://sha256/{'9f86d081' * 8}"}, {"commit": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
    {"message": "The token expired at 2026-01-02T03:04:05Z"}, {"text": "sk-learn-tutorial-for-everybody"},
)  # fmt: skip


def test_a_secret_that_is_written_out_is_found_and_a_placeholder_is_none() -> None:
    assert [one for one in WRITTEN_OUT if not list(exposed(one))] == []
    assert [one for one in NO_SECRET if list(exposed(one))] == []


def test_a_secret_is_found_where_it_stands_and_hidden_only_if_it_is_one() -> None:
    given = {"nodes": [{"id": "a"}, {"config": {"url": "https://a:b@c.example", "headers": {"X/Token": LONG}}}]}
    assert list(exposed(given)) == [("nodes", 1, "config", "url"), ("nodes", 1, "config", "headers", "X/Token")]
    assert without_secrets("the password: it is asked for") == "the password: it is asked for"
    assert LONG not in without_secrets(f"call it with Bearer {LONG}")
