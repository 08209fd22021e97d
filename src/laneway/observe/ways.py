"""The ways a notice is given: the desktop, the terminal's bell, a webhook."""

from __future__ import annotations

import asyncio
import html
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

import orjson

from laneway.errors import BadInput, LanewayError, Unavailable
from laneway.observe.notify import Notice, Way
from laneway.reactors import Severity
from laneway.sandbox.exchange import Exchange, Question, parsed
from laneway.sandbox.hosts import Allowed
from laneway.settings import Settings

_DESKTOP_SECONDS = 5.0
_WEBHOOK_SECONDS = 10.0
_PAUSES = (1.0, 5.0, 20.0)
"""Seconds before a webhook that did not answer is tried again."""
_MOST_ANSWER = 4_096


@dataclass(frozen=True, slots=True)
class Desktop:
    """Shows a notice on the desktop with the program `notify-send`."""

    program: str
    name: str = "desktop"

    async def tell(self, notice: Notice) -> None:
        urgency = "critical" if notice.severity is Severity.KILL else "normal"
        # Many desktops read the body as markup. No shell is involved, and `--` ends the options.
        arguments = (
            "--app-name=Laneway", f"--urgency={urgency}", "--category=im", "--", notice.title,
            html.escape(notice.text, quote=False),
        )  # fmt: skip
        try:
            process = await asyncio.create_subprocess_exec(
                self.program, *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as error:
            raise Unavailable(f"{self.program} cannot be started: {error.strerror}.") from None
        try:
            async with asyncio.timeout(_DESKTOP_SECONDS):
                code = await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise Unavailable("The desktop does not answer.") from None
        if code:
            raise Unavailable(f"notify-send ended with code {code}.", hint="Is there a desktop?")


def desktop(environ: Mapping[str, str] = os.environ) -> Desktop | None:
    """The desktop, where there is one: the program, and somebody who listens to it."""
    program = shutil.which("notify-send", path=environ.get("PATH"))
    there = any(environ.get(name) for name in ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"))
    return Desktop(program) if program and there else None


@dataclass(frozen=True, slots=True)
class Bell:
    """Rings the terminal's bell."""

    write: Callable[[str], object]
    name: str = "bell"

    async def tell(self, notice: Notice) -> None:
        self.write("\a")


class Webhook:
    """Posts a notice as JSON. Where the address leads inside, only this one host and port are open."""

    name = "webhook"

    def __init__(
        self, url: str, allowed: Allowed | None = None, *, exchange: Exchange | None = None,
        pauses: tuple[float, ...] = _PAUSES,
    ) -> None:  # fmt: skip
        try:
            where = parsed(url)
        except BadInput as error:
            # Not the address itself, which may hold a key.
            raise BadInput(f"LANEWAY_NOTIFY_WEBHOOK is no address to post to: {error.hint}") from None
        self._url, self._host, self._pauses = url, where.host, pauses
        port = where.port or (443 if where.scheme == "https" else 80)
        self._exchange = (exchange or Exchange(allowed or Allowed())).with_allowed(where.host, port)

    async def tell(self, notice: Notice) -> None:
        question = Question(
            "POST",
            self._url,
            {"Content-Type": "application/json", "Idempotency-Key": notice.key},
            orjson.dumps(as_json(notice)),
        )
        for pause in (*self._pauses, None):
            trouble, again = await self._asked(question)
            if not trouble:
                return
            if pause is None or not again:
                raise Unavailable(trouble)
            await asyncio.sleep(pause)

    async def _asked(self, question: Question) -> tuple[str, bool]:
        """What went wrong, if anything, and whether it is worth another try."""
        try:
            reply = await self._exchange.ask(question, seconds=_WEBHOOK_SECONDS, most_bytes=_MOST_ANSWER)
        except LanewayError as error:
            return str(error).replace(self._url, self._host), not isinstance(error, BadInput)
        if reply.status < 300:
            return "", False
        return f"{self._host} answered {reply.status}.", reply.status in (408, 425, 429) or reply.status >= 500


def ways_of(settings: Settings, wanted: Collection[str]) -> list[Way]:
    """Those of the wanted ways that need neither a terminal nor a server, where they are there."""
    found: list[Way] = []
    if "desktop" in wanted and (shown := desktop()) is not None:
        found.append(shown)
    if "webhook" in wanted and settings.notify_webhook is not None:
        found.append(Webhook(settings.notify_webhook.get_secret_value(), Allowed.of(settings.allowed_hosts)))
    return found


def as_json(notice: Notice) -> dict[str, str]:
    """The notice as programs see it; `text` is what chat services show."""
    return {
        "text": notice.line,
        "reason": notice.text,
        "severity": str(notice.severity),
        "reactor": notice.reactor,
        "provider": notice.provider,
        "session": notice.session_id,
        "folder": notice.folder,
        "at": notice.at.isoformat(),
        "id": notice.key,
    }
