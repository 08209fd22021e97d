"""Who may ask at the hooks' desk: the owner, or whoever brings the key that opens nothing else."""

from __future__ import annotations

import hmac
from pathlib import Path

from pydantic import SecretStr
from starlette.datastructures import Headers

from laneway.domain.conversation import Role
from laneway.domain.hook_key import HOOK_KEY_FILE
from laneway.errors import Forbidden, Unauthorized
from laneway.web.auth import LONGEST_KEY, Keys, presented

_LONGEST_FILE = 1_000


class HookKeys:
    """Knows the hooks' own key; the file is looked at again when it changed."""

    def __init__(self, home: Path, given: SecretStr | None, keys: Keys) -> None:
        self._file, self._keys = home / HOOK_KEY_FILE, keys
        self._given = "" if given is None else given.get_secret_value().strip()
        self._seen: tuple[int, int] | None = None
        self._written = ""

    async def check(self, headers: Headers) -> None:
        """Returns only if the request may ask."""
        key = presented(headers)
        if key and len(key) <= LONGEST_KEY:
            if any(hmac.compare_digest(key.encode(), own.encode()) for own in (self._given, self._own()) if own):
                return
            found = await self._keys.principal(key)
            if found is not None and found.role is Role.OWNER:
                return
            if found is not None:
                raise Forbidden("This needs the owner's key or the hooks' own.", hint="Run `laneway hooks status`.")
        raise Unauthorized(
            "This key opens no hooks." if key else "This needs a key.",
            hint="The hooks' key is in the file `hooks-key` of the data directory; `laneway hooks status` checks it.",
        )

    def _own(self) -> str:
        try:
            state = self._file.stat()
            if self._seen != (state.st_mtime_ns, state.st_ino):
                with self._file.open(encoding="utf-8") as file:
                    self._written = file.read(_LONGEST_FILE).strip()
                self._seen = (state.st_mtime_ns, state.st_ino)
        except (OSError, UnicodeDecodeError):
            return ""
        return self._written
