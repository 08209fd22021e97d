"""Figures for Prometheus: what the database holds, what the door served, how large the process is."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laneway.domain.job import JobStatus
from laneway.reactors.metrics_collector import LABELS, MEANINGS
from laneway.store.counters import Counted
from laneway.store.figures import Figures

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """A registry of its own, so that two apps in one process do not count each other's requests."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "laneway_http_requests", "Requests answered.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "laneway_http_seconds", "Time to the first byte.", ["route"], buckets=SECONDS, registry=self.registry
        )
        self._jobs = self._gauge("laneway_jobs", "Jobs by status.", "status")
        self._oldest = self._gauge("laneway_oldest_queued_seconds", "Age of the oldest job that could start.")
        self._messages = self._gauge("laneway_messages", "Messages stored, by author.", "author")
        self._replies = self._gauge("laneway_replies", "Replies by state in the outbox.", "state")
        self._approvals = self._gauge("laneway_approvals_pending", "Approvals nobody has answered yet.")
        self._tokens = self._gauge("laneway_ledger_tokens_today", "Tokens spent today (UTC).")
        self._cost = self._gauge("laneway_ledger_cost_today_usd", "Money spent today (UTC).")
        self._workers = self._gauge("laneway_workers_alive", "Workers with a fresh heartbeat.")
        self._watchers = self._gauge("laneway_event_watchers", "Open streams of events.")
        self._judged = self._gauge("laneway_classifications", "Messages judged, by who decided.", "decided_by")
        self._confidence = self._gauge(
            "laneway_classification_confidence", "Messages judged, by tenths of confidence from this one on.", "from"
        )
        self._corrected = self._gauge("laneway_classifications_corrected", "Messages whose judgement was corrected.")
        self._results = self._gauge(
            "laneway_pipeline_results", "Results of pipelines, by what their plan was read from.", "cache"
        )
        self._memory = self._gauge("laneway_memory_bytes", "Resident memory of this process.")
        self._sessions = Sessions()
        self.registry.register(self._sessions)

    def text(self, figures: Figures, watchers: int, counted: Counted | None = None) -> bytes:
        """All figures in Prometheus's text format; `counted` is what all processes have counted of sessions."""
        self._sessions.counted = counted or {}
        for status in JobStatus:
            self._jobs.labels(status).set(figures.jobs.get(status, 0))
        for author, count in figures.messages.items():
            self._messages.labels(author).set(count)
        for state, count in figures.outbox.items():
            self._replies.labels(state).set(count)
        for decided_by, count in figures.judged.items():
            self._judged.labels(decided_by).set(count)
        for tenth in range(10):
            start = f"{tenth / 10:.1f}"
            found = sum(count for low, count in figures.confidence.items() if f"{float(low):.1f}" == start)
            self._confidence.labels(start).set(found)
        self._corrected.set(figures.corrected)
        for cache in {"none", "plan", "provider"} | figures.results.keys():
            self._results.labels(cache).set(figures.results.get(cache, 0))
        self._oldest.set(figures.oldest_queued_seconds)
        self._approvals.set(figures.approvals_pending)
        self._tokens.set(figures.tokens_today)
        self._cost.set(float(figures.cost_today))
        self._workers.set(len(figures.workers))
        self._watchers.set(watchers)
        self._memory.set(memory_bytes())
        return generate_latest(self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(name, meaning, labels, registry=self.registry)


class Sessions:
    """Counters of sessions and jobs, as they stand in the store."""

    def __init__(self) -> None:
        self.counted: Counted = {}

    def collect(self) -> Iterator[CounterMetricFamily]:
        """Every counter there is a meaning for, with or without a value."""
        for name, meaning in MEANINGS.items():
            labels = LABELS[name]
            family = CounterMetricFamily(name, meaning, labels=labels)
            for (counter, told), value in self.counted.items():
                if counter == name:
                    family.add_metric([dict(told).get(label, "") for label in labels], float(value))
            yield family


def memory_bytes() -> int:
    """The resident memory of this process."""
    return int(psutil.Process().memory_info().rss)


class Counting:
    """Counts every request by route and status, and how long its first byte took."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began = time.perf_counter()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.perf_counter() - began)
            await send(message)

        return await self._app(scope, receive, counted)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        # A path nobody serves must not become a label: anybody can invent such paths without end.
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.requests.labels(method, route, status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
