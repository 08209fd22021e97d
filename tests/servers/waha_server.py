"""A WAHA bridge on 127.0.0.1: sessions, sending, hidden ids, history, files, and webhooks signed as the real one does.

    with WahaServer(api_key="k", hmac_key="h") as bridge:
        bridge.hook = "http://127.0.0.1:8000/waha/webhook"
        said = bridge.account.message("4915112345678@c.us", "When are you open?")
        await bridge.push(bridge.account.event(said))
        assert bridge.texts("4915112345678@c.us") == ["From 9 to 5."]

What it refuses and how follows the real one: 401 without the key, 422 with the session's status while it is not
WORKING, 404 for a session it does not have, 400 with a list of complaints, 500 with the engine's exception. It
misbehaves on order: `bridge.orders["sendText"].append(Cut())`.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .loopback import Loopback
from .waha_people import Account, Json, message_hash


@dataclass(frozen=True)
class Fail:
    """The request is answered with an error and nothing is done."""

    status: int
    body: Json | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """The connection is dropped: after what was asked for has been done, or before."""

    accepted: bool = True


@dataclass(frozen=True)
class Slow:
    """It is done, and answered after some seconds."""

    seconds: float


@dataclass(frozen=True)
class Bare:
    """It is done, and answered without a body, as some versions do."""


Order = Fail | Cut | Slow | Bare


@dataclass(frozen=True)
class Asked:
    """One request as the bridge saw it."""

    method: str
    path: str
    key: str
    body: Json


@dataclass
class WahaServer(Loopback):
    """While entered, the bridge answers at `url`."""

    api_key: str = "the-api-key"
    hmac_key: str = "the-hmac-key"
    session: str = "default"
    status: str = "WORKING"
    engine: Literal["WEBJS", "NOWEB", "GOWS"] = "WEBJS"
    hook: str = ""
    account: Account = field(default_factory=Account)
    orders: dict[str, deque[Order]] = field(default_factory=lambda: defaultdict(deque))
    sent: list[Json] = field(default_factory=list)
    """Every text that WhatsApp has, with `at`, the moment."""
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._api = Starlette(routes=[
            Route("/api/version", self._version),
            Route("/api/sessions/{session}", self._session),
            Route("/api/{verb:str}", self._post, methods=["POST"]),
            Route("/api/{session}/lids/{lid}", self._lid),
            Route("/api/{session}/chats/overview", self._overview),
            Route("/api/{session}/chats/{chat}/messages", self._messages),
            Route("/api/files/{path:path}", self._file),
        ])  # fmt: skip

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._answer(scope, receive, send)

        super().__init__(app, lifespan="off")

    # What a test looks at and does.

    def texts(self, chat: str) -> list[str]:
        """What was sent to a chat, in order."""
        return [one["text"] for one in self.sent if one["chatId"] == chat]

    async def until(self, count: int, seconds: float = 20) -> list[Json]:
        """What was sent, once there is so much of it."""
        async with asyncio.timeout(seconds):
            while len(self.sent) < count:
                await asyncio.sleep(0.02)
        return self.sent

    def signed(self, body: bytes, key: str | None = None) -> dict[str, str]:
        """The headers the bridge sends with a body."""
        found = hmac.new((key or self.hmac_key).encode(), body, hashlib.sha512).hexdigest()
        return {
            "Content-Type": "application/json",
            "User-Agent": "WAHA/2026.8.1",
            "X-Webhook-Request-Id": secrets.token_hex(13).upper(),
            "X-Webhook-Timestamp": str(int(time.time() * 1000)),
            "X-Webhook-Hmac": found,
            "X-Webhook-Hmac-Algorithm": "sha512",
        }

    async def push(self, event: Json, *, key: str | None = None, headers: dict[str, str] | None = None) -> int:
        """The status with which the webhook was answered; `key` signs it with another one."""
        body = json.dumps(event).encode()
        async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
            answer = await client.post(self.hook, content=body, headers=self.signed(body, key) | (headers or {}))
        return answer.status_code

    # The way of a request.

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        name = request.url.path.removeprefix("/api/")
        self.asked.append(Asked(request.method, request.url.path, request.headers.get("x-api-key", ""), _json(body)))

        async def again() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        if self.asked[-1].key != self.api_key:
            refused = JSONResponse({"message": "Unauthorized", "statusCode": 401}, 401)
            return await refused(scope, again, send)
        with self._lock:
            order = self.orders[name].popleft() if self.orders[name] else None
        if isinstance(order, Fail):
            return await JSONResponse(order.body or {}, order.status, order.headers)(scope, again, send)
        if order == Cut(accepted=False):
            scope["state"]["hang_up"]()
            return None
        if order is None:
            return await self._api(scope, again, send)
        answer = _Held()
        await self._api(scope, again, answer)
        if isinstance(order, Cut):
            scope["state"]["hang_up"]()
            return None
        if isinstance(order, Bare):
            return await Response(status_code=answer.status)(scope, again, send)
        await asyncio.sleep(order.seconds)
        return await Response(bytes(answer.body), answer.status, {"content-type": "application/json"})(
            scope, again, send
        )

    # What it can do.

    async def _version(self, request: Request) -> Response:
        return JSONResponse({"version": "2026.8.1", "engine": self.engine, "tier": "CORE", "browser": None})

    async def _session(self, request: Request) -> Response:
        if request.path_params["session"] != self.session:
            return JSONResponse({"statusCode": 404, "message": "Session not found", "error": "Not Found"}, 404)
        me = self.account.me if self.status == "WORKING" else None
        hooks = (
            [{"url": self.hook, "events": ["message", "session.status"], "hmac": {"key": "***"}}] if self.hook else []
        )
        config = {"webhooks": hooks}
        return JSONResponse({"name": self.session, "status": self.status, "config": config, "me": me})

    async def _post(self, request: Request) -> Response:
        verb, body = request.path_params["verb"], _json(await request.body())
        if verb not in ("sendText", "sendSeen", "startTyping", "stopTyping"):
            return JSONResponse({"statusCode": 404, "message": f"Cannot POST /api/{verb}", "error": "Not Found"}, 404)
        if refused := self._refusal(verb, body):
            return refused
        return self._send(body) if verb == "sendText" else Response(status_code=201)

    def _refusal(self, verb: str, body: Json) -> Response | None:
        chat = body.get("chatId")
        wrong = [f"{name} must be a string" for name in ("chatId", "session") if not isinstance(body.get(name), str)]
        if verb == "sendText" and not isinstance(body.get("text"), str):
            wrong.append("text must be a string")
        if wrong:
            return JSONResponse({"statusCode": 400, "message": wrong, "error": "Bad Request"}, 400)
        if refused := self._not_working(body["session"]):
            return refused
        digits, _, realm = str(chat).partition("@")
        misnamed = realm == "c.us" and f"{digits}@lid" in self.account.lids
        misnamed = misnamed or (realm == "lid" and f"{digits}@c.us" in self.account.lids.values())
        if verb == "sendText" and (misnamed or realm not in ("c.us", "lid", "g.us")):
            return self._exception(f"no LID found for {chat} from server", body)
        return None

    def _not_working(self, session: str) -> Response | None:
        """The refusal of everything that needs a session which works, if this one is none."""
        if session != self.session:
            message = f'Session "{session}" does not exist'
            return JSONResponse({"statusCode": 404, "message": message, "error": "Not Found"}, 404)
        if self.status == "WORKING":
            return None
        error = "Session status is not as expected. Try again later or restart the session"
        told = {"error": error, "session": self.session, "status": self.status, "expected": ["WORKING"]}
        return JSONResponse(told, 422)

    def _exception(self, message: str, body: Json) -> Response:
        told = {"message": f"2 UNKNOWN: {message}", "code": 2, "details": message, "name": "Error"}
        request = {"path": "/api/sendText", "method": "POST", "body": body, "query": {}}
        return JSONResponse({"statusCode": 500, "timestamp": "now", "exception": told, "request": request}, 500)

    def _send(self, body: Json) -> Response:
        made = self.account.sent(body["chatId"], body["text"], message_hash())
        with self._lock:
            self.sent.append({**body, "id": made["id"], "at": time.time()})
        if self.engine == "GOWS":
            return JSONResponse({**made, "_data": {}}, 201)
        hash_ = made["id"].rpartition("_")[2]
        if self.engine == "NOWEB":
            key = {"remoteJid": body["chatId"].replace("@c.us", "@s.whatsapp.net"), "fromMe": True, "id": hash_}
            return JSONResponse({"key": key, "message": {}, "messageTimestamp": "1", "status": "PENDING"}, 201)
        parts = {"fromMe": True, "remote": body["chatId"], "id": hash_, "_serialized": made["id"]}
        return JSONResponse({"_data": {}, "id": parts, "ack": 0, "body": body["text"], "fromMe": True}, 201)

    async def _lid(self, request: Request) -> Response:
        if refused := self._not_working(request.path_params["session"]):
            return refused
        lid = request.path_params["lid"].partition("@")[0] + "@lid"
        return JSONResponse({"lid": lid, "pn": self.account.lids.get(lid)})

    async def _overview(self, request: Request) -> Response:
        if refused := self._not_working(request.path_params["session"]):
            return refused
        newest = sorted(self.account.chats.items(), key=lambda one: -one[1][-1]["timestamp"])
        found = [{"id": chat, "name": None, "picture": None, "lastMessage": all_[-1]} for chat, all_ in newest]
        return JSONResponse(_page(found, request))

    async def _messages(self, request: Request) -> Response:
        if refused := self._not_working(request.path_params["session"]):
            return refused
        query = request.query_params
        since, mine = int(query.get("filter.timestamp.gte", 0)), query.get("filter.fromMe")
        found = [
            one for one in reversed(self.account.chats.get(request.path_params["chat"], []))
            if one["timestamp"] >= since and (mine is None or str(one["fromMe"]).lower() == mine)
        ]  # fmt: skip
        return JSONResponse(_page(found, request))

    async def _file(self, request: Request) -> Response:
        found = self.account.files.get(request.url.path)
        if found is None:
            return JSONResponse({"statusCode": 404, "message": "File not found", "error": "Not Found"}, 404)
        return Response(found[1], media_type=found[0])


@dataclass
class _Held:
    """An answer that is not sent yet."""

    status: int = 200
    body: bytearray = field(default_factory=bytearray)

    async def __call__(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self.body += message.get("body", b"")


def _page(found: list[Json], request: Request) -> list[Json]:
    limit, offset = int(request.query_params.get("limit", 20)), int(request.query_params.get("offset", 0))
    return found[offset : offset + limit]


def _json(body: bytes) -> Json:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
