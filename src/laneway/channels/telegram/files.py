"""Fetches a file from Telegram. The address it comes from holds the token, so it is made, used and forgotten here."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from aiogram import Bot
from aiogram.exceptions import AiogramError, TelegramBadRequest
from aiohttp import ClientError, ClientResponseError

from laneway.channels.telegram.api import fault, transient
from laneway.errors import PermanentFault, TooLarge, TransientFault

LARGEST_FILE = 20 << 20
"""Bytes; Telegram hands out nothing larger to bots."""

SECONDS = 120
TOO_BIG = "file is too big"


async def fetched(bot: Bot, source: dict[str, Any], most: int) -> bytes:
    """The content of the file that the message named, at most `most` bytes."""
    limit = min(most, LARGEST_FILE)
    try:
        file = await bot.get_file(str(source["file_id"]))
    except TelegramBadRequest as error:
        raise _too_large(limit) if TOO_BIG in error.message else fault(error) from None
    except AiogramError as error:
        raise transient(error) from None
    if (file.file_size or 0) > limit:
        raise _too_large(limit)
    return await _download(bot, file.file_path or "", limit)


async def _download(bot: Bot, path: str, limit: int) -> bytes:
    content = bytearray()
    address = bot.session.api.file_url(bot.token, path)
    try:
        async with aclosing(bot.session.stream_content(address, timeout=SECONDS)) as chunks:
            async for chunk in chunks:
                content += chunk
                if len(content) > limit:
                    raise _too_large(limit)
    except ClientResponseError as error:
        words = f"Telegram does not hand out the file (HTTP {error.status})."
        raise TransientFault(words) if error.status >= 500 else PermanentFault(words) from None
    except (ClientError, OSError):
        # A timeout is an OSError, too.
        raise TransientFault("The connection to Telegram broke while a file was fetched.") from None
    return bytes(content)


def _too_large(limit: int) -> TooLarge:
    size = f"{limit >> 20} MB" if limit >= 1 << 20 else f"{limit} bytes"
    return TooLarge(f"The file has more than {size}.", hint="Send a smaller one.")
