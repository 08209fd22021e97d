"""No key, no entry: every request but those for life and readiness must bring a key that may.

The owner's key opens everything. Others' open only those routes that say so with `open_to`.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from laneway.domain.conversation import Principal, Role
from laneway.errors import Forbidden, TooMany, Unauthorized
from laneway.store import principals
from laneway.store.database import Database
from laneway.web.limits import TABLE_DOORS

PUBLIC = frozenset({"/health", "/ready", "/telegram/webhook", "/whatsapp/webhook", "/waha/webhook"})
"""Paths without a key: those for life and readiness, and webhooks, which look for themselves who posts."""

SIGNED = "/workflow-hooks/"
"""Below it nobody needs a key either: each address has a secret of its own, by which deliveries are signed."""

HOOKS = frozenset({"/hooks/claude-code", "/hooks/codex", "/hooks/gemini"})
"""Paths that another key opens, too, and nothing else: `hook_keys.py` looks at it."""

REMEMBERED_SECONDS = 5.0
"""How long a key that was good stays good without asking the database; so long can a replaced one still open."""

MOST_REMEMBERED = 64
LONGEST_KEY = 200
BAD_KEYS = 30
"""So many keys that open nothing are told so in a minute for one address; then it hears when to try again."""
MOST_COUNTED = 10_000
ROLES = "x-roles"
"""The key in the API's description under which a route names the roles that may use it beside the owner."""


def open_to(*roles: Role) -> dict[str, Any]:
    """For `openapi_extra` of a route: these roles may use it, too. Without it only the owner may."""
    return {ROLES: [str(role) for role in roles]}


class Keys:
    """Knows whose a key is; of the keys themselves only hashes are kept, and none is ever logged."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._known: dict[str, tuple[float, Principal]] = {}

    async def principal(self, key: str) -> Principal | None:
        """The principal of the key, if it is anybody's."""
        # Looked up by the hash of a random key: how long it takes tells nothing about any key.
        name = principals.hashed(key)
        until, known = self._known.get(name, (0.0, None))
        if known is not None and time.monotonic() < until:
            return known
        async with self._db.transaction() as tx:
            found = await principals.by_key(tx, key)
        if found is None:
            self._known.pop(name, None)
            return None
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        self._known[name] = (time.monotonic() + REMEMBERED_SECONDS, found)
        return found


class RateLimit:
    """So many a minute for each; counted in this process."""

    def __init__(self, most: int, what: str) -> None:
        self._most, self._what = most, what
        self._counted: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, who: str) -> None:
        """Returns only if there may be one more; else TooMany."""
        times, now = self._counted.get(who, deque[float]()), time.monotonic()
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) >= self._most:
            wait = times[0] + 60 - now
            raise TooMany(f"{self._what} within a minute.", hint=f"Wait {wait:.0f} s.", retry_after=wait)

    def count(self, who: str) -> None:
        """There was one more."""
        self._counted.setdefault(who, deque(maxlen=self._most)).append(time.monotonic())
        self._counted.move_to_end(who)
        if len(self._counted) > MOST_COUNTED:
            self._counted.popitem(last=False)


class Access:
    """Which roles may use which route beside the owner, as the API's description says it."""

    def __init__(self, paths: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        self._routes: list[tuple[re.Pattern[str], Mapping[str, Mapping[str, Any]]]] = [
            (compile_path(path)[0], methods) for path, methods in paths.items()
        ]

    def roles(self, method: str, path: str) -> list[Role]:
        """The roles named by the route that will answer; none if no route is described so."""
        for pattern, methods in self._routes:
            if pattern.match(path) and method.lower() in methods:
                return [Role(role) for role in methods[method.lower()].get(ROLES, ())]
        return []


class Authentication:
    """Lets a request through with its principal in the scope, before a byte of its body is read; but not too many."""

    def __init__(self, app: ASGIApp, keys: Keys, per_minute: int) -> None:
        self._app, self._keys = app, keys
        self._bad = RateLimit(BAD_KEYS, f"{BAD_KEYS} wrong keys came from your address")
        self._work = RateLimit(per_minute, f"You have posted {per_minute} requests")
        self._access: Access | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # No route here speaks it; 1008 is "policy violation".
            return await send({"type": "websocket.close", "code": 1008})
        if scope["type"] == "http" and not is_public(scope["path"]):
            scope["laneway.principal"] = found = await self._known(scope)
            if found.role is not Role.OWNER:
                self._check(found, scope)
            # Messages are counted where they are written down, for all processes and each sender.
            if scope["method"] == "POST" and scope["path"] not in TABLE_DOORS:
                self._work.check(str(found.id))
                self._work.count(str(found.id))
        try:
            return await self._app(scope, receive, send)
        except Unauthorized:
            # A route that looks itself: the right key passes whatever others have tried.
            self._bad.check(_address(scope))
            self._bad.count(_address(scope))
            raise

    def _check(self, principal: Principal, scope: Scope) -> None:
        """Returns only if the route is open to the principal's role."""
        if self._access is None:
            self._access = Access(scope["app"].openapi()["paths"])
        roles = self._access.roles(scope["method"], scope["path"])
        if principal.role not in roles:
            needed = " or ".join((Role.OWNER, *roles))
            raise Forbidden(f"This needs a key of the role {needed}.", hint=f"Yours is that of the {principal.role}.")

    async def _known(self, scope: Scope) -> Principal:
        key = presented(Headers(scope=scope))
        # The right key passes whatever others at its address have tried.
        found = await self._keys.principal(key) if key and len(key) <= LONGEST_KEY else None
        if found is None:
            if key:
                self._bad.check(_address(scope))
                self._bad.count(_address(scope))
            raise Unauthorized(
                "This key opens nothing." if key else "This needs a key.",
                hint="Send `Authorization: Bearer KEY`; the key is in the file `key` of the data directory.",
            )
        return found


def _address(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def is_public(path: str) -> bool:
    """Whether the path, or its route, looks for itself who asks."""
    return path in PUBLIC | HOOKS or path.startswith(SIGNED)


def presented(headers: Headers) -> str:
    """The key a request brought, from either header; empty if none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key", "").strip()
