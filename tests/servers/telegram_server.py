"""The Bot API on 127.0.0.1, for the real aiogram client.

    with TelegramServer() as server:
        session = AiohttpSession(api=TelegramAPIServer.from_base(server.url))
        bot = Bot(server.token, session=session)
        server.world.chat(42)                                  # a chat the bot may write to
        server.orders.give("sendMessage", Flood(3), chat=42)   # the next one there is refused with 429
        ...
        assert server.world.shown(42)[0].text == "Hello"       # as the person sees it, entities beside it

`world` holds what the bot did and what it may reach; `orders` what goes wrong next (`orders.outage` until lifted);
`updates` makes what people send: put it in `world.updates` for getUpdates, or `push` it to a webhook. Every call stands
in `calls` with its parameters; the token stands nowhere.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from .loopback import Loopback, rest
from .telegram_chats import World
from .telegram_methods import METHODS
from .telegram_orders import Cut, Fail, Fine, Flood, Garbled, Order, Orders, Refused, Slow
from .telegram_updates import Updates, push

__all__ = ["Call", "Cut", "Fail", "Fine", "Flood", "Garbled", "Orders", "Slow", "TelegramServer", "Updates", "push"]

TOKEN = "7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
LONGEST_POLL = 50
BUSY = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
HOOKED = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


@dataclass(frozen=True)
class Call:
    """One request: the method as it was spelled, its parameters and when it came."""

    method: str
    params: dict[str, Any]
    at: float

    @property
    def chat(self) -> int | None:
        """The chat it named."""
        return _chat(self.params)


class TelegramServer(Loopback):
    """While entered, the Bot API answers at `url` to whoever has `token`."""

    def __init__(self) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._serve(scope, receive, send)

        super().__init__(app, lifespan="off")
        self.token, self.world, self.orders, self.calls = TOKEN, World(), Orders(), list[Call]()
        self.updates = Updates(self.world)
        self._poll = 0

    def called(self, method: str, chat: int | None = None) -> list[Call]:
        """The calls of this method (to this chat), in order."""
        return [call for call in self.calls if call.method == method and chat in (None, call.chat)]

    async def until(self, true: Callable[[], object], seconds: float = 30) -> None:
        """It has become true, or TimeoutError is raised."""
        async with asyncio.timeout(seconds):
            while not true():
                await asyncio.sleep(0.01)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request)
        if response is None:
            scope["state"]["hang_up"]()
            return
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response | None:
        path = request.url.path
        if path.startswith("/file/"):
            return self._download(path)
        head, _, method = path.removeprefix("/bot").partition("/")
        if not path.startswith("/bot") or ":" not in head:
            return _told(Refused(404, "Not Found"))
        params = await _params(request)
        if head != self.token:
            return _told(Refused(401, "Unauthorized"))
        order = self.orders.next(method, _chat(params))
        self.calls.append(Call(method, params, time.monotonic()))
        return await self._follow(order, method, params, request.receive)

    async def _follow(self, order: Order, method: str, params: dict[str, Any], receive: Receive) -> Response | None:
        if isinstance(order, Flood):
            return _told(order.refusal())
        if isinstance(order, Fail):
            page = Response("<html><h1>502 Bad Gateway</h1>nginx</html>", order.status, media_type="text/html")
            return page if order.page else _told(Refused(order.status, order.description))
        if isinstance(order, Cut) and not order.taken:
            return None
        answer = await self._carry_out(method, params)
        if isinstance(order, Cut):
            return None
        if isinstance(order, Garbled):
            return Response('{"ok":true,"result":{"messa', media_type="application/json")
        if isinstance(order, Slow):
            await rest(order.seconds, receive)
        return answer

    async def _carry_out(self, method: str, params: dict[str, Any]) -> Response:
        try:
            if method.lower() == "getupdates":
                return JSONResponse({"ok": True, "result": await self._get_updates(params)})
            if method.lower() not in METHODS:
                raise Refused(404, "Not Found: method not found")
            return JSONResponse({"ok": True, "result": METHODS[method.lower()](self.world, params)})
        except Refused as refusal:
            return _told(refusal)

    async def _get_updates(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        """Waits for updates; what is below the offset is forgotten, and another poller ends this one."""
        if self.world.webhook:
            raise Refused(409, HOOKED)
        self._poll += 1
        mine, offset = self._poll, int(params.get("offset") or 0)
        until = time.monotonic() + min(int(params.get("timeout") or 0), LONGEST_POLL)
        # One by one: a test may add another meanwhile, from its own thread, which must not be lost.
        for update in [u for u in self.world.updates if u["update_id"] < offset]:
            self.world.updates.remove(update)
        while not self.world.updates and time.monotonic() < until:
            await asyncio.sleep(0.01)
            if self._poll != mine:
                raise Refused(409, BUSY)
        return sorted(self.world.updates, key=lambda update: int(update["update_id"]))[:100]

    def _download(self, path: str) -> Response:
        token, _, place = path.removeprefix("/file/bot").partition("/")
        file_id = place.rpartition("/")[2].removesuffix(".oga")
        if token != self.token or file_id not in self.world.files:
            return _told(Refused(404, "Not Found"))
        order = self.orders.next("file", None)
        self.calls.append(Call("file", {"path": place}, time.monotonic()))
        if isinstance(order, Fail):
            return Response("", order.status)
        return Response(self.world.files[file_id], media_type="application/octet-stream")


def _told(refusal: Refused) -> Response:
    return JSONResponse(refusal.body(), refusal.code)


def _chat(params: dict[str, Any]) -> int | None:
    try:
        return int(params["chat_id"])
    except (KeyError, ValueError):
        return None


async def _params(request: Request) -> dict[str, Any]:
    params: dict[str, Any] = dict(request.query_params)
    if request.headers.get("content-type", "").startswith(("multipart/", "application/x-www-form-urlencoded")):
        async with request.form() as form:
            params |= dict(form.items())
    return params
