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
from types import TracebackType
from typing import Any, Self

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from .loopback import Loopback
from .openai_errors import error_body, invalid, missing, unknown_model, wrong_key
from .script import Fail

MOST_BYTES = 25 * 1024 * 1024
ENDINGS = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm")
FORMATS = {"whisper-1": ("json", "text", "srt", "verbose_json", "vtt")}
MODELS = ("whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe")
STARTS = {"wav": b"RIFF", "ogg": b"OggS", "oga": b"OggS", "flac": b"fLaC", "webm": b"\x1aE\xdf\xa3"}


@dataclass(frozen=True)
class Heard:
    """One recording that was taken."""

    name: str
    content_type: str
    content: bytes
    model: str
    response_format: str


class TranscriptionServer:
    """POST /v1/audio/transcriptions on 127.0.0.1; it hears `text` in everything it is given."""

    def __init__(self, text: str = "", *, api_key: str | None = None, models: tuple[str, ...] = MODELS) -> None:
        self.text = text
        self.heard: list[Heard] = []
        self.requests = 0
        self._key, self._models = api_key, models
        self._mishaps: deque[Fail] = deque()
        routes = [
            Route("/v1/audio/transcriptions", self._answer, methods=["POST"]),
            Route("/v1/models", self._listed, methods=["GET"]),
        ]
        self._loopback = Loopback(Starlette(routes=routes))

    @property
    def url(self) -> str:
        """As clients want their `base_url`."""
        return f"{self._loopback.url}/v1"

    def go_wrong(self, *statuses: int, retry_after: float | None = None) -> None:
        """The next requests fail with these statuses."""
        self._mishaps.extend(Fail(status, retry_after=retry_after) for status in statuses)

    def __enter__(self) -> Self:
        self._loopback.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loopback.__exit__(kind, error, trace)

    def _rejected(self, request: Request) -> Response | None:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        wrong = self._key is not None and (scheme, key) != ("Bearer", self._key)
        return _error(wrong_key(key)) if wrong else None

    async def _listed(self, request: Request) -> Response:
        listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
        return self._rejected(request) or JSONResponse(listed)

    async def _answer(self, request: Request) -> Response:
        self.requests += 1
        if (rejected := self._rejected(request)) is not None:
            return rejected
        body = await request.body()
        if len(body) > MOST_BYTES:
            size = f"Maximum content size limit ({MOST_BYTES}) exceeded ({len(body)} bytes read)"
            return _error(invalid(size, status=413))
        if self._mishaps:
            return self._mishap(request, self._mishaps.popleft())
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            return _error(invalid("Content-Type must be multipart/form-data.", status=415))
        async with request.form() as form:
            return await self._transcribed(form)

    def _mishap(self, request: Request, fail: Fail) -> Response:
        if fail.status == 0:
            request.scope["state"]["hang_up"]()
            return PlainTextResponse("")
        return _error(fail)

    async def _transcribed(self, form: FormData) -> Response:
        file, model = form.get("file"), form.get("model")
        if not isinstance(file, UploadFile):
            return _error(missing("file"))
        if not isinstance(model, str) or not model:
            return _error(invalid("you must provide a model parameter"))
        if model not in self._models:
            return _error(unknown_model(model))
        wanted = str(form.get("response_format", "json"))
        if wanted not in FORMATS.get(model, ("json", "text")):
            message = (
                f"response_format '{wanted}' is not compatible with model '{model}'. Use 'json' or 'text' instead."
            )
            return _error(invalid(message, "response_format", "unsupported_value"))
        content, name = await file.read(), file.filename or ""
        complaint = _complaint(name, content)
        if complaint is not None:
            return _error(complaint)
        self.heard.append(Heard(name, file.content_type or "", content, model, wanted))
        return self._said(content, model, wanted)

    def _said(self, content: bytes, model: str, wanted: str) -> Response:
        seconds = _seconds(content)
        if wanted == "text":
            return PlainTextResponse(self.text + "\n")
        tokens = {
            "type": "tokens",
            "input_tokens": max(1, round(seconds * 10)),
            "output_tokens": len(self.text) // 4 + 1,
        }
        usage: dict[str, Any] = {"type": "duration", "seconds": round(seconds)} if model == "whisper-1" else tokens
        answer: dict[str, Any] = {"text": self.text, "usage": usage}
        if wanted == "verbose_json":
            answer |= {"task": "transcribe", "language": "english", "duration": seconds, "segments": []}
        return JSONResponse(answer)


def _complaint(name: str, content: bytes) -> Fail | None:
    ending = name.rpartition(".")[2].lower()
    formats = f"Invalid file format. Supported formats: {list(ENDINGS)}"
    if ending not in ENDINGS:
        return invalid(formats)
    if not content.startswith(STARTS.get(ending, b"")) or not _seconds(content):
        return invalid("Audio file might be corrupted or unsupported", "file", "invalid_value")
    return None


def _seconds(content: bytes) -> float:
    """How long it lasts: a WAV is really opened, others are taken for six seconds if there is anything in them."""
    if not content.startswith(b"RIFF"):
        return 6.0 if len(content) > 4 else 0.0
    try:
        with wave.open(io.BytesIO(content)) as file:
            frames, rate = file.getnframes(), file.getframerate()
            return float(frames / rate)
    except (wave.Error, EOFError, ZeroDivisionError):
        return 0.0


def _error(fail: Fail) -> Response:
    headers = {} if fail.retry_after is None else {"retry-after": str(fail.retry_after)}
    return JSONResponse(fail.body or error_body(fail), fail.status, headers=headers)
