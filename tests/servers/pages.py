"""A web server on 127.0.0.1 that answers with what a test put under a path, and notes every request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from tests.servers.loopback import Loopback

Page = Response | Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class Visit:
    """One request as the server saw it."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Pages(Loopback):
    """While entered, the pages are served at `url`; `visits` tells who came."""

    pages: dict[str, Page] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)

    def __post_init__(self) -> None:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await self._answer(scope, receive, send)

        super().__init__(app, lifespan="off")

    def at(self, host: str, path: str = "/") -> str:
        """The address of a page under another name for this machine."""
        return f"http://{host}:{self.port}{path}"

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        self.pages[path] = RedirectResponse(to, status)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        body = await request.body()
        self.visits.append(Visit(request.method, request.url.path, request.url.query, dict(request.headers), body))
        page = self.pages.get(request.url.path, PlainTextResponse("There is no such page.", 404))
        response = page if isinstance(page, Response) else await page(request)
        await response(scope, receive, send)
