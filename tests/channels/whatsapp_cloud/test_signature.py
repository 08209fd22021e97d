"""Only Meta gets in: signatures over the raw bytes, and a verify token nobody can leave out."""

from __future__ import annotations

import pytest

from laneway.channels.whatsapp_cloud.signature import signature, signed, verified

RAW = '{"object": "whatsapp_business_account", "ü": 1}'.encode()


def test_the_signature_is_that_of_meta() -> None:
    # Made with: printf '{"a":1}' | openssl dgst -sha256 -hmac secret
    expected = "aa9e2e3575f5d7098b6caccd790888c36d5fdb63342a73bada2d6a51747a8494"
    assert signature("secret", b'{"a":1}') == f"sha256={expected}"


def test_exactly_the_signed_bytes_are_accepted() -> None:
    header = signature("secret", RAW)
    assert signed("secret", RAW, header)
    assert not signed("secret", RAW + b" ", header)
    assert not signed("secret", RAW.replace(b" ", b""), header)


@pytest.mark.parametrize("header", ["", "sha256=", "sha1=abc", "sha256=" + "0" * 64, "ünïcode", "\udcff"])
def test_a_wrong_signature_is_refused(header: str) -> None:
    assert not signed("secret", RAW, header)


def test_without_a_secret_nothing_is_signed() -> None:
    assert not signed("", RAW, signature("", RAW))


def test_a_signature_in_capitals_or_without_its_name_is_refused() -> None:
    header = signature("secret", RAW)
    assert not signed("secret", RAW, header.removeprefix("sha256="))
    assert not signed("other", RAW, header)


def test_a_subscription_needs_the_verify_token() -> None:
    assert verified("mine", "subscribe", "mine")
    assert not verified("mine", "subscribe", "yours")
    assert not verified("mine", "unsubscribe", "mine")
    assert not verified("", "subscribe", "")
    assert not verified("mine", "subscribe", "münze\udc80")
