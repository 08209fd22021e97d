"""The bot's account at Telegram: whether the token is right, and how updates shall travel."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from aiogram import Bot
from aiogram.exceptions import (
    AiogramError,
    TelegramBadRequest,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramUnauthorizedError,
)
from aiogram.types import BotCommand, User, WebhookInfo

from laneway.channels.telegram.addressing import COMMANDS
from laneway.channels.telegram.updates import ASKED_FOR
from laneway.errors import BadInput, SettingsError, Unavailable

T = TypeVar("T")
MOST_CONNECTIONS = 40
BOTFATHER = "Ask @BotFather on Telegram for it (/token), and put it into .env as TELEGRAM_BOT_TOKEN."


async def who(bot: Bot) -> User:
    """The bot as Telegram knows it."""
    return await _answered(bot.get_me())


async def hooked(bot: Bot) -> WebhookInfo:
    """Where Telegram posts updates, and what went wrong there last."""
    return await _answered(bot.get_webhook_info())


async def use_webhook(bot: Bot, url: str, secret: str) -> None:
    """Telegram posts to this address with this secret; what waits is posted there, too."""
    await _answered(
        bot.set_webhook(
            url, secret_token=secret, allowed_updates=list(ASKED_FOR), max_connections=MOST_CONNECTIONS,
            drop_pending_updates=False,
        )
    )  # fmt: skip


async def use_polling(bot: Bot) -> None:
    """Telegram posts nowhere; what waits is kept until it is asked for."""
    await _answered(bot.delete_webhook(drop_pending_updates=False))


async def offer_commands(bot: Bot) -> None:
    """People are offered the commands when they type `/`."""
    offered = [BotCommand(command=name, description=about) for name, about in COMMANDS.items()]
    await _answered(bot.set_my_commands(offered))


async def _answered(call: Awaitable[T]) -> T:
    """What Telegram answers, or an error of ours that says what is wrong."""
    try:
        return await call
    except (TelegramUnauthorizedError, TelegramNotFound):
        raise SettingsError("Telegram does not know this bot token.", hint=BOTFATHER) from None
    except TelegramRetryAfter as error:
        raise Unavailable(
            f"Telegram wants {error.retry_after} s of rest.", hint="Then try again.", retry_after=error.retry_after
        ) from None
    except TelegramBadRequest as error:
        raise BadInput(f"Telegram refused: {error.message}", hint="Correct it and try again.") from None
    except AiogramError as error:
        raise Unavailable(
            f"Telegram cannot be reached ({type(error).__name__}).",
            hint="Check this machine's network, and LANEWAY_TELEGRAM_API_URL if it is set.",
        ) from None
