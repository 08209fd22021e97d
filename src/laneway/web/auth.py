"""No key, no entry: every request but those for life and readiness must bring the owner's key."""

from __future__ import annotations

import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from laneway.domain.conversation import Principal, Role
from laneway.errors import Forbidden, Unauthorized
from laneway.store import principals
from laneway.store.database import Database

PUBLIC = frozenset({"/health", "/ready"})
REMEMBERED_SECONDS = 5.0
"""How long a key that was good stays good without asking the database; so long can a replaced one still open."""

MOST_REMEMBERED = 64
LONGEST_KEY = 200


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


class Authentication:
    """Lets a request through with its principal in the scope, before a byte of its body is read."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # No route here speaks it; 1008 is "policy violation".
            return await send({"type": "websocket.close", "code": 1008})
        if scope["type"] == "http" and scope["path"] not in PUBLIC:
            scope["laneway.principal"] = await self._owner(Headers(scope=scope))
        return await self._app(scope, receive, send)

    async def _owner(self, headers: Headers) -> Principal:
        key = presented(headers)
        found = await self._keys.principal(key) if key and len(key) <= LONGEST_KEY else None
        if found is None:
            raise Unauthorized(
                "This key opens nothing." if key else "This needs the owner's key.",
                hint="Send `Authorization: Bearer KEY`; the key is in the file `key` of the data directory.",
            )
        if found.role is not Role.OWNER:
            raise Forbidden("This needs the owner's key.", hint="The key you sent belongs to somebody else.")
        return found


def presented(headers: Headers) -> str:
    """The key a request brought, from either header; empty if none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key", "").strip()
