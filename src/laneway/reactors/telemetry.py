"""Hands on what was counted: to the store, for every process's /metrics, and to a collector, by OTLP.

Whoever counts only adds to a list in memory; a task of its own hands it on every few seconds. A collector that does not
answer is tried again, later and later; what waits is bounded, and what had to be dropped is counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx

from laneway.clock import Clock, SystemClock
from laneway.engine.faults import ended
from laneway.errors import Unavailable
from laneway.reactors import otlp
from laneway.reactors.contract import Reactor
from laneway.reactors.metrics_collector import Counts, MetricsCollector
from laneway.reactors.spans import Span, Spans
from laneway.store import counters
from laneway.store.database import Database

EVERY_SECONDS = 5.0
MOST_SPANS, BATCH = 4096, 512
MOST_REQUESTS = 32
"""Requests that wait for a collector."""
LONGEST_PAUSE = 60.0
PASSING = frozenset({408, 429, 502, 503, 504})
"""Answers after which the convention says to try again."""
_log = logging.getLogger("laneway.telemetry")


class Telemetry:
    """What one process has counted, and where it goes."""

    def __init__(
        self, db: Database | None, url: str | None = None, headers: Mapping[str, str] | None = None,
        clock: Clock | None = None, first_pause: float = 1.0,
    ) -> None:  # fmt: skip
        self.counts = Counts()
        self.dropped = 0
        self._db, self._url, self._clock = db, None if url is None else url.rstrip("/"), clock or SystemClock()
        self._headers, self._first_pause = dict(headers or {}), first_pause
        self._unstored: counters.Counted = {}
        self._spans: deque[Span] = deque()
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self._since = self._clock.now()
        self._pause, self._not_before = 0.0, 0.0

    def reactors(self) -> list[Reactor]:
        """New ones for one session; they count and never say anything."""
        return [MetricsCollector(self.counts), *([Spans(self._offer)] if self._url else [])]

    async def keep_going(self) -> None:
        """Runs until cancelled; then what is left has been handed on, as far as that goes quickly."""
        async with httpx.AsyncClient(headers=self._headers, timeout=10) as client:
            try:
                while not ended():
                    await asyncio.sleep(EVERY_SECONDS)
                    await self.hand_on(client)
            finally:
                self._not_before = 0.0
                client.timeout = httpx.Timeout(2)
                await self.hand_on(client)

    async def hand_on(self, client: httpx.AsyncClient) -> None:
        """What was counted is in the store and with the collector, or waits for the next time."""
        counted = self.counts.take()
        await self._store(counted)
        if self._url is not None:
            self._wrap(counted, self._take(), self._clock.now())
            await self._push(client)

    async def _store(self, counted: counters.Counted) -> None:
        for key, value in counted.items():
            self._unstored[key] = self._unstored.get(key, Decimal(0)) + value
        if self._db is None or not self._unstored:
            return
        try:
            async with self._db.transaction() as tx:
                await counters.add(tx, self._unstored)
        except Unavailable:
            return
        self._unstored = {}

    def _offer(self, span: Span) -> None:
        if len(self._spans) >= MOST_SPANS:
            self._spans.popleft()
            self.dropped += 1
        self._spans.append(span)

    def _take(self) -> list[Span]:
        taken, self._spans = list(self._spans), deque()
        return taken

    def _wrap(self, counted: counters.Counted, spans: list[Span], now: datetime) -> None:
        for start in range(0, len(spans), BATCH):
            self._wait(otlp.TRACES, otlp.traces(spans[start : start + BATCH]))
        self._wait(otlp.METRICS, otlp.metrics(counted, spans, self._since, now))
        self._since = now

    def _wait(self, path: str, body: dict[str, Any]) -> None:
        if not body:
            return
        if len(self._waiting) >= MOST_REQUESTS:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append((path, body))

    async def _push(self, client: httpx.AsyncClient) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting and loop.time() >= self._not_before:
            path, body = self._waiting[0]
            pause = await self._post(client, path, body)
            if pause is not None:
                self._not_before = loop.time() + pause
                return
            self._waiting.popleft()
            self._pause = 0.0

    async def _post(self, client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> float | None:
        """None once the collector has it or will never want it; else how long to wait."""
        try:
            answer = await client.post(f"{self._url}{path}", json=body)
        except httpx.HTTPError as error:
            return self._later(f"{type(error).__name__}")
        if answer.status_code in PASSING:
            return self._later(f"status {answer.status_code}", answer.headers.get("Retry-After"))
        if answer.status_code >= 300:
            self.dropped += 1
            _log.warning("The collector refused what was pushed to %s: status %d.", path, answer.status_code)
        return None

    def _later(self, why: str, asked: str | None = None) -> float:
        self._pause = min(max(self._pause * 2, self._first_pause), LONGEST_PAUSE)
        _log.log(logging.WARNING if self._pause == self._first_pause else logging.DEBUG,
                 "The OTLP collector does not answer (%s); it is tried again.", why)  # fmt: skip
        wanted = float(asked) if asked and asked.isdecimal() else 0.0
        return max(self._pause, min(wanted, 300.0))
