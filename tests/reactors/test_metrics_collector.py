"""MetricsCollector and telemetry: counted once, in the store for all processes, and pushed by OTLP."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import httpx
import pytest

from laneway.domain.session import EventKind, SessionEvent, SessionState, Tokens
from laneway.reactors import Chain, Intervene, Severity, Warn
from laneway.reactors.metrics_collector import Counts, MetricsCollector
from laneway.reactors.telemetry import Telemetry
from laneway.store import counters
from laneway.store.database import Database
from tests.reactors.watched import happened
from tests.servers.loopback import Loopback
from tests.servers.otlp_collector import Collector, attributes_of

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
    return {f"{name} {' '.join(text for _, text in labels)}": value for (name, labels), value in counted.items()}


def test_tokens_money_tool_calls_and_sessions_are_counted_once() -> None:
    counts = Counts()
    chain = Chain(SessionState("s1", "claude-code"), [MetricsCollector(counts)])
    assert [chain.handle(event) for event in LIFE] == [[]] * len(LIFE)
    counts.reacted("loop", Warn("again"))
    counts.reacted("safety", Intervene("no", Severity.KILL))
    counts.failed("broken")
    whose = "claude-sonnet-4-5 claude-code"
    assert told(counts.take()) == {
        "laneway_sessions claude-code": 1,
        f"laneway_session_tokens input {whose}": 100,
        f"laneway_session_tokens output {whose}": 20,
        f"laneway_session_tokens cache_read {whose}": 1000,
        f"laneway_session_tokens cache_write {whose}": 50,
        f"laneway_session_tokens reasoning {whose}": 5,
        f"laneway_session_cost_usd {whose}": Decimal("0.0125"),
        "laneway_tool_calls error claude-code Bash": 1,
        "laneway_reactions loop warning": 1,
        "laneway_reactions safety kill": 1,
        "laneway_reactor_failures broken": 1,
    }
    assert counts.take() == {}
    # What is replayed is not counted again.
    chain = Chain(SessionState("s1", "claude-code"), [MetricsCollector(counts)])
    chain.replay(LIFE[:3])
    chain.handle(LIFE[3])
    assert told(counts.take()) == {"laneway_tool_calls error claude-code Bash": 1}


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
        await hand_on(telemetry, 2)
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


async def hand_on(telemetry: Telemetry, times: int = 1) -> None:
    async with httpx.AsyncClient(headers={"authorization": "Bearer abc"}) as client:
        for _ in range(times):
            await telemetry.hand_on(client)


async def test_spans_and_metrics_with_genai_attributes_reach_a_collector(collector: tuple[Collector, str]) -> None:
    taking, url = collector
    telemetry = Telemetry(None, f"{url}/", {"authorization": "Bearer abc"})
    watched(telemetry)
    await hand_on(telemetry)
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
    await hand_on(telemetry, 6)
    assert len(taking.spans) == len({span["spanId"] for span in taking.spans}) == 3
    assert sum(metric["name"] == "laneway.sessions" for metric in taking.metrics) == 1
    assert telemetry.dropped == 0
    # What it refuses for good is dropped and counted.
    taking.answers, before = [400, 400], taking.requests
    watched(telemetry)
    await hand_on(telemetry, 2)
    assert (telemetry.dropped, taking.requests - before) == (2, 2)
