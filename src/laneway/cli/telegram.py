"""`laneway telegram`: tells Telegram how updates shall travel, and shows whether they do."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from laneway.cli.connection import Json
from laneway.errors import SettingsError

if TYPE_CHECKING:
    from laneway.cli.checks import Finding
    from laneway.settings import Settings

app = typer.Typer(help="Set up the Telegram bot, and see how it is.", no_args_is_help=True)
HOW_TO_GET_ONE = (
    "Ask @BotFather on Telegram for one (/newbot), put TELEGRAM_BOT_TOKEN=… into .env, and try again; "
    "docs/telegram.md has every step."
)


@app.command()
def setup(as_json: Json = False) -> None:
    """Check the token, offer the commands, and register the webhook, or remove it where Laneway polls.

    Nothing that waits at Telegram gets lost, whichever way it is switched.
    """
    import asyncio

    settings = _settings()
    told = asyncio.run(set_up(settings))
    if as_json:
        from laneway.cli.printing import print_json

        print_json(told)
        return
    print(f"The bot is @{told['bot']}, and people are offered {len(told['commands'])} commands.")
    print(_travels(told))
    print("Next: start `laneway up`, then `laneway people pair` gives a code; send it to the bot.")


@app.command()
def status(as_json: Json = False) -> None:
    """Show the bot, how updates travel, and what is wrong with that. The exit code is 1 if something is."""
    import asyncio

    from laneway.cli.telegram_checks import examined

    findings = asyncio.run(examined(_settings()))
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        from laneway.cli.printing import print_json

        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    raise typer.Exit(1 if failed else 0)


def _settings() -> Settings:
    from laneway.settings import Settings

    settings = Settings.load()
    if settings.telegram_token is None:
        raise SettingsError("There is no token of a Telegram bot.", hint=HOW_TO_GET_ONE)
    return settings


async def set_up(settings: Settings) -> dict[str, Any]:
    """Telegram knows how updates shall travel and which commands there are; returns what it was told."""
    # What is wrong with the settings is told before anybody is asked.
    hook = _webhook(settings) if settings.telegram_mode == "webhook" else None

    from laneway.channels.telegram import account
    from laneway.channels.telegram.addressing import COMMANDS
    from laneway.channels.telegram.api import make_bot

    assert settings.telegram_token is not None
    bot = make_bot(settings.telegram_token.get_secret_value(), settings.telegram_api_url)
    async with bot.context():
        user = await account.who(bot)
        if hook is not None:
            await account.use_webhook(bot, *hook)
        else:
            await account.use_polling(bot)
        await account.offer_commands(bot)
        pending = (await account.hooked(bot)).pending_update_count
    return {
        "bot": user.username, "mode": settings.telegram_mode, "url": hook and hook[0], "pending": pending,
        "commands": list(COMMANDS),
    }  # fmt: skip


def _webhook(settings: Settings) -> tuple[str, str]:
    """The address and the secret Telegram is told; SettingsError says what is wrong, and offers a secret."""
    import secrets

    from laneway.channels.telegram.webhook import checked_secret, checked_url

    url = checked_url(settings.public_url)
    if settings.telegram_secret is None:
        print(f"TELEGRAM_WEBHOOK_SECRET={secrets.token_urlsafe(32)}")
        raise SettingsError(
            "The webhook has no secret, so anybody could post to it.",
            hint=f"Put the line above into {settings.home / '.env'} and run `laneway telegram setup` again.",
        )
    return url, checked_secret(settings.telegram_secret.get_secret_value())


def _travels(told: dict[str, Any]) -> str:
    kept = f" {told['pending']} waiting there are kept." if told["pending"] else ""
    if told["mode"] == "webhook":
        return (
            f"Telegram posts updates to {told['url']}.{kept} `laneway telegram status` shows whether it gets through."
        )
    return f"Laneway asks Telegram for updates (polling); no webhook is registered.{kept}"


def _show(findings: list[Finding]) -> None:
    from laneway.cli.printing import print_table

    rows = [(one.state, one.check, f"{one.says} {one.fix if one.state != 'ok' else ''}".strip()) for one in findings]
    print_table(("STATE", "CHECK", "FINDING"), rows, empty="", wrapped="FINDING")
