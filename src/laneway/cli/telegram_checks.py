"""What `laneway doctor` and `laneway telegram status` say of Telegram: the token, how updates travel, who may write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from laneway.cli.checks import Finding
from laneway.errors import LanewayError, SettingsError

if TYPE_CHECKING:
    from laneway.settings import Settings
    from laneway.store.database import Database

RECENT = timedelta(hours=1)
MANY = 100
SETUP = "`laneway telegram setup` sets it right."
TROUBLES = (
    ("certificate", "The certificate of the address is not one Telegram trusts.",
     "Use one of a public authority (Let's Encrypt) with its whole chain; a proxy such as Caddy fetches it itself."),
    ("SSL", "The address does not speak TLS as it should.",
     "Let a proxy with a certificate stand before Laneway, which speaks plain HTTP."),
    ("resolve", "The name of the address is not known.", "Correct LANEWAY_PUBLIC_URL, or its DNS entry."),
    ("refused", "Nobody listens at the address.", "Start the proxy before Laneway, and open the port in the firewall."),
    ("timed out", "The address does not answer in time.", "Open the port in the firewall; IPv6 alone is not enough."),
    ("timeout", "The address does not answer in time.", "Look into the log of the proxy and `laneway logs`."),
    ("401", "Laneway did not know the secret.", SETUP),
    ("403", "Somebody before Laneway refused.", "Let the proxy pass /telegram/webhook on to Laneway."),
    ("404", "There is nothing at the address.",
     "Let the proxy pass /telegram/webhook on to Laneway, and run it with LANEWAY_TELEGRAM_MODE=webhook."),
    ("502", "The proxy did not reach Laneway.", "Start `laneway up`, and name its port to the proxy."),
    ("503", "Laneway could not store messages; Telegram keeps them.", "`laneway doctor` says what the database lacks."),
)  # fmt: skip
"""A word in Telegram's own report, what it means, and what to do."""


@dataclass(frozen=True)
class Heard:
    """What Telegram tells of the bot, as plain values."""

    name: str
    url: str = ""
    pending: int = 0
    asked_for: tuple[str, ...] = ()
    error: str = ""
    error_at: datetime | None = None


def account(heard: Heard | LanewayError) -> Finding:
    """Whether the token is right and Telegram answers."""
    if isinstance(heard, LanewayError):
        return Finding("telegram", "fail", heard.message, heard.hint)
    return Finding("telegram", "ok", f"The bot is @{heard.name}.")


def webhook(heard: Heard, wanted: str, needed: Sequence[str], now: datetime) -> Finding:
    """Whether Telegram posts to us, everything we want, and gets through."""
    if heard.url != wanted:
        to = f"posts to {heard.url}" if heard.url else "posts nowhere"
        return Finding("telegram webhook", "fail", f"Telegram {to}, not to {wanted}.", SETUP)
    if heard.error and heard.error_at is not None and now - heard.error_at < RECENT:
        says, fix = explained(heard.error)
        state = "fail" if heard.pending else "warn"
        return Finding("telegram webhook", state, f"{says} Telegram said: {heard.error} {waiting(heard)}".strip(), fix)  # type: ignore[arg-type]
    if heard.asked_for and not set(needed) <= set(heard.asked_for):
        return Finding("telegram webhook", "fail", "Telegram does not post everything we need.", SETUP)
    if heard.pending >= MANY:
        return Finding(
            "telegram webhook", "warn", waiting(heard), "Look at `laneway logs`: updates are taken too slowly."
        )
    return Finding("telegram webhook", "ok", f"Telegram posts to {heard.url}. {waiting(heard)}".strip())


def polling(heard: Heard, conflict: bool) -> Finding:
    """Whether we can ask Telegram for updates, and nobody else does."""
    if heard.url:
        says = f"Telegram posts to {heard.url} and so lets nobody ask for updates."
        return Finding("telegram polling", "fail", says, SETUP)
    if conflict:
        from laneway.channels.telegram.polling import TWO_POLLERS

        says, _, fix = TWO_POLLERS.partition("(409). ")
        return Finding("telegram polling", "fail", f"{says}(409).", fix)
    return Finding("telegram polling", "ok", f"Laneway asks for updates. {waiting(heard)}".strip())


def people(known: int, named: int, customers: bool) -> Finding:
    """Whether anybody may write to the bot."""
    if customers:
        return Finding("telegram people", "ok", "Everybody may write; who is not known is a customer.")
    if known or named:
        return Finding("telegram people", "ok", f"{max(known, named)} may write to it.")
    fix = "`laneway people pair` gives a code to send to the bot; or set LANEWAY_TELEGRAM_OWNERS to your user id."
    return Finding("telegram people", "warn", "Nobody may write to the bot yet.", fix)


def wrong(check: str, error: SettingsError) -> Finding:
    """A setting that the chosen mode cannot do without."""
    return Finding(check, "fail", error.message, error.hint)


def explained(message: str) -> tuple[str, str]:
    """What Telegram's report of a failed post means, and what to do."""
    for word, says, fix in TROUBLES:
        if word.lower() in message.lower():
            return says, fix
    return "Telegram could not post its last update.", "Look into the log of the proxy and `laneway logs`."


def waiting(heard: Heard) -> str:
    """How many updates Telegram keeps for us."""
    if not heard.pending:
        return ""
    return f"{heard.pending} update{'s' if heard.pending > 1 else ''} wait{'' if heard.pending > 1 else 's'} there."


async def listened(settings: Settings) -> Heard | LanewayError:
    """What Telegram tells, or why it tells nothing."""
    from laneway.channels.telegram import account as at_telegram
    from laneway.channels.telegram.api import make_bot

    assert settings.telegram_token is not None
    try:
        bot = make_bot(settings.telegram_token.get_secret_value(), settings.telegram_api_url)
        async with bot.context():
            user, hook = await at_telegram.who(bot), await at_telegram.hooked(bot)
    except LanewayError as error:
        return error
    error_at = hook.last_error_date
    return Heard(
        user.username or str(user.id), hook.url, hook.pending_update_count, tuple(hook.allowed_updates or ()),
        hook.last_error_message or "", error_at if isinstance(error_at, datetime) else None,
    )  # fmt: skip


async def examined(settings: Settings, db: Database | None = None) -> list[Finding]:
    """Everything about Telegram; nothing if there is no token. Without a database what it knows is left out."""
    if settings.telegram_token is None:
        return []
    heard = await listened(settings)
    conflict, known = (False, 0) if db is None else await _stored(db)
    findings = [account(heard), *_travel(settings, heard, conflict)]
    if db is not None:
        named = len(settings.telegram_owners) + len(settings.telegram_operators)
        findings.append(people(known, named, settings.telegram_customers))
    return findings


def _travel(settings: Settings, heard: Heard | LanewayError, conflict: bool) -> Iterator[Finding]:
    from laneway.channels.telegram.updates import ASKED_FOR
    from laneway.channels.telegram.webhook import checked_secret, checked_url

    if settings.telegram_mode == "polling":
        if isinstance(heard, Heard):
            yield polling(heard, conflict)
        return
    try:
        secret = settings.telegram_secret
        checked_secret(None if secret is None else secret.get_secret_value())
        wanted = checked_url(settings.public_url)
    except SettingsError as error:
        yield wrong("telegram webhook", error)
        return
    if isinstance(heard, Heard):
        yield webhook(heard, wanted, ASKED_FOR, datetime.now(UTC))


async def _stored(db: Database) -> tuple[bool, int]:
    """Whether somebody else polls with our token, and how many people are known here by their Telegram."""
    from laneway.channels.telegram.polling import CONFLICT, POLLING
    from laneway.store import notes

    async with db.transaction() as tx:
        told = await notes.recent(tx, [CONFLICT, POLLING], hours=24)
        return bool(told) and told[-1].kind == CONFLICT, await notes.addresses(tx, "telegram")
