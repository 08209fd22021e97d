"""Sends mail by SMTP: plain, with STARTTLS or inside TLS, with or without a login.

Addresses and subjects come from settings and from filled texts; a line break in one of them, which would add headers
of somebody else's choosing, is refused. A mail whose fate nobody can know is said to be uncertain.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from laneway.clock import SystemClock
from laneway.errors import BadInput, PermanentFault, SettingsError, TransientFault, UncertainFault

SECONDS = 30.0
MOST_RECIPIENTS = 50
LONGEST_SUBJECT = 500
LONGEST_TEXT = 1_000_000
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Mail:
    """A mail server and who writes: made from the settings, never shown."""

    host: str
    port: int
    implicit_tls: bool
    user: str
    password: str
    sender: str
    owner: str | None

    @staticmethod
    def of(url: SecretStr | None, sender: str | None, owner: str | None) -> Mail | None:
        """The mail server a setting names; None if mail is off, SettingsError if it cannot be read."""
        if url is None:
            return None
        parts = urlsplit(url.get_secret_value())
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or not sender:
            raise SettingsError(
                "LANEWAY_SMTP_URL must be smtp://… or smtps://… with a host, and LANEWAY_MAIL_FROM be set.",
                hint="Write smtp://user:password@mail.example.org:587.",
            )
        tls = parts.scheme == "smtps"
        port = parts.port or (465 if tls else 587)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        return Mail(parts.hostname, port, tls, user, password, sender, owner)

    async def send(self, to: Sequence[str], subject: str, text: str, message_id: str) -> dict[str, object]:
        """The server has taken the mail for every recipient; a LanewayError says why not."""
        message = composed(self.sender, to, subject, text, message_id)
        refused = await asyncio.to_thread(self._deliver, message, list(to))
        if refused:
            raise PermanentFault(f"The mail server refused {', '.join(sorted(refused))}; the others have the mail.")
        return {"sent": True, "to": list(to), "subject": subject, "message_id": message["Message-ID"]}

    def _deliver(self, message: EmailMessage, to: list[str]) -> dict[str, object]:
        asked = False
        try:
            with self._connected() as server:
                self._log_in(server)
                asked = True
                return dict(server.send_message(message, to_addrs=to))
        except smtplib.SMTPServerDisconnected as error:
            if asked:
                raise UncertainFault(f"{self.host} hung up while it was given the mail: it may have it.") from error
            raise TransientFault(f"{self.host} hung up.", hint="Try again later.") from error
        except smtplib.SMTPRecipientsRefused as error:
            told = "; ".join(f"{who}: {_said(*why)}" for who, why in error.recipients.items())
            passing = all(400 <= why[0] < 500 for why in error.recipients.values())
            raise (TransientFault if passing else PermanentFault)(f"{self.host} refused: {told}.") from error
        except smtplib.SMTPResponseException as error:
            passing = 400 <= error.smtp_code < 500
            said = _said(error.smtp_code, error.smtp_error)
            raise (TransientFault if passing else PermanentFault)(f"{self.host} refused the mail: {said}.") from error
        except smtplib.SMTPException as error:
            raise PermanentFault(f"{self.host} cannot be used: {error}.") from error
        except ssl.SSLCertVerificationError as error:
            told = f"{self.host} has a certificate nobody here trusts, so nothing was sent: {error.verify_message}."
            raise PermanentFault(told, hint="Mend the certificate, or name the host it is for.") from error
        except (OSError, ssl.SSLError) as error:
            fault = UncertainFault if asked else TransientFault
            raise fault(f"{self.host}:{self.port} did not answer: {error}.", hint="Try again later.") from error

    def _connected(self) -> smtplib.SMTP:
        if self.implicit_tls:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=ssl.create_default_context())
        return smtplib.SMTP(self.host, self.port, timeout=SECONDS)

    def _log_in(self, server: smtplib.SMTP) -> None:
        server.ehlo_or_helo_if_needed()
        if not self.implicit_tls and server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
        elif not self.implicit_tls and self.user and self.host not in _LOOPBACK:
            raise PermanentFault(
                f"{self.host} offers no encryption, so the password was not sent.", hint="Use smtps:// or another port."
            )
        if self.user:
            server.login(self.user, self.password)


def composed(sender: str, to: Sequence[str], subject: str, text: str, message_id: str) -> EmailMessage:
    """The mail as it is sent; BadInput if an address or the subject is none."""
    if not to:
        raise BadInput("The mail has no recipient.", hint="Name one in `to`, or set LANEWAY_MAIL_TO.")
    if len(to) > MOST_RECIPIENTS:
        raise BadInput(f"A mail goes to {MOST_RECIPIENTS} people at most.", hint="Name fewer.")
    if len(subject) > LONGEST_SUBJECT or any(ord(char) < 32 or ord(char) == 127 for char in subject):
        raise BadInput("The subject is too long or holds a line break.", hint="Write one short line.")
    if len(text) > LONGEST_TEXT:
        raise BadInput(f"The mail is longer than {LONGEST_TEXT:,} characters.", hint="Send a part, or a link.")
    message = EmailMessage()
    message["From"] = _address(sender)
    message["To"] = ", ".join(_address(one) for one in to)
    message["Subject"] = subject
    message["Date"] = format_datetime(SystemClock().now())
    # The same for every attempt, so that a server or a reader can tell a mail that came twice.
    message["Message-ID"] = f"<{message_id}@laneway>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message


def _address(text: str) -> str:
    """The address, or BadInput: one address, and nothing that could end its line."""
    given = text.strip()
    try:
        if any(ord(char) < 32 or char in '<>,;"' for char in given) or not given.isascii():
            raise ValueError(given)
        found = Address(addr_spec=given)
        if not found.username or ("." not in found.domain and found.domain != "localhost"):
            raise ValueError(given)
    except (ValueError, HeaderParseError, IndexError):
        shown = "".join(char for char in text if char.isprintable())[:80]
        raise BadInput(f"`{shown}` is no mail address.", hint="Write it like ann@example.org.") from None
    return given


def _said(code: int, text: bytes | str) -> str:
    told = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(told.split())[:200]}"
