"""Spans and counts in the words of OTLP, as JSON."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from laneway import __version__
from laneway.reactors.metrics_collector import MEANINGS, Labels
from laneway.reactors.spans import Span, Value

SCHEMA = "https://opentelemetry.io/schemas/1.37.0"
TRACES, METRICS = "/v1/traces", "/v1/metrics"
_DELTA = 1
_TOKEN_BOUNDS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
_SECOND_BOUNDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
_SHARED = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model")


def traces(spans: Sequence[Span]) -> dict[str, Any]:
    """The spans as one request to /v1/traces."""
    scope = {"scope": _SCOPE, "schemaUrl": SCHEMA, "spans": [_span(span) for span in spans]}
    return {"resourceSpans": [{"resource": _RESOURCE, "scopeSpans": [scope], "schemaUrl": SCHEMA}]}


def metrics(
    counted: Mapping[tuple[str, Labels], Decimal], spans: Sequence[Span], since: datetime, now: datetime
) -> dict[str, Any]:
    """What was counted between two times, as one request to /v1/metrics; empty if nothing was."""
    told = [*_sums(counted, since, now), *_histograms(spans, since, now)]
    if not told:
        return {}
    scope = {"scope": _SCOPE, "schemaUrl": SCHEMA, "metrics": told}
    return {"resourceMetrics": [{"resource": _RESOURCE, "scopeMetrics": [scope], "schemaUrl": SCHEMA}]}


def _span(span: Span) -> dict[str, Any]:
    told = {
        "traceId": span.trace, "spanId": span.id, "name": span.name, "kind": 3 if span.client else 1,
        "startTimeUnixNano": nanoseconds(span.began), "endTimeUnixNano": nanoseconds(span.ended),
        "attributes": _attributes(span.attributes), "status": {"code": 2} if span.failed else {"code": 1},
    }  # fmt: skip
    return told | ({"parentSpanId": span.parent} if span.parent else {})


def _sums(counted: Mapping[tuple[str, Labels], Decimal], since: datetime, now: datetime) -> Iterable[dict[str, Any]]:
    by_name: dict[str, list[dict[str, Any]]] = {}
    for (name, labels), value in counted.items():
        point = {"attributes": _attributes(dict(labels)), "asDouble": float(value), **_between(since, now)}
        by_name.setdefault(name, []).append(point)
    for name, points in by_name.items():
        total = {"dataPoints": points, "aggregationTemporality": _DELTA, "isMonotonic": True}
        yield {"name": name.replace("_", ".", 1), "description": MEANINGS.get(name, ""), "sum": total}


def _histograms(spans: Sequence[Span], since: datetime, now: datetime) -> Iterable[dict[str, Any]]:
    tokens: dict[Labels, list[float]] = {}
    seconds: dict[Labels, list[float]] = {}
    for span in (span for span in spans if span.client):
        shared = tuple((name, str(span.attributes.get(name, ""))) for name in _SHARED)
        for kind in ("input", "output"):
            value = float(span.attributes.get(f"gen_ai.usage.{kind}_tokens", 0))
            tokens.setdefault((*shared, ("gen_ai.token.type", kind)), []).append(value)
        error = (("error.type", span.failed),) if span.failed else ()
        seconds.setdefault((*shared, *error), []).append((span.ended - span.began).total_seconds())
    for name, unit, found, bounds in (
        ("gen_ai.client.token.usage", "{token}", tokens, _TOKEN_BOUNDS),
        ("gen_ai.client.operation.duration", "s", seconds, _SECOND_BOUNDS),
    ):
        if found:
            points = [_buckets(labels, values, bounds) | _between(since, now) for labels, values in found.items()]
            yield {"name": name, "unit": unit, "histogram": {"dataPoints": points, "aggregationTemporality": _DELTA}}


def _buckets(labels: Labels, values: list[float], bounds: Sequence[float]) -> dict[str, Any]:
    counts = [0] * (len(bounds) + 1)
    for value in values:
        counts[bisect_left(bounds, value)] += 1
    return {
        "attributes": _attributes(dict(labels)), "count": str(len(values)), "sum": sum(values),
        "min": min(values), "max": max(values), "bucketCounts": [str(count) for count in counts],
        "explicitBounds": list(bounds),
    }  # fmt: skip


def _between(since: datetime, now: datetime) -> dict[str, str]:
    return {"startTimeUnixNano": nanoseconds(since), "timeUnixNano": nanoseconds(now)}


def nanoseconds(at: datetime) -> str:
    """The time as OTLP writes it: a 64-bit number, which JSON holds as text."""
    whole = int(at.timestamp())
    return str(whole * 1_000_000_000 + at.microsecond * 1_000)


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": name, "value": _value(value)} for name, value in values.items() if value != ""]


def _value(value: Value) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


_SCOPE = {"name": "laneway", "version": __version__}
_RESOURCE = {"attributes": _attributes({"service.name": "laneway", "service.version": __version__})}
