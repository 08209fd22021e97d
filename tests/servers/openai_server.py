"""A loopback server that speaks the OpenAI API: chat completions, responses and models."""

from __future__ import annotations

from typing import ClassVar

from .model_server import ModelServer
from .openai_chat import ChatCompletions
from .openai_errors import error_body, invalid, unknown_model, wrong_key
from .openai_responses import Responses
from .prompt_cache import LongPrefixes
from .received import Received
from .script import Fail, Json, Script
from .wire import Dialect


class OpenAIServer(ModelServer):
    """api.openai.com on 127.0.0.1; give `url` to the SDK as `base_url` (it ends in /v1).

    With `models` every other model is not found. Long prefixes seen before count as cached tokens.
    """

    request_id_header: ClassVar[str] = "x-request-id"
    default_models: ClassVar[tuple[str, ...]] = ("gpt-4.1", "gpt-4.1-mini")

    def __init__(
        self,
        script: Script | None = None,
        *,
        api_key: str | None = None,
        models: tuple[str, ...] = (),
        port: int = 0,
    ) -> None:
        super().__init__(script, api_key=api_key, models=models, port=port)
        cache = LongPrefixes()
        self._responses = Responses(cache, models)
        self._dialects: dict[str, Dialect] = {
            "/v1/chat/completions": ChatCompletions(cache, models),
            "/v1/responses": self._responses,
        }

    @property
    def url(self) -> str:
        """Where the server answers, as the SDK wants its `base_url`."""
        return f"{super().url}/v1"

    def dialect(self, path: str) -> Dialect | None:
        """The dialect of the path."""
        return self._dialects.get(path)

    def look_up(self, method: str, path: str, body: Json) -> Json | Fail:
        """A token count, the models, one model, or not found."""
        if (method, path) == ("POST", "/v1/responses/input_tokens"):
            complaint = self._responses.complaint(body)
            return complaint or {"object": "response.input_tokens", "input_tokens": self._responses.count(body)}
        models = {name: _model(name) for name in self.models or self.default_models}
        if (method, path) == ("GET", "/v1/models"):
            return {"object": "list", "data": list(models.values())}
        name = path.removeprefix("/v1/models/")
        if method == "GET" and name in models:
            return models[name]
        if name != path:
            return unknown_model(name)
        return invalid(f"Invalid URL ({method} {path})", status=404)

    def error(self, fail: Fail, request_id: str) -> Json:
        """The body of an error."""
        return error_body(fail)

    def rejection(self, received: Received, key: str | None) -> Fail | None:
        """The 401 for a wrong or missing key."""
        return None if key is None else wrong_key(key)


def _model(name: str) -> Json:
    return {"id": name, "object": "model", "created": 1_744_316_542, "owned_by": "system"}
