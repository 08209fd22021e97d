"""Mail over TLS: by STARTTLS, from the first byte, never with a password in the clear, and only to whom one trusts."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from laneway.errors import PermanentFault, TransientFault
from laneway.lanes.workflow.mail import Mail
from tests.sandbox.test_exchange import certificate
from tests.servers.smtp_server import SmtpServer

OWNER = ["owner@example.org"]


@pytest.fixture
def trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose certificate this process trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "both.pem"))
    return tmp_path


def mail(server: SmtpServer) -> Mail:
    made = Mail.of(SecretStr(server.url), "laneway@example.org", None)
    assert made is not None
    return made


@pytest.mark.parametrize("implicit", [False, True], ids=["STARTTLS", "smtps"])
async def test_password_and_mail_go_through_tls(trusted: Path, implicit: bool) -> None:
    ours, _ = certificate(trusted, "localhost")
    with SmtpServer("ann", "s3cret-word", name="localhost", context=ours, implicit=implicit) as server:
        sent = await mail(server).send(OWNER, "Price", "It is 95.", "one")
    assert sent["sent"] is True
    assert server.logins == [("ann", True)]
    [got] = server.mails
    assert (got.encrypted, got.user, got.subject, got.text) == (True, "ann", "Price", "It is 95.")


@pytest.mark.parametrize("implicit", [False, True], ids=["STARTTLS", "smtps"])
@pytest.mark.parametrize("name", ["elsewhere.example.org", "localhost"], ids=["other host", "unknown issuer"])
async def test_a_certificate_for_another_host_or_by_nobody_we_know_gets_neither_password_nor_mail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, implicit: bool
) -> None:
    ours, _ = certificate(tmp_path, name)
    if name != "localhost":
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "both.pem"))
    with (
        SmtpServer("ann", "s3cret-word", name="localhost", context=ours, implicit=implicit) as server,
        pytest.raises(PermanentFault, match="certificate nobody here trusts"),
    ):
        await mail(server).send(OWNER, "Price", "It is 95.", "one")
    assert (server.logins, server.mails) == ([], [])


async def test_a_password_is_not_sent_to_another_machine_in_the_clear() -> None:
    # Leads here, and is none of the names that stand for this machine.
    with SmtpServer("ann", "s3cret-word", name="127.1") as server:
        with pytest.raises(PermanentFault, match="offers no encryption, so the password was not sent"):
            await mail(server).send(OWNER, "Price", "It is 95.", "one")
        assert (server.conversations, server.logins, server.mails) == (1, [], [])
    with SmtpServer(name="127.1") as open_to_all:
        await mail(open_to_all).send(OWNER, "Price", "It is 95.", "one")
    assert [one.encrypted for one in open_to_all.mails] == [False]


async def test_a_server_that_takes_back_its_offer_of_tls_gets_no_password(trusted: Path) -> None:
    ours, _ = certificate(trusted, "localhost")
    with SmtpServer("ann", "s3cret-word", name="localhost", context=ours) as server:
        server.misbehave("STARTTLS", "454 not now")
        with pytest.raises(TransientFault, match="454 not now"):
            await mail(server).send(OWNER, "Price", "It is 95.", "one")
    assert (server.logins, server.mails) == ([], [])
