"""The Graph API as far as WhatsApp needs it; the token stands in a header only and in no message of ours."""

from __future__ import annotations

import hashlib
from typing import Any
from urllib.parse import urlsplit

import httpx

from laneway.channels.whatsapp_cloud.faults import of_response, of_transport
from laneway.channels.whatsapp_cloud.fields import each, text
from laneway.errors import ModelFault, PermanentFault, TooLarge, TransientFault, UncertainFault

Json = dict[str, Any]
SECONDS = 20.0
MEDIA_HOSTS = (".facebook.com", ".fbsbx.com", ".fbcdn.net", ".whatsapp.net")
"""Where Meta keeps files; nobody else is shown the token."""

_LONGEST_ANSWER = 1_048_576


class Graph:
    """One number's door to the Graph API."""

    def __init__(self, url: str, token: str, number_id: str, *, seconds: float = SECONDS) -> None:
        self.number_id, self._url = number_id, url.rstrip("/")
        self._bearer = {"Authorization": f"Bearer {token}"}
        self._http = httpx.AsyncClient(timeout=httpx.Timeout(seconds, connect=10), follow_redirects=False)

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, message: Json) -> str:
        """WhatsApp has taken the message; returns its id."""
        answer = await self._ask("POST", f"{self.number_id}/messages", json=message)
        sent = each(answer, "messages")
        wamid = text(sent[0], "id", 200) if sent else ""
        if not wamid:
            raise UncertainFault("WhatsApp took the message without naming it.")
        return wamid

    async def post(self, body: Json) -> None:
        """WhatsApp has taken a word that gets no id, like a read receipt."""
        await self._ask("POST", f"{self.number_id}/messages", json=body)

    async def look(self, what: str, **fields: str) -> Json:
        """What the API says of one of its objects."""
        try:
            return await self._ask("GET", what, params=fields)
        except UncertainFault as fault:
            # Asking changes nothing, so it can be asked again.
            raise TransientFault(fault.message) from fault

    async def upload(self, name: str, mime: str, content: bytes) -> str:
        """The file lies with WhatsApp for 30 days; returns its media id."""
        form, file = {"messaging_product": "whatsapp", "type": mime}, {"file": (name, content, mime)}
        try:
            answer = await self._ask("POST", f"{self.number_id}/media", data=form, files=file)
        except UncertainFault as fault:
            # Nobody sees an upload, so it can be repeated.
            raise TransientFault(fault.message) from fault
        media_id = text(answer, "id", 200)
        if not media_id:
            raise TransientFault("WhatsApp took the file without naming it.")
        return media_id

    async def download(self, media_id: str, most: int) -> bytes:
        """The content of a file, whole and unchanged; its address lives for minutes and is asked for each time."""
        found = await self.look(_safe(media_id), phone_number_id=self.number_id)
        size = text(found, "file_size", 20)
        if size.isdecimal() and int(size) > most:
            raise _too_large(int(size), most)
        url = text(found, "url", 4000)
        if not self._is_theirs(url):
            raise PermanentFault("WhatsApp names an address for the file that is not Meta's.")
        content = await self._content(url, most)
        expected = text(found, "sha256", 64).lower()
        if len(expected) == 64 and hashlib.sha256(content).hexdigest() != expected:
            raise TransientFault("The file did not arrive whole.")
        return content

    async def _content(self, url: str, most: int) -> bytes:
        taken = bytearray()
        try:
            async with self._http.stream("GET", url, headers=self._bearer) as response:
                if response.status_code in (401, 403, 404, 410):
                    raise TransientFault("The address of the file is no longer valid.")
                if response.status_code != 200:
                    await response.aread()
                    raise _certain(of_response(response))
                async for chunk in response.aiter_bytes():
                    taken += chunk
                    if len(taken) > most:
                        raise _too_large(len(taken), most)
        except httpx.TransportError as error:
            raise _certain(of_transport(error)) from error
        return bytes(taken)

    def _is_theirs(self, url: str) -> bool:
        parts, own = urlsplit(url), urlsplit(self._url)
        if (parts.scheme, parts.netloc) == (own.scheme, own.netloc):
            return True
        return parts.scheme == "https" and (parts.hostname or "").endswith(MEDIA_HOSTS)

    async def _ask(self, method: str, path: str, **request: Any) -> Json:
        try:
            response = await self._http.request(method, f"{self._url}/{path}", headers=self._bearer, **request)
        except httpx.TransportError as error:
            raise of_transport(error) from error
        if response.status_code != 200:
            raise of_response(response)
        try:
            answer = response.json() if len(response.content) <= _LONGEST_ANSWER else None
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise UncertainFault("WhatsApp answers something that is not JSON.")
        return answer


def _certain(fault: ModelFault) -> ModelFault:
    """A download that failed can simply be tried again."""
    return TransientFault(fault.message) if isinstance(fault, UncertainFault) else fault


def _safe(media_id: str) -> str:
    if not (media_id.isascii() and media_id.replace("-", "").replace("_", "").isalnum()):
        raise PermanentFault("The id of the file is none.")
    return media_id


def _too_large(size: int, most: int) -> TooLarge:
    return TooLarge(f"The file has at least {size} bytes; at most {most} are taken.", hint="Send a smaller file.")
