"""Speaks to a bridge over HTTP, with its key, and to nobody else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from laneway.channels.waha import faults, ids
from laneway.channels.waha.media import path_of
from laneway.errors import LanewayError, ModelFault, PermanentFault, TooLarge, TransientFault, UncertainFault

WORKING = "WORKING"
SHORTLY, USUALLY, SENDING = 3.0, 20.0, 60.0
"""Seconds: what is only nice to know, what is needed, and what may take WhatsApp itself a while."""

PAGE = 100


@dataclass(frozen=True, slots=True)
class Session:
    """How the bridge's session is: its status, and who we are there."""

    name: str
    status: str
    me: Any = None

    @property
    def works(self) -> bool:
        return self.status == WORKING


class Bridge:
    """One session of one bridge."""

    def __init__(self, url: str, key: str, session: str) -> None:
        self.url, self.session = url.rstrip("/"), session
        # Redirects are not followed: they would carry the key to wherever somebody else says.
        self._http = httpx.AsyncClient(
            base_url=self.url, headers={"X-Api-Key": key} if key else {}, timeout=USUALLY, follow_redirects=False,
            trust_env=False,
        )  # fmt: skip

    async def close(self) -> None:
        await self._http.aclose()

    async def status(self) -> Session:
        """How the session is now; TransientFault if the bridge does not answer or does not know it."""
        body = await self._get(f"/api/sessions/{_safe(self.session)}")
        if not isinstance(body, dict) or not isinstance(body.get("status"), str):
            raise TransientFault("What answers at WAHA_URL is no WAHA.", hint="Correct the address.")
        return Session(self.session, body["status"], body.get("me"))

    async def version(self) -> str:
        body = await self._get("/api/version")
        return str(body.get("version", "?"))[:40] if isinstance(body, dict) else "?"

    async def webhooks(self) -> list[dict[str, Any]]:
        """Where the session tells of its events, as far as it was given with the session itself."""
        body = await self._get(f"/api/sessions/{_safe(self.session)}")
        config = body.get("config") if isinstance(body, dict) else None
        hooks = config.get("webhooks") if isinstance(config, dict) else None
        return [hook for hook in hooks or [] if isinstance(hook, dict)]

    async def send_text(self, chat: str, text: str, reply_to: str | None = None) -> dict[str, Any]:
        """WhatsApp has the text; the receipt has the message's id, if the bridge told it."""
        body: dict[str, Any] = {"session": self.session, "chatId": chat, "text": text, "linkPreview": False}
        answer = await self._post("/api/sendText", body | ({"reply_to": reply_to} if reply_to else {}), SENDING)
        full = _sent_id(answer)
        return {"id": ids.message_key(full, chat), "waha_id": full, "chat": chat} if full else {"chat": chat}

    async def seen(self, chat: str, message_id: str | None, participant: str | None) -> None:
        """The sender sees that the message was read."""
        given = {"messageId": message_id, "participant": participant}
        body = {"session": self.session, "chatId": chat} | {name: value for name, value in given.items() if value}
        await self._post("/api/sendSeen", body, SHORTLY)

    async def typing(self, chat: str, on: bool) -> None:
        """The chat shows, or no longer shows, that we are typing."""
        verb = "startTyping" if on else "stopTyping"
        await self._post(f"/api/{verb}", {"session": self.session, "chatId": chat}, SHORTLY)

    async def phone_of(self, lid: str) -> str | None:
        """The number of a hidden id; None if the bridge does not know it, or fails to look."""
        try:
            body = await self._get(f"/api/{_safe(self.session)}/lids/{_safe(lid)}", seconds=SHORTLY)
        except ModelFault:
            return None
        found = ids.chat(body.get("pn")) if isinstance(body, dict) else ""
        return found if ids.kind(found) is ids.Kind.PERSON else None

    async def chats(self, offset: int) -> list[dict[str, Any]]:
        """A page of chats with their last messages, the newest first."""
        query = {"limit": PAGE, "offset": offset}
        return _listed(await self._get(f"/api/{_safe(self.session)}/chats/overview", query))

    async def messages(self, chat: str, since: int, offset: int) -> list[dict[str, Any]]:
        """A page of messages that others wrote in a chat from a moment on."""
        query = {
            "limit": PAGE, "offset": offset, "downloadMedia": "true", "filter.fromMe": "false",
            "filter.timestamp.gte": since,
        }  # fmt: skip
        place = f"/api/{_safe(self.session)}/chats/{_safe(chat)}/messages"
        return _listed(await self._get(place, query, SENDING))

    async def file(self, path: str, most: int) -> bytes:
        """The content of a file of the bridge, at most `most` bytes of it."""
        if path_of(path) != path:
            raise PermanentFault("This is no file of the bridge.")
        content = bytearray()
        try:
            async with self._http.stream("GET", path, timeout=SENDING) as answer:
                if answer.status_code == 404:
                    raise PermanentFault("The bridge no longer has this file.")
                if not answer.is_success:
                    await answer.aread()
                    raise _certain(faults.refused(answer))
                async for chunk in answer.aiter_bytes():
                    content += chunk
                    if len(content) > most:
                        raise TooLarge(f"The file is larger than {most} bytes.", hint="Send a smaller one.")
        except httpx.TransportError as error:
            raise _certain(faults.unreachable(error)) from error
        return bytes(content)

    async def _get(self, path: str, query: dict[str, Any] | None = None, seconds: float = USUALLY) -> Any:
        try:
            answer = await self._http.get(path, params=query, timeout=seconds)
        except httpx.TransportError as error:
            raise _certain(faults.unreachable(error)) from error
        if not answer.is_success:
            raise _certain(faults.refused(answer))
        return _parsed(answer)

    async def _post(self, path: str, body: dict[str, Any], seconds: float) -> Any:
        try:
            answer = await self._http.post(path, json=body, timeout=httpx.Timeout(seconds, connect=10))
        except httpx.TransportError as error:
            raise faults.unreachable(error) from error
        if not answer.is_success:
            raise faults.refused(answer)
        return _parsed(answer)


def _safe(name: str) -> str:
    return quote(name, safe="")


def _certain(error: LanewayError) -> LanewayError:
    """Asking changes nothing: what failed may be asked again."""
    return TransientFault(error.message, hint=error.hint) if isinstance(error, UncertainFault) else error


def _parsed(answer: httpx.Response) -> Any:
    # Some versions answer a success with no body at all.
    try:
        return answer.json() if answer.content else None
    except ValueError:
        return None


def _listed(body: Any) -> list[dict[str, Any]]:
    return [one for one in body if isinstance(one, dict)] if isinstance(body, list) else []


def _sent_id(body: Any) -> str:
    """The id of the message that was sent: engines write it as `id`, `id._serialized` or `key`."""
    if not isinstance(body, dict):
        return ""
    found, key = body.get("id"), body.get("key")
    if isinstance(found, dict):
        found = found.get("_serialized")
    if not isinstance(found, str) and isinstance(key, dict) and isinstance(key.get("id"), str):
        found = f"true_{ids.chat(key.get('remoteJid')) or 'chat@c.us'}_{key['id']}"
    return found[:250] if isinstance(found, str) else ""
