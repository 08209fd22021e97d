"""From message to reply through the HTTP door: latency at a steady pace, throughput in a flood, and at rest."""

from __future__ import annotations

import asyncio
import json
import time

import httpx

from bench.report import percentile, show
from bench.server import Server

PER_SECOND, SECONDS = 5, 20
FLOOD, THREADS, AT_ONCE = 600, 40, 16
WAITED = (
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at) * 1000)::float8 "
    "FROM jobs WHERE started_at IS NOT NULL"
)


async def latency(server: Server) -> None:
    """The time from sending a message to its stored reply, with a model that takes no time."""
    async with _client(server) as client:
        replied: dict[str, float] = {}
        watcher = asyncio.create_task(_watch(client, replied))
        await asyncio.sleep(0.5)
        await _send(client, "warm up", "warm")
        await asyncio.sleep(1)
        sent: dict[str, float] = {}
        for number in range(PER_SECOND * SECONDS):
            began = time.perf_counter()
            sent[await _send(client, f"what about {number}?", f"t{number % 10}")] = began
            await asyncio.sleep(max(0.0, 1 / PER_SECOND - (time.perf_counter() - began)))
        async with asyncio.timeout(60):
            while not sent.keys() <= replied.keys():
                await asyncio.sleep(0.05)
        watcher.cancel()
        waited = await _sql(client, WAITED)
    show("message committed → job started (p50)", float(waited), "ms", 100)
    taken = [(replied[job] - began) * 1000 for job, began in sent.items()]
    show(f"message → reply at {PER_SECOND}/s (p50)", percentile(taken, 0.5), "ms", 150)
    show(f"message → reply at {PER_SECOND}/s (p99)", percentile(taken, 0.99), "ms", 500)


async def throughput(server: Server, name: str) -> float:
    """Messages answered a second when they all come at once."""
    async with _client(server) as client:
        before = await _done(client)
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                await _send(client, f"what about {number}?", f"{name}{number % THREADS}")

        began, spent = time.perf_counter(), sum(server.resources.cpu_times()[:2])
        await asyncio.gather(*(one(number) for number in range(FLOOD)))
        async with asyncio.timeout(300):
            while await _done(client) < before + FLOOD:
                await asyncio.sleep(0.1)
        rate = FLOOD / (time.perf_counter() - began)
        spent = sum(server.resources.cpu_times()[:2]) - spent
    show(f"throughput, {name}", rate, "msg/s", 20, at_least=True)
    show(f"CPU of the server process for a message, {name}", spent / FLOOD * 1000, "ms")
    show(f"memory of the server process after it, {name}", server.resources.memory_info().rss / 2**20, "MB", 400)
    return rate


def at_rest(server: Server, seconds: float = 10) -> None:
    """What a server without work takes."""
    time.sleep(3)
    process = server.resources
    before = sum(process.cpu_times()[:2])
    time.sleep(seconds)
    show("idle CPU of the server process", (sum(process.cpu_times()[:2]) - before) / seconds * 100, "% core", 5)
    show("idle memory of the server process, the first encoder loaded", process.memory_info().rss / 2**20, "MB", 300)


def _client(server: Server) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {server.key}"}
    return httpx.AsyncClient(base_url=server.url, headers=headers, timeout=httpx.Timeout(30, read=None))


async def _send(client: httpx.AsyncClient, text: str, thread: str) -> str:
    answer = await client.post("/messages", json={"text": text, "thread": thread})
    answer.raise_for_status()
    return str(answer.json()["job_id"])


async def _watch(client: httpx.AsyncClient, replied: dict[str, float]) -> None:
    async with client.stream("GET", "/events") as stream:
        kind = ""
        async for line in stream.aiter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: ") and kind == "reply.written":
                replied[json.loads(line.removeprefix("data: "))["job_id"]] = time.perf_counter()


async def _done(client: httpx.AsyncClient) -> int:
    return int(await _sql(client, "SELECT count(*) FROM jobs WHERE status = 'done'"))


async def _sql(client: httpx.AsyncClient, statement: str) -> float:
    answer = await client.post("/sql", json={"statement": statement})
    answer.raise_for_status()
    return float(answer.json()["rows"][0][0])
