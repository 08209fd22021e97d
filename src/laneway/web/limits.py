"""What a request may carry, and how long it may take to come: enforced while it is read and not after."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laneway.errors import BadInput, TooLarge, TooSlow
from laneway.lanes.pipeline.checking import MOST_BYTES
from laneway.lanes.pipeline.unpacking import SMALL
from laneway.settings import Settings
from laneway.web.bodies import check_body, is_json

PAYLOAD_BYTES = 1_048_576
WEBHOOK_BYTES = 4_194_304
"""Meta batches up to 3 MB; a webhook that is refused would come again for days."""

HOOK_BYTES = 33_554_432
"""A tool call holds whole files; one that is refused for its length would run unjudged."""

ESCAPED = 6
"""A byte of text may be written as \\u00e4 in JSON."""

FILES_TOGETHER = 2
"""All files of one message together may be as large as so many of the largest."""

TABLE_DOORS = frozenset({"/messages", "/pipelines", "/test/chat"})
"""Where a request may bring tables besides all else: they are read beside the event loop, and stored by themselves."""
LOOK_THEMSELVES = ("/hooks/", "/workflow-hooks/", "/telegram/", "/whatsapp/", "/waha/")

BODY_SECONDS, SLOWEST = 20.0, 16_384
"""A body must be there after so long, and later by as much as it takes to send it at so many bytes a second."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The longest bodies taken, in bytes."""

    plain: int
    with_files: int

    @classmethod
    def of(cls, settings: Settings) -> BodyLimits:
        plain = ESCAPED * settings.max_text_bytes + PAYLOAD_BYTES
        return cls(plain, plain + FILES_TOGETHER * settings.max_file_bytes)

    @property
    def with_tables(self) -> int:
        return self.plain + MOST_BYTES

    def most(self, path: str, headers: Headers) -> int:
        """The limit for a request with these headers."""
        multipart = headers.get("content-type", "").lower().startswith("multipart/")
        return (self.with_files if multipart else self.plain) + (MOST_BYTES if path in TABLE_DOORS else 0)


class BodyLimit:
    """Lets in what can be stored: ends a request as soon as its body is too long, announced or not, or too slow."""

    def __init__(self, app: ASGIApp, limits: BodyLimits, seconds: float = BODY_SECONDS) -> None:
        self._app, self._limits, self._seconds = app, limits, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            raise BadInput("The address holds a NUL.", hint="Leave it out.")
        headers, began, ended = Headers(scope=scope), time.monotonic(), False
        most, taken = self._limits.most(scope["path"], headers), 0
        # Where tables come, and where others post, whoever reads the body looks through it.
        own = scope["path"] in TABLE_DOORS or scope["path"].startswith(LOOK_THEMSELVES)
        checked = not own and is_json(headers.get("content-type", ""))
        if scope["path"].endswith("/webhook"):
            # Whatever it calls itself: it is read whole before anybody knows whose it is.
            most = max(self._limits.plain, WEBHOOK_BYTES)
        if scope["path"].startswith("/hooks/"):
            most = max(most, HOOK_BYTES)
        parts: list[bytes] = []
        announced = headers.get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > most:
            raise _too_large(most, scope["path"])

        async def counted() -> Message:
            nonlocal taken, ended
            if ended:
                return await receive()
            try:
                async with asyncio.timeout(began + self._seconds + taken / SLOWEST - time.monotonic()):
                    message = await receive()
            except TimeoutError:
                raise TooSlow(f"The body had not come after {self._seconds:g} s.", hint="Send it faster.") from None
            part, ended = message.get("body", b""), not message.get("more_body", False)
            taken += len(part)
            if taken > most:
                raise _too_large(most, scope["path"])
            if checked:
                parts.append(part)
            if ended and any(parts):
                # Large ones are read beside the event loop.
                await asyncio.to_thread(check_body, parts) if taken > SMALL else check_body(parts)
            return message

        return await self._app(scope, counted, send)


def _too_large(most: int, path: str) -> TooLarge:
    hint = "Send less, or in several messages."
    if path in TABLE_DOORS:
        hint = f"Tables of more than {MOST_BYTES // 2**20} MB belong in a file: attach it to POST /messages."
    return TooLarge(f"The request is longer than {most} bytes.", hint=hint)
