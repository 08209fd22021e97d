"""Voice to text by a server that speaks OpenAI's transcription API; in the ledger like every other model call."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

from laneway.errors import ModelFault, TransientFault
from laneway.llm import faults, guard, prices
from laneway.llm.meter import Meter
from laneway.llm.providers import is_foreign, list_models
from laneway.settings import Settings
from laneway.store import ledger

OPENAI_URL = "https://api.openai.com/v1"
TOKENS_IN, TOKENS_OUT = 20, 10
"""More tokens than a second of sound has, and than are said in one."""

ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 3, 0.5, 10.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A voice note: its bytes, a name whose ending says what it is, and how long it lasts."""

    content: bytes
    name: str
    mime: str
    seconds: float
    measured: bool
    """Whether that is how long it lasts, or the most it can."""


@dataclass(frozen=True, slots=True)
class Transcript:
    text: str
    seconds: float | None
    """How long the server found it to be."""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Which server writes recordings down, with which model and key."""

    url: str
    model_name: str
    key: str | None = None
    key_setting: str = "LANEWAY_TRANSCRIPTION_KEY"
    system: str = "openai"

    @property
    def base_url(self) -> str | None:
        return self.url

    @classmethod
    def of(cls, settings: Settings) -> Endpoint | None:
        """The server the settings name; None if there is none that would take us."""
        given, openai = settings.transcription_key, settings.openai_api_key
        named, model = settings.transcription_url, settings.transcription_model
        openai_url = settings.openai_base_url or OPENAI_URL
        if named is None and ((given is None and openai is None) or is_foreign(settings.openai_base_url)):
            # A server of one's own that answers questions need not know how to listen.
            return None
        url = (named or openai_url).rstrip("/")
        if given is not None:
            return cls(url, model, given.get_secret_value())
        # A key goes only to whom it was given for.
        theirs = openai is not None and urlsplit(url).netloc == urlsplit(openai_url).netloc
        return cls(url, model, openai.get_secret_value() if openai and theirs else None, "OPENAI_API_KEY")


async def probe(endpoint: Endpoint, seconds: float = 10.0) -> str | None:
    """None if the server takes our key, else a sentence; asked is what costs nothing, its list of models."""
    try:
        await list_models(endpoint.url, endpoint.key, endpoint.key_setting, seconds)
    except ModelFault as fault:
        return str(fault)
    return None


class Transcriber:
    """Has recordings written down; a fault says why one was not."""

    def __init__(
        self,
        endpoint: Endpoint,
        meter: Meter,
        *,
        seconds: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint, self._meter, self._sleep = endpoint, meter, sleep
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._http = httpx.AsyncClient(headers=headers, timeout=httpx.Timeout(seconds, connect=10))

    @property
    def model(self) -> str:
        return self._endpoint.model_name

    async def transcribe(self, recording: Recording) -> Transcript:
        """What is said in the recording; transient faults are tried again a few times."""
        tried = 0
        while True:
            tried += 1
            try:
                return await self._paid(recording)
            except TransientFault as fault:
                wait = fault.retry_after if fault.retry_after is not None else FIRST_WAIT * 2 ** (tried - 1)
                if tried >= ATTEMPTS or wait > LONGEST_WAIT:
                    raise
                await self._sleep(wait)

    async def close(self) -> None:
        await self._http.aclose()

    async def _paid(self, recording: Recording) -> Transcript:
        worst = _tokens(recording.seconds)
        cost = await asyncio.to_thread(prices.cost_of_sound, self._endpoint, recording.seconds, *worst)
        meta: dict[str, Any] = {"model": self.model, "seconds": round(recording.seconds, 2)}
        entry = await self._meter.reserve_at(self._endpoint, cost, *worst, meta)
        async with _Reserved(self._meter, entry):
            await guard.check()
            with faults.Explained(self.model, key_setting=self._endpoint.key_setting):
                answer = await self._ask(recording)
        await self._settle(entry, recording, answer)
        return _read(answer, self.model)

    async def _ask(self, recording: Recording) -> dict[str, Any]:
        wanted = "verbose_json" if "whisper" in self.model else "json"
        response = await self._http.post(
            f"{self._endpoint.url}/audio/transcriptions",
            data={"model": self.model, "response_format": wanted},
            files={"file": (recording.name, recording.content, recording.mime)},
        )
        response.raise_for_status()
        answer = response.json()
        return answer if isinstance(answer, dict) else {}

    async def _settle(self, entry: int, recording: Recording, answer: dict[str, Any]) -> None:
        said = answer.get("usage")
        usage: dict[str, Any] = said if isinstance(said, dict) else {}
        told = _number(usage.get("seconds")) or _number(answer.get("duration"))
        seconds = told or recording.seconds
        given, made = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
        counted = (given, made) if given else _tokens(seconds)
        cost = prices.cost_of_sound(self._endpoint, seconds, *counted) or Decimal(0)
        estimated = not (given or told or recording.measured)
        meta: dict[str, Any] = {"seconds": round(seconds, 2)} | ({"estimated": True} if estimated else {})
        # Where hours are told and paid for there are no tokens to count.
        tokens = (0, 0) if told and not given else counted
        await asyncio.shield(self._meter.settle_at(entry, ledger.Usage(*tokens, cost), meta))


class _Reserved:
    """A reservation that is closed if its call fails: released if that was certainly free, else cut."""

    def __init__(self, meter: Meter, entry: int) -> None:
        self._meter, self._entry = meter, entry

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            free = _certainly_free(error)
            await asyncio.shield(self._meter.close(self._entry, free=free, meta={"failed": type(error).__name__}))


def _read(answer: dict[str, Any], model: str) -> Transcript:
    text = answer.get("text")
    if not isinstance(text, str):
        raise TransientFault(f"{model} sent an answer that cannot be read.", hint="Send it again.")
    language = answer.get("language")
    return Transcript(text.strip(), _number(answer.get("duration")), language if isinstance(language, str) else "")


def _tokens(seconds: float) -> tuple[int, int]:
    return math.ceil(seconds * TOKENS_IN), math.ceil(seconds * TOKENS_OUT)


def _certainly_free(error: BaseException) -> bool:
    cause = error.__cause__ if isinstance(error, ModelFault) and error.__cause__ else error
    return isinstance(cause, httpx.HTTPStatusError) or faults.certainly_free(cause)


def _number(value: object) -> float | None:
    """The seconds a server told, as a number or in digits; None for anything that is no length of time."""
    try:
        number = float(value) if isinstance(value, int | float | str) else 0.0
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
