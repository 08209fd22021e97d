"""A loopback server that speaks OpenAI's transcription API, and refuses what the real one refuses.

    with TranscriptionServer("restart nginx", api_key="sk-1") as server:
        Endpoint(server.url, "whisper-1", "sk-1")

Every accepted recording stands in `server.heard`. `server.go_wrong(status, …)` makes it fail so often, in this order;
a status of 0 drops the connection after the whole request has come in.
"""

from __future__ import annotations

import io
import wave
from collections import deque
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .loopback import Loopback
from .openai_server import error_body, invalid, missing, wrong_key
from .script import Fail

MOST_BYTES = 25 * 1024 * 1024
STARTS = {"wav": b"RIFF", "ogg": b"OggS", "oga": b"OggS", "flac": b"fLaC", "webm": b"\x1aE\xdf\xa3", "mp3": b""}


@dataclass(frozen=True)
class Heard:
    """One recording that was taken."""

    name: str
    content_type: str
    content: bytes
    model: str
    response_format: str


class TranscriptionServer(Loopback):
    """POST /v1/audio/transcriptions on 127.0.0.1; it hears `text` in everything it is given."""

    def __init__(self, text: str = "", *, api_key: str | None = None) -> None:
        routes = [
            Route("/v1/audio/transcriptions", self._answer, methods=["POST"]),
            Route("/v1/models", self._listed, methods=["GET"]),
        ]
        super().__init__(Starlette(routes=routes))
        self.text = text
        self.heard: list[Heard] = []
        self.requests = 0
        self._key = api_key
        self._mishaps: deque[Fail] = deque()

    @property
    def url(self) -> str:
        """As clients want their `base_url`."""
        return f"{super().url}/v1"

    def go_wrong(self, *statuses: int, retry_after: float | None = None) -> None:
        """The next requests fail with these statuses."""
        self._mishaps.extend(Fail(status, retry_after=retry_after) for status in statuses)

    def _rejected(self, request: Request) -> Response | None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        wrong = self._key is not None and (scheme, key) != ("Bearer", self._key)
        return _error(wrong_key(key)) if wrong else None

    async def _listed(self, request: Request) -> Response:
        return self._rejected(request) or JSONResponse({"object": "list", "data": []})

    async def _answer(self, request: Request) -> Response:
        self.requests += 1
        if (rejected := self._rejected(request)) is not None:
            return rejected
        body = await request.body()
        if len(body) > MOST_BYTES:
            size = f"Maximum content size limit ({MOST_BYTES}) exceeded ({len(body)} bytes read)"
            return _error(invalid(size, status=413))
        fail = self._mishaps.popleft() if self._mishaps else None
        if fail is not None and fail.status == 0:
            request.scope["state"]["hang_up"]()
            return PlainTextResponse("")
        if fail is not None:
            return _error(fail)
        async with request.form() as form:
            return await self._transcribed(form)

    async def _transcribed(self, form: FormData) -> Response:
        file, model, wanted = form.get("file"), form.get("model"), str(form.get("response_format", "json"))
        if not isinstance(file, UploadFile):
            return _error(missing("file"))
        if not isinstance(model, str) or not model:
            return _error(missing("model"))
        if wanted not in (("json", "verbose_json") if model == "whisper-1" else ("json",)):
            message = f"response_format '{wanted}' is not compatible with model '{model}'. Use 'json' instead."
            return _error(invalid(message, "response_format", "unsupported_value"))
        content, name = await file.read(), file.filename or ""
        ending, seconds = name.rpartition(".")[2].lower(), _seconds(content)
        if ending not in STARTS:
            return _error(invalid(f"Invalid file format. Supported formats: {list(STARTS)}"))
        if not content.startswith(STARTS[ending]) or not seconds:
            return _error(invalid("Audio file might be corrupted or unsupported", "file", "invalid_value"))
        self.heard.append(Heard(name, file.content_type or "", content, model, wanted))
        figures = {"input_tokens": max(1, round(seconds * 10)), "output_tokens": len(self.text) // 4 + 1}
        usage: dict[str, Any] = {"type": "tokens", **figures}
        if model == "whisper-1":
            usage = {"type": "duration", "seconds": round(seconds)}
        answer: dict[str, Any] = {"text": self.text, "usage": usage}
        if wanted == "verbose_json":
            answer |= {"task": "transcribe", "language": "english", "duration": seconds, "segments": []}
        return JSONResponse(answer)


def _seconds(content: bytes) -> float:
    """How long it lasts: a WAV is really opened, others are taken for six seconds if there is anything in them."""
    if not content.startswith(b"RIFF"):
        return 6.0 if len(content) > 4 else 0.0
    try:
        with wave.open(io.BytesIO(content)) as file:
            return float(file.getnframes() / file.getframerate())
    except (wave.Error, EOFError, ZeroDivisionError):
        return 0.0


def _error(fail: Fail) -> Response:
    headers = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    return JSONResponse(fail.body or error_body(fail), fail.status, headers=headers)
