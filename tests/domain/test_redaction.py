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
    for piece in (
        "?",
        "-eyJ",
        "a",
        "password",
        "-----BEGIN ",
        "key=",
        "://a",
        "authorization ",
        "${",
        "'+'",
        "$a.",
        "xxx",
        "{a",
        "a1",
    ):
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
    # After any scheme of authorization, and with spaces.
    *({"headers": {"Authorization": f"{scheme} a8f5f167f44f4964"}} for scheme in (
        "ApiKey", "Key", "Bot", "SSWS", "Klaviyo-API-Key", "bearer", "Token token=",
    )),
    {"headers": {"Authorization": "Bearer\tletmein"}}, {"x": "Authorization: ApiKey a8f5f167f44f4964"},
    {"headers": {"Authorization": 'Digest username="bob", response="6629fae49393a05397450978507c4ef1"'}},
    {"headers": {"Cookie": "session=8f14e45fceea167a; theme=dark"}}, {"password": "correct horse battery staple"},
    # A literal in a placeholder, and what is left out only in part.
    {"headers": {"Authorization": "${'Bearer " + LONG + "'}"}}, {"x": f"Bearer {{{{{LONG}}}}}"},
    {"x": f"Bearer <{LONG}>"}, {"token": "$ghp_0123456789abcdefABCD"}, {"password": "$ecretPassw0rd"},
    {"transform": "'Bearer ' + 'a8f5f167f44f4964'"}, {"password": "hunxxxter2"}, {"password": "${'letmein'}"},
    # Below a name, under other names, in a key.
    {"password": ["hunter2"]}, {"api_key": {"value": "letmein"}}, {"password": 123456}, {"smtp_pass": "hunter2"},
    {"passwort": "letmein"}, {"headers": {LONG: "1"}},
    {"credentials": {"shop": {"user": "bob", "value": "a1b2c3d4e5"}}}, {"tag": LONG}, {"pass": "hunter2"},
    {"stripe_key": "8f14e45fceea167a5a36dedd4bea2543"}, {"subscription_key": "8f14e45fceea167a"},
    # Addresses.
    *({"url": f"https://x.example/a?v=1&{name}=8f14e45fceea167a5a36dedd"} for name in (
        "sig", "appid", "pass", "auth", "signature", "X-Amz-Signature", "subscription-key",
    )),
    {"url": "https://8f14e45fceea167a5a36dedd@x.example/a"}, {"url": "https://x.example/?password=letmein"},
    {"url": "https://discord.com/api/webhooks/1234567890/abcDEF0123456789abcDEF0123456789"},
    # Known prefixes.
    *({"x": f"use {prefix}a1B2c3D4e5F6a7B8c9D0"} for prefix in (
        "hf_", "npm_", "pypi-", "SG.", "xapp-", "whsec_", "dop_v1_", "shpat_", "gsk_", "lin_api_", "ntn_", "GOCSPX-",
        "ya29.", "hvs.", "ATATT", "glpat-", "github_pat_", "rk_live_",
    )),
    {"x": f"dapi{'0a1b' * 8}"},
)  # fmt: skip
UUID = "0b6a1c1e-8d2f-4c55-9a39-6f1d2b7c8e90"
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
    {"token_url": "https://login.example/oauth2/v2.0/token"}, {"headers": {"Idempotency-Key": UUID}},
    *({"headers": {"Authorization": put}} for put in (
        "Bearer {token}", "Bearer your-token-here", "none", "ApiKey ${$secrets.X}", "Bearer $TOKEN2", "Bearer $token",
        "${'Bearer ' + $secrets.X}", "Token token=${$secrets.X}", "Bearer <your-token>", "Bearer {{ secrets.shop2 }}",
        "Basic ${base64($secrets.USER + ':' + $secrets.PASSWORD)}", "'Bearer ' + $secrets.X",
    )),
    {"url": "https://x.example/?sort_key=date2024"}, {"url": "https://x.example/?page_token=a1b2c3d4e5f6"},
    {"key": "reports/2024Q3/summary.csv"}, {"token": "0xdAC17F958D2ee523a2206206994597C13D831ec7"}, {"key": UUID},
    {"issue_key": "PROJ12345"}, {"routing_key": "eu.orders2024"}, {"translation_key": "home.title2024"},
    {"sort_key": "createdAt2"}, {"credential_id": UUID}, {"tokenizer": "cl100k_base"}, {"token": UUID},
    {"types": {"password": "string", "token": "string"}}, {"has_password": "yes"}, {"has_password": True},
    {"password_selector": "input[name=password1]"}, {"text": "Basic plan2024 costs 10"}, {"password": None},
    {"model": "sk-learn-classifier-v2024a"}, {"x": "$.pk_dim_customer_2024q1abc"}, {"key": "user_123abc"},
    {"code": "password = get_password1(user)"}, {"secret_name": "shop2024prod"}, {"tokens": 12345, "secrets": 2},
    {"schema": {"properties": {"api_key": {"type": "string", "description": "The key of step2024 of the shop"}}}},
    {"api_key": {"in": "header", "name": "X-API-Key"}}, {"secrets": ["SHOP", "MAIL_TOKEN"]}, {"auth": {"type": "none"}},
    {"fields": [{"name": "password", "type": "password"}]}, {"private_key": "/run/keys/shop2024.pem"},
    {"password": "Enter your password"}, {"authorization": "see https://docs.example/auth2024"},
    {"cache_key": "prices:2026-01-15"}, {"partition_key": "customer2024"}, {"pass": "first"}, {"compass": "north2024"},
    {"bypass": "cache2024"}, {"monkey": "banana2024"}, {"x": "npm_config_registry and hf_hub_download_2024"},
)  # fmt: skip


def test_a_secret_that_is_written_out_is_found_and_a_placeholder_is_none() -> None:
    assert [one for one in WRITTEN_OUT if not list(exposed(one))] == []
    assert [one for one in NO_SECRET if list(exposed(one))] == []
    texts = [without_secrets(one) for one in WRITTEN_OUT if isinstance(one, str)]
    assert [text for text in texts if list(exposed(text))] == []


def test_a_secret_is_found_where_it_stands_and_hidden_only_if_it_is_one() -> None:
    given = {"nodes": [{"id": "a"}, {"config": {"url": "https://a:b@c.example", "headers": {"X/Token": LONG}}}]}
    assert list(exposed(given)) == [("nodes", 1, "config", "url"), ("nodes", 1, "config", "headers", "X/Token")]
    assert list(exposed({"a": [{LONG: 1}]})) == [("a", 0)]
    assert without_secrets("the password: it is asked for") == "the password: it is asked for"
    assert LONG not in without_secrets(f"call it with Bearer {LONG}")
