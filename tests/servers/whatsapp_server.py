"""The Graph API for one WhatsApp number, on 127.0.0.1.

It takes what the real one takes, refuses what the real one refuses with the real bodies, and misbehaves on order:
`server.orders.append(Fail(THROUGHPUT))`, `Cut()` (takes the message and drops the connection), `Cut(taken=False)`,
`Slow(2)`, `Plain(502)`. What it took stands in `sent`, read receipts in `read`, everything in `requests`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from tests.servers import whatsapp_errors as errors
from tests.servers.loopback import Loopback, rest
from tests.servers.whatsapp_errors import Refusal
from tests.servers.whatsapp_rules import USER_ID, complaint
from tests.servers.whatsapp_webhooks import Webhooks

Json = dict[str, Any]
VERSION = "v23.0"
TOKEN, SECRET, VERIFY, NUMBER_ID = (
    "EAAtesttoken0123456789",
    "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "verify-me",
    "106540352242922",
)


@dataclass(frozen=True)
class Fail:
    """The next message is refused with this error."""

    refusal: Refusal


@dataclass(frozen=True)
class Plain:
    """The next message is answered with a bare status, as a gateway in between does."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """The connection drops without an answer; the message was taken, or not."""

    taken: bool = True


@dataclass(frozen=True)
class Slow:
    """The next message is taken, and answered late, if the client still waits."""

    seconds: float


Order = Fail | Plain | Cut | Slow


@dataclass(frozen=True)
class Sent:
    """A message the server took."""

    id: str
    to: str
    body: Json
    at: float

    @property
    def text(self) -> str:
        """What the person reads."""
        match self.body.get("type"):
            case "interactive":
                return str(self.body["interactive"]["body"]["text"])
            case "template":
                parameters = self.body["template"]["components"][0]["parameters"]
                return " ".join(str(one["text"]) for one in parameters)
            case "text":
                return str(self.body["text"]["body"])
        return ""

    @property
    def buttons(self) -> list[tuple[str, str]]:
        """Titles and data of what can be pressed, be it buttons or rows."""
        action = self.body.get("interactive", {}).get("action", {})
        rows = [row for section in action.get("sections", []) for row in section["rows"]]
        return [(one["title"], one["id"]) for one in ([b["reply"] for b in action.get("buttons", [])] or rows)]


@dataclass
class Media:
    """A file that lies with Meta."""

    content: bytes
    mime: str
    url_key: str = ""
    url_until: float = 0.0


class WhatsAppServer(Loopback):
    """While entered, the number answers at `api`; every person is known and every window open unless said otherwise."""

    def __init__(self) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._serve(scope, receive, send)

        super().__init__(app, lifespan="off")
        self.hooks = Webhooks(NUMBER_ID, SECRET)
        self.orders: deque[Order] = deque()
        self.sent: list[Sent] = []
        self.read: list[Json] = []
        self.requests: list[tuple[str, str]] = []
        self.templates: dict[str, int] = {}
        self.media: dict[str, Media] = {}
        self.shut: set[str] = set()
        """Whose 24 hours have passed."""
        self.late_refusals = False
        """Whether a shut window and an unknown id are told by a status only, as Meta mostly does."""
        self.late: list[Json] = []
        self.url_seconds = 300.0
        self.subscribed = True
        self.down = False

    @property
    def api(self) -> str:
        return f"{self.url}/{VERSION}"

    def add_media(self, content: bytes, mime: str) -> str:
        """The file lies with Meta; returns the media id a webhook names."""
        media_id = str(10**15 + secrets.randbelow(10**14))
        self.media[media_id] = Media(content, mime)
        return media_id

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.requests.append((request.method, request.url.path))
        answer = await self._answer(request)
        if answer is None:
            scope["state"]["hang_up"]()
            return
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        if self.down:
            return Response("upstream connect error", 503)
        path = request.url.path.strip("/").split("/")
        if path[0] == "media-content":
            return self._content(request, path[-1])
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return _refused(errors.BAD_TOKEN)
        if path[0] != VERSION or len(path) < 2:
            return _refused(errors.parameter("Unknown path components"))
        return await self._routed(request, path[1], path[2] if len(path) > 2 else "")

    async def _routed(self, request: Request, name: str, edge: str) -> Response | None:
        if request.method == "GET" and not edge and name in self.media:
            return self._lookup(name)
        if name != NUMBER_ID and (name, edge) != ("102290129340398", "subscribed_apps"):
            return _refused(errors.unknown_object(name, request.method.lower()))
        match request.method, edge:
            case "POST", "messages":
                return await self._message(await request.json(), request.receive)
            case "POST", "media":
                return await self._upload(request)
            case "GET", "":
                return JSONResponse(self._number())
            case "GET", "subscribed_apps":
                apps = [{"whatsapp_business_api_data": {"id": "1", "name": "Desk"}}] if self.subscribed else []
                return JSONResponse({"data": apps})
        return _refused(errors.parameter("Unknown path components"))

    def _number(self) -> Json:
        hook = {"application": "https://desk.example/whatsapp/webhook"} if self.subscribed else {}
        return {
            "id": NUMBER_ID, "display_phone_number": "+1 555-078-3881", "verified_name": "Desk",
            "quality_rating": "GREEN", "platform_type": "CLOUD_API", "webhook_configuration": hook,
        }  # fmt: skip

    async def _message(self, message: Json, receive: Receive) -> Response | None:
        if message.get("status") == "read":
            self.read.append(message)
            return JSONResponse({"success": True})
        order = self.orders.popleft() if self.orders else None
        match order:
            case Fail():
                return _refused(order.refusal)
            case Plain():
                return Response("<html>Bad Gateway</html>", order.status, order.headers)
            case Cut(taken=False):
                return None
        refusal = self._refusal_of(_person(message), message)
        if refused := complaint(message, self.templates) or (None if self.late_refusals else refusal):
            return _refused(refused)
        taken = self._take(message, refusal)
        if isinstance(order, Slow):
            await rest(order.seconds, receive)
        if isinstance(order, Cut):
            return None
        given = {key: message[key] for key in ("to", "recipient") if key in message}
        contact = {"input": next(iter(given.values())), "wa_id": taken.to}
        return JSONResponse({"messaging_product": "whatsapp", "contacts": [contact], "messages": [{"id": taken.id}]})

    def _refusal_of(self, person: str, message: Json) -> Refusal | None:
        """What Meta refuses because of whom it is for."""
        if not person:
            return errors.UNDELIVERABLE
        return errors.WINDOW_SHUT if person in self.shut and message.get("type") != "template" else None

    def _take(self, message: Json, refusal: Refusal | None) -> Sent:
        person = _person(message)
        taken = Sent(f"wamid.out{secrets.token_hex(12)}", person, message, time.time())
        self.sent.append(taken)
        if refusal is not None:
            self.late.append(self.hooks.status(taken.id, "failed", errors=[refusal.as_status()]))
        return taken

    async def _upload(self, request: Request) -> Response:
        form = await request.form()
        file = form.get("file")
        if form.get("messaging_product") != "whatsapp" or file is None or isinstance(file, str):
            return _refused(errors.parameter("The parameter file is required."))
        return JSONResponse({"id": self.add_media(await file.read(), str(form.get("type", "")))})

    def _lookup(self, media_id: str) -> Response:
        media = self.media[media_id]
        media.url_key, media.url_until = secrets.token_urlsafe(12), time.monotonic() + self.url_seconds
        return JSONResponse(
            {
                "messaging_product": "whatsapp", "url": f"{self.url}/media-content/{media_id}/{media.url_key}",
                "mime_type": media.mime, "sha256": hashlib.sha256(media.content).hexdigest(),
                "file_size": len(media.content), "id": media_id,
            }
        )  # fmt: skip

    def _content(self, request: Request, key: str) -> Response:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return Response("", 401)
        found = [one for one in self.media.values() if one.url_key == key and time.monotonic() < one.url_until]
        return Response(found[0].content, media_type=found[0].mime) if found else Response("URL expired", 404)


def _person(message: Json) -> str:
    """Whom a message reaches: an id in `to` is taken and reaches nobody."""
    if to := str(message.get("to", "")):
        return "" if USER_ID.fullmatch(to) else to.lstrip("+")
    return str(message.get("recipient", ""))


def _refused(refusal: Refusal) -> Response:
    headers = {"content-type": "application/json; charset=UTF-8", **refusal.headers}
    return Response(json.dumps(refusal.body()), refusal.status, headers)
