"""MetricsCollector and telemetry: counted once, in the store for all processes, and pushed by OTLP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest

from laneway.channels.contract import PULLED
from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.observe.duty import Orders, SessionDuty
from laneway.observe.watching import Bounds
from laneway.reactors import Chain, Intervene, Severity, Warn
from laneway.reactors.metrics_collector import Counts, MetricsCollector
from laneway.reactors.options import Options
from laneway.reactors.telemetry import MOST_REQUESTS, MOST_SPANS, Telemetry
from laneway.store import counters
from laneway.store.database import Database
from tests.observe.live_logs import Agent
from tests.observe.test_watch_server import beginning, turns, until
from tests.servers.loopback import Loopback
from tests.servers.otlp_collector import Collector, attributes_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def happened(kind: EventKind, seconds: float = 0, **more: Any) -> SessionEvent:
    return SessionEvent("s1", "claude-code", kind, NOW + timedelta(seconds=seconds), **more)


ANSWER = happened(
    EventKind.ASSISTANT, 2, model="claude-sonnet-4-5", tokens=Tokens(100, 20, 1000, 50, 5), cost=Decimal("0.0125")
)
LIFE = [
    happened(EventKind.USER),
    ANSWER,
    happened(EventKind.TOOL_CALLED, 3, tool="Bash", call_id="c1", arguments={"command": "ls"}),
    happened(EventKind.TOOL_ENDED, 5, call_id="c1", failed=True),
    happened(EventKind.ENDED, 9),
]


def told(counted: counters.Counted) -> dict[str, Decimal]:
    return {f"{name}{dict(labels)}": value for (name, labels), value in counted.items()}


def test_tokens_money_tool_calls_and_sessions_are_counted_once() -> None:
    counts = Counts()
    chain = Chain(SessionState("s1", "claude-code"), [MetricsCollector(counts)])
    for event in LIFE:
        assert chain.handle(event) == []
    counts.reacted("loop", Warn("again"))
    counts.reacted("safety", Intervene("no", Severity.KILL))
    counts.failed("broken")
    model = "claude-sonnet-4-5"
    assert told(counts.take()) == {
        "laneway_sessions{'provider': 'claude-code'}": 1,
        f"laneway_session_tokens{{'kind': 'input', 'model': '{model}', 'provider': 'claude-code'}}": 100,
        f"laneway_session_tokens{{'kind': 'output', 'model': '{model}', 'provider': 'claude-code'}}": 20,
        f"laneway_session_tokens{{'kind': 'cache_read', 'model': '{model}', 'provider': 'claude-code'}}": 1000,
        f"laneway_session_tokens{{'kind': 'cache_write', 'model': '{model}', 'provider': 'claude-code'}}": 50,
        f"laneway_session_tokens{{'kind': 'reasoning', 'model': '{model}', 'provider': 'claude-code'}}": 5,
        f"laneway_session_cost_usd{{'model': '{model}', 'provider': 'claude-code'}}": Decimal("0.0125"),
        "laneway_tool_calls{'outcome': 'error', 'provider': 'claude-code', 'tool': 'Bash'}": 1,
        "laneway_reactions{'reactor': 'loop', 'severity': 'warning'}": 1,
        "laneway_reactions{'reactor': 'safety', 'severity': 'kill'}": 1,
        "laneway_reactor_failures{'reactor': 'broken'}": 1,
    }
    assert counts.take() == {}


def test_what_is_replayed_is_not_counted_again() -> None:
    counts = Counts()
    chain = Chain(SessionState("s1", "claude-code"), [MetricsCollector(counts)])
    chain.replay(LIFE[:3])
    chain.handle(LIFE[3])
    assert told(counts.take()) == {
        "laneway_tool_calls{'outcome': 'error', 'provider': 'claude-code', 'tool': 'Bash'}": 1
    }


def test_an_agent_that_invents_names_does_not_fill_the_memory() -> None:
    counts = Counts()
    chain = Chain(SessionState("s1", "x"), [MetricsCollector(counts)])
    for number in range(2000):
        chain.handle(happened(EventKind.TOOL_ENDED, tool=f"tool{number}\n{{}}", call_id=f"c{number}"))
    taken = counts.take()
    assert len(taken) < 310
    assert taken["laneway_tool_calls", (("outcome", "success"), ("provider", "claude-code"), ("tool", "other"))] == 1700


async def test_several_processes_count_together(db: Database) -> None:
    for _ in range(2):
        telemetry = Telemetry(db)
        telemetry.counts.reacted("loop", Warn("again"))
        async with httpx.AsyncClient() as client:
            await telemetry.hand_on(client)
            await telemetry.hand_on(client)
    async with db.transaction() as tx:
        assert await counters.sums(tx) == {("laneway_reactions", (("reactor", "loop"), ("severity", "warning"))): 2}


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    taking = Collector()
    with Loopback(taking.app()) as server:
        yield taking, server.url


def watched(telemetry: Telemetry, events: list[SessionEvent] = LIFE) -> None:
    chain = Chain(SessionState("s1", "claude-code"), telemetry.reactors())
    for event in events:
        chain.handle(event)


async def test_spans_with_genai_attributes_reach_a_collector(collector: tuple[Collector, str]) -> None:
    taking, url = collector
    telemetry = Telemetry(None, f"{url}/", {"authorization": "Bearer abc"})
    watched(telemetry)
    async with httpx.AsyncClient(headers={"authorization": "Bearer abc"}) as client:
        await telemetry.hand_on(client)
    assert taking.refused == []
    assert taking.headers[0]["authorization"] == "Bearer abc"
    assert taking.resources[0]["service.name"] == "laneway"
    [chat] = taking.attributes("chat claude-sonnet-4-5")
    assert chat == {
        "gen_ai.operation.name": "chat", "gen_ai.agent.name": "claude-code", "gen_ai.conversation.id": "s1",
        "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.response.model": "claude-sonnet-4-5", "gen_ai.usage.input_tokens": 1150,
        "gen_ai.usage.output_tokens": 20, "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_creation.input_tokens": 50, "laneway.cost_usd": 0.0125,
    }  # fmt: skip
    [tool] = taking.attributes("execute_tool Bash")
    assert (tool["gen_ai.tool.call.id"], tool["error.type"]) == ("c1", "tool")
    [agent] = [span for span in taking.spans if span["name"] == "invoke_agent claude-code"]
    assert int(agent["endTimeUnixNano"]) - int(agent["startTimeUnixNano"]) == 9_000_000_000
    assert {span.get("parentSpanId", agent["spanId"]) for span in taking.spans} == {agent["spanId"]}
    assert len({span["traceId"] for span in taking.spans}) == 1
    assert "ls" not in str(taking.spans), "no arguments are told"


async def test_metrics_reach_a_collector_as_sums_and_genai_histograms(collector: tuple[Collector, str]) -> None:
    taking, url = collector
    telemetry = Telemetry(None, url)
    watched(telemetry)
    async with httpx.AsyncClient() as client:
        await telemetry.hand_on(client)
    assert taking.refused == []
    by_name = {metric["name"]: metric for metric in taking.metrics}
    usage = by_name["gen_ai.client.token.usage"]["histogram"]["dataPoints"]
    assert {attributes_of(point)["gen_ai.token.type"]: point["sum"] for point in usage} == {"input": 1150, "output": 20}
    [took] = by_name["gen_ai.client.operation.duration"]["histogram"]["dataPoints"]
    assert took["sum"] == 2.0
    [calls] = by_name["laneway.tool_calls"]["sum"]["dataPoints"]
    assert (calls["asDouble"], attributes_of(calls)["outcome"]) == (1.0, "error")


async def test_a_collector_that_is_busy_gets_everything_later_and_once(collector: tuple[Collector, str]) -> None:
    taking, url = collector
    taking.answers = [503, 200, 429]
    telemetry = Telemetry(None, url, first_pause=0.0)
    watched(telemetry)
    async with httpx.AsyncClient() as client:
        for _ in range(6):
            await telemetry.hand_on(client)
    assert len(taking.spans) == 3
    assert len({span["spanId"] for span in taking.spans}) == 3
    assert sum(metric["name"] == "laneway.sessions" for metric in taking.metrics) == 1
    assert telemetry.dropped == 0


async def test_what_a_collector_refuses_for_good_is_dropped_and_counted(collector: tuple[Collector, str]) -> None:
    taking, url = collector
    taking.answers = [400, 400]
    telemetry = Telemetry(None, url)
    watched(telemetry)
    async with httpx.AsyncClient() as client:
        await telemetry.hand_on(client)
        await telemetry.hand_on(client)
    assert (telemetry.dropped, taking.requests) == (2, 2)


@pytest.mark.alone
async def test_a_collector_that_is_away_never_blocks_and_never_fills_the_memory() -> None:
    telemetry = Telemetry(None, "http://127.0.0.1:9", first_pause=0.0)
    began = time.perf_counter()
    for _ in range(MOST_SPANS + 10):
        watched(telemetry, [ANSWER])
    assert time.perf_counter() - began < 5
    assert telemetry.dropped == 10
    async with httpx.AsyncClient() as client:
        for _ in range(MOST_REQUESTS * 3):
            telemetry.counts.failed("x")
            await telemetry.hand_on(client)
    assert len(telemetry._waiting) == MOST_REQUESTS


async def test_sessions_that_the_server_watches_are_counted_too_and_not_again_after_a_restart(
    db: Database, tmp_path: Path
) -> None:
    agent, telemetry = Agent(tmp_path), Telemetry(db)
    orders = Orders(
        {"HOME": str(tmp_path)}, Options(), pulled=PULLED, bounds=Bounds(recent=timedelta(hours=1), tick=0.2),
        more=telemetry.reactors,
    )  # fmt: skip
    found: counters.Counted = {}
    for round in range(2):
        async with beginning():
            task = asyncio.create_task(SessionDuty(db, orders).keep_going())
        agent.says("work")
        agent.calls("Bash", command=f"ls {round}")
        await until(db, turns(round + 1))
        async with asyncio.timeout(30):
            # Both lines may have been read at once, or one after the other.
            while f"laneway_session_tokens {round}" not in {name for name, _ in found}:
                for (name, labels), value in telemetry.counts.take().items():
                    found[f"{name} {round}", labels] = found.get((f"{name} {round}", labels), 0) + value
                await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert {name: value for (name, _), value in found.items() if "sessions" in name} == {"laneway_sessions 0": 1}
