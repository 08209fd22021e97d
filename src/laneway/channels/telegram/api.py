"""The Bot API by aiogram, made safe: no error tells the token, and each says whether the request was taken."""

from __future__ import annotations

from typing import Any, cast

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import PRODUCTION, TelegramAPIServer
from aiogram.exceptions import (
    AiogramError,
    ClientDecodeError,
    TelegramAPIError,
    TelegramEntityTooLarge,
    TelegramNetworkError,
    TelegramNotFound,
    TelegramRetryAfter,
    TelegramServerError,
    TelegramUnauthorizedError,
)
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from aiogram.utils.token import TokenValidationError
from aiohttp import ClientConnectorError, ClientTimeout, ConnectionTimeoutError

from laneway.domain.redaction import HIDDEN, redacted
from laneway.errors import ModelFault, PermanentFault, SettingsError, TransientFault, UncertainFault

ANSWER_SECONDS = 30.0
CONNECT_SECONDS = 10.0
UNKNOWN_TOKEN_SECONDS = 60.0
"""A wrong token is corrected by a person: until then replies wait, as in any other outage."""


class NotSent(TelegramNetworkError):
    """The request never left: there was no connection."""


class Session(AiohttpSession):
    """aiogram's session, which tells no secrets and knows a gateway's page from an answer."""

    async def make_request(
        self, bot: Bot, method: TelegramMethod[TelegramType], timeout: int | None = None
    ) -> TelegramType:
        """The answer to the call; an error says nothing of the address, which holds the token."""
        total = self.timeout if timeout is None else timeout
        limits = ClientTimeout(total=total, sock_connect=min(CONNECT_SECONDS, total))
        try:
            return await super().make_request(bot, method, cast(int, limits))
        except TelegramAPIError as error:
            error.message = without_token(error.message, bot.token)
            if not isinstance(error, TelegramNetworkError) or isinstance(error, TelegramEntityTooLarge):
                raise
            never_left = isinstance(error.__cause__, ClientConnectorError | ConnectionTimeoutError)
            kind = NotSent if never_left else TelegramNetworkError
            raise kind(method, error.message) from None

    def check_response(
        self, bot: Bot, method: TelegramMethod[TelegramType], status_code: int, content: str
    ) -> Response[TelegramType]:
        """The answer, if it is one; what a gateway in front of the Bot API says is an error of the server."""
        try:
            return super().check_response(bot, method, status_code, content)
        except ClientDecodeError:
            if status_code < 400:
                raise
            raise TelegramServerError(method, f"HTTP {status_code} without an answer of the Bot API") from None


def make_bot(token: str, api_url: str | None = None, seconds: float = ANSWER_SECONDS) -> Bot:
    """A client of the Bot API that waits so long for answers; SettingsError if the token cannot be one."""
    server = TelegramAPIServer.from_base(api_url.rstrip("/")) if api_url else PRODUCTION
    try:
        return Bot(token, session=Session(api=server, timeout=seconds))
    except TokenValidationError:
        raise SettingsError(
            "TELEGRAM_BOT_TOKEN does not look like a token.",
            hint="@BotFather shows it: digits, a colon, and about 35 characters.",
        ) from None


def without_token(text: str, token: str) -> str:
    """The text without the token or its secret half, however it got there."""
    for secret in (token, token.partition(":")[2]):
        text = text.replace(secret, HIDDEN) if secret else text
    return str(redacted(text))


def fault(error: AiogramError) -> ModelFault:
    """What an error of aiogram means for what was being sent."""
    if isinstance(error, TelegramRetryAfter):
        return TransientFault("Telegram asks us to wait.", retry_after=float(error.retry_after))
    if isinstance(error, NotSent):
        return TransientFault("Telegram cannot be reached.")
    if isinstance(error, TelegramServerError):
        return TransientFault(f"Telegram is in trouble: {_words(error)}.")
    if isinstance(error, TelegramUnauthorizedError | TelegramNotFound):
        return TransientFault(
            "Telegram does not know the bot's token.",
            hint="Correct TELEGRAM_BOT_TOKEN and start again; replies wait until then.",
            retry_after=UNKNOWN_TOKEN_SECONDS,
        )
    if isinstance(error, TelegramNetworkError) and not isinstance(error, TelegramEntityTooLarge):
        return UncertainFault("The connection to Telegram broke before it answered.")
    if isinstance(error, TelegramAPIError):
        return PermanentFault(f"Telegram refuses it: {_words(error)}.")
    return UncertainFault("Telegram's answer could not be read.")


def _words(error: TelegramAPIError) -> str:
    """Telegram's own words, without the status they begin with."""
    told = error.message.rpartition("Original description: ")[2]
    return told.partition(": ")[2] or told


def transient(error: AiogramError) -> ModelFault:
    """The same for calls that may be made twice: what is uncertain is worth trying again."""
    found = fault(error)
    return TransientFault(found.message) if isinstance(found, UncertainFault) else found


def keyboard(rows: list[list[tuple[str, str]]]) -> dict[str, Any] | None:
    """Buttons under a message, or none."""
    buttons = [[{"text": text, "callback_data": data} for text, data in row] for row in rows]
    return {"inline_keyboard": buttons} if buttons else None
