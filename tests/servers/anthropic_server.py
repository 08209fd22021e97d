"""A loopback server that speaks the Anthropic API: messages, token counts and models."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar

from .anthropic_messages import Messages, error_body
from .model_server import ModelServer
from .prompt_cache import FRAMING, MarkedPrefixes, blocks_of
from .received import Received
from .script import Fail, Json, Script
from .wire import Dialect, estimate


class AnthropicServer(ModelServer):
    """api.anthropic.com on 127.0.0.1; give `url` to the SDK as `base_url`.

    With `models` every other model is not found. The cache takes prefixes of any length unless
    `cache_minimum` says otherwise (the real one: 1024 tokens or more), and forgets by `clock`.
    """

    request_id_header: ClassVar[str] = "request-id"
    default_models: ClassVar[tuple[str, ...]] = ("claude-sonnet-5-5", "claude-haiku-5-5")

    def __init__(
        self,
        script: Script | None = None,
        *,
        api_key: str | None = None,
        models: tuple[str, ...] = (),
        port: int = 0,
        cache_minimum: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(script, api_key=api_key, models=models, port=port)
        self._messages = Messages(MarkedPrefixes(cache_minimum, clock), models)

    def dialect(self, path: str) -> Dialect | None:
        """The dialect of the path."""
        return self._messages if path == "/v1/messages" else None

    def look_up(self, method: str, path: str, body: Json) -> Json | Fail:
        """A token count, the models, one model, or not found."""
        if (method, path) == ("POST", "/v1/messages/count_tokens"):
            return self._count(body)
        models = {name: _model(name) for name in self.models or self.default_models}
        if (method, path) == ("GET", "/v1/models"):
            names = list(models)
            return {"data": list(models.values()), "has_more": False, "first_id": names[0], "last_id": names[-1]}
        name = path.removeprefix("/v1/models/")
        if method == "GET" and name in models:
            return models[name]
        return Fail(404, message="Not found" if name == path else f"model: {name}")

    def _count(self, body: Json) -> Json | Fail:
        # Counting needs no limit on the answer, all else is checked as for a message.
        complaint = self._messages.complaint({"max_tokens": 1, **body})
        return complaint or {"input_tokens": sum(estimate(b.text) for b in blocks_of(body)) + FRAMING}

    def error(self, fail: Fail, request_id: str) -> Json:
        """The body of an error."""
        return error_body(fail, request_id)

    def rejection(self, received: Received, wrong_key: str | None) -> Fail | None:
        """The 401 for a wrong or missing key, or the 400 for a missing version."""
        if wrong_key is not None and received.auth is None:
            return Fail(401, message="x-api-key header is required")
        if wrong_key is not None:
            return Fail(401, message="invalid x-api-key" if received.auth == "x-api-key" else "Invalid bearer token")
        if "anthropic-version" not in received.headers:
            return Fail(400, message="anthropic-version: header is required")
        return None


def _model(name: str) -> Json:
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": "2025-09-29T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
    }
