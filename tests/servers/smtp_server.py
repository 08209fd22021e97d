"""A mail server on 127.0.0.1 that speaks SMTP, keeps what it is given, and misbehaves on order.

It speaks EHLO, AUTH PLAIN, MAIL, RCPT, DATA, RSET and QUIT; with a certificate it offers STARTTLS as well, or speaks
TLS from the first byte.
"""

from __future__ import annotations

import asyncio
import base64
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Mail:
    """One mail as it arrived: its envelope and its content."""

    sender: str
    to: tuple[str, ...]
    message: EmailMessage
    user: str | None
    encrypted: bool = False

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        return str(self.message.get_content()).strip()


@dataclass
class SmtpServer:
    """While entered, it listens at `url`; `mails` are those it has taken."""

    user: str | None = None
    password: str | None = None
    mails: list[Mail] = field(default_factory=list)
    orders: dict[str, list[str]] = field(default_factory=dict)
    """What to answer instead to a verb, once each: a line like `451 later`, or `hang up`."""
    conversations: int = 0
    port: int = 0
    name: str = "127.0.0.1"
    """What its address is called by those who connect."""
    context: ssl.SSLContext | None = None
    """With one it offers STARTTLS, or with `implicit` speaks nothing but TLS."""
    implicit: bool = False
    logins: list[tuple[str, bool]] = field(default_factory=list)
    """Who tried to log in, and whether that was encrypted."""

    @property
    def url(self) -> str:
        login = f"{self.user}:{self.password}@" if self.user else ""
        return f"{'smtps' if self.implicit else 'smtp'}://{login}{self.name}:{self.port}"

    def misbehave(self, verb: str, *answers: str) -> None:
        """The next times this verb comes, these are the answers; `hang up` closes the connection instead."""
        self.orders.setdefault(verb.upper(), []).extend(answers)

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="smtp", daemon=True)
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._talk, "127.0.0.1", 0, ssl=self.context if self.implicit else None)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async def close() -> None:
            self._server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.conversations += 1
        try:
            await _Conversation(self, reader, writer).hold()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            writer.close()


class _Conversation:
    def __init__(self, server: SmtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._user: str | None = None
        self._sender, self._to = "", list[str]()
        self._encrypted = server.implicit

    async def hold(self) -> None:
        await self._say("220 loopback")
        verbs: dict[str, Callable[[str], object]] = {
            "EHLO": self._ehlo, "AUTH": self._auth, "MAIL": self._mail, "RCPT": self._rcpt, "DATA": self._data,
            "RSET": self._rset, "STARTTLS": self._starttls,
        }  # fmt: skip
        while line := (await self._reader.readline()).decode().rstrip("\r\n"):
            verb, _, rest = line.partition(" ")
            verb = verb.upper()
            if verb == "QUIT":
                return await self._say("221 bye")
            if ordered := self._server.orders.get(verb):
                answer = ordered.pop(0)
                if answer == "hang up":
                    return None
                await self._say(answer)
                continue
            work = verbs.get(verb)
            done = work(rest) if work else self._say("502 unknown")
            if asyncio.iscoroutine(done) and await done is False:
                return None
        return None

    async def _say(self, line: str) -> None:
        self._writer.write(f"{line}\r\n".encode())
        await self._writer.drain()

    async def _ehlo(self, rest: str) -> None:
        tls = ["STARTTLS"] if self._server.context and not self._encrypted else []
        offers = ["loopback", "8BITMIME", *tls, *(["AUTH PLAIN"] if self._server.user else []), "SIZE 10000000"]
        for number, offer in enumerate(offers, 1):
            await self._say(f"250{' ' if number == len(offers) else '-'}{offer}")

    async def _starttls(self, rest: str) -> None:
        if self._server.context is None or self._encrypted:
            return await self._say("502 no")
        await self._say("220 go on")
        await self._writer.start_tls(self._server.context)
        self._encrypted = True
        return None

    async def _rset(self, rest: str) -> None:
        self._sender, self._to = "", []
        await self._say("250 ok")

    async def _auth(self, rest: str) -> None:
        _, user, password = base64.b64decode(rest.partition(" ")[2]).decode().split("\0")
        right = (user, password) == (self._server.user, self._server.password)
        self._user = user if right else None
        self._server.logins.append((user, self._encrypted))
        await self._say("235 welcome" if right else "535 wrong user or password")

    async def _mail(self, rest: str) -> None:
        if self._server.user and self._user is None:
            return await self._say("530 log in first")
        self._sender = _bracketed(rest)
        return await self._say("250 ok")

    async def _rcpt(self, rest: str) -> None:
        self._to.append(_bracketed(rest))
        await self._say("250 ok")

    async def _data(self, rest: str) -> bool | None:
        await self._say("354 go on")
        lines: list[bytes] = []
        while (line := await self._reader.readline()) not in (b".\r\n", b""):
            lines.append(line[1:] if line.startswith(b"..") else line)
        if ordered := self._server.orders.get("TAKEN"):
            answer = ordered.pop(0)
            if answer == "hang up":
                return False
            await self._say(answer)
            return None
        message = message_from_bytes(b"".join(lines), policy=policy.default)
        self._server.mails.append(Mail(self._sender, tuple(self._to), message, self._user, self._encrypted))
        await self._say("250 taken")
        return None


def _bracketed(rest: str) -> str:
    return rest.partition("<")[2].partition(">")[0]
