"""A collector of telemetry on loopback: takes OTLP over HTTP as JSON and refuses what has not its shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

_HEX = {"traceId": 32, "spanId": 16, "parentSpanId": 16}


@dataclass
class Collector:
    """What was pushed, and how to answer next: a status for each of the next requests, then 200."""

    answers: list[int] = field(default_factory=list)
    spans: list[dict[str, Any]] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    requests: int = 0

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/traces", self._traces, methods=["POST"]),
                Route("/v1/metrics", self._metrics, methods=["POST"]),
            ]
        )

    def attributes(self, name: str) -> list[dict[str, Any]]:
        """The attributes of every span whose name begins so."""
        return [attributes_of(span) for span in self.spans if span["name"].startswith(name)]

    async def _traces(self, request: Request) -> Response:
        return await self._take(request, "resourceSpans", "scopeSpans", "spans", _span_faults, self.spans)

    async def _metrics(self, request: Request) -> Response:
        return await self._take(request, "resourceMetrics", "scopeMetrics", "metrics", _metric_faults, self.metrics)

    async def _take(
        self, request: Request, outer: str, scope: str, inner: str, faults: Any, into: list[Any]
    ) -> Response:
        self.requests += 1
        self.headers.append(dict(request.headers))
        if self.answers and (status := self.answers.pop(0)) != 200:
            return Response(status_code=status)
        body = json.loads(await request.body())
        items: list[dict[str, Any]] = []
        wrong = [] if request.headers.get("content-type") == "application/json" else ["content-type"]
        wrong += [] if set(body) == {outer} else [f"top level: {sorted(body)}"]
        for resource in body.get(outer, []):
            self.resources.append(attributes_of(resource["resource"]))
            for one in resource[scope]:
                wrong += [] if one["scope"].get("name") else ["scope without a name"]
                items += one[inner]
        wrong += [fault for item in items for fault in faults(item)]
        if wrong:
            self.refused += wrong
            return JSONResponse({"message": "; ".join(wrong)}, 400)
        into += items
        return JSONResponse({"partialSuccess": {}})


def attributes_of(item: dict[str, Any]) -> dict[str, Any]:
    """Attributes as plain values."""
    return {one["key"]: _plain(one["value"]) for one in item.get("attributes", [])}


def _plain(value: dict[str, Any]) -> Any:
    [(kind, found)] = value.items()
    return int(found) if kind == "intValue" else found


def _span_faults(span: dict[str, Any]) -> Iterator[str]:
    for name, digits in _HEX.items():
        if name in span and not re.fullmatch(rf"[0-9a-f]{{{digits}}}", span[name]):
            yield f"{name} {span[name]!r}"
    for name in ("traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"):
        if not span.get(name):
            yield f"no {name}"
    if not int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]):
        yield "it ends before it begins"
    if span.get("kind") not in range(1, 6):
        yield f"kind {span.get('kind')}"
    yield from _attribute_faults(span)


def _metric_faults(metric: dict[str, Any]) -> Iterator[str]:
    shapes = [shape for shape in ("sum", "histogram", "gauge") if shape in metric]
    if not metric.get("name") or len(shapes) != 1:
        yield f"metric {metric.get('name')}: {shapes}"
        return
    told = metric[shapes[0]]
    if told.get("aggregationTemporality") not in (1, 2):
        yield "no temporality"
    for point in told["dataPoints"]:
        if not isinstance(point.get("timeUnixNano"), str):
            yield "a time that is no text"
        if shapes == ["histogram"]:
            if len(point["bucketCounts"]) != len(point["explicitBounds"]) + 1:
                yield "buckets and bounds do not fit"
            if sum(map(int, point["bucketCounts"])) != int(point["count"]):
                yield "buckets and count do not fit"
        yield from _attribute_faults(point)


def _attribute_faults(item: dict[str, Any]) -> Iterator[str]:
    for one in item.get("attributes", []):
        [(kind, value)] = one["value"].items()
        if kind not in ("stringValue", "intValue", "doubleValue", "boolValue"):
            yield f"{one['key']}: {kind}"
        if kind == "intValue" and not isinstance(value, str):
            yield f"{one['key']}: a 64-bit number that is no text"
