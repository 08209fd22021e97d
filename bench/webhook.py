"""How long a provider waits until its webhook is acknowledged, beside a handler that commits one row and no more."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.report import percentile, show
from bench.server import Server, free_port, serving
from laneway.store.embedded import EmbeddedPostgres

PER_SECOND, SECONDS, CHATS = 50, 10, 25
SETTLED = 10.0
SECRET, OWNER = "bench-secret", 4242
HEADER = {"X-Telegram-Bot-Api-Secret-Token": SECRET}


def measure(folder: Path) -> None:
    """The figures are printed."""
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_measure(folder))


async def _measure(folder: Path) -> None:
    """Both are given the same updates at the same pace, one after the other."""
    nobody = f"http://127.0.0.1:{free_port()}"
    with serving(
        folder / "home",
        TELEGRAM_BOT_TOKEN="4242:bench",
        TELEGRAM_WEBHOOK_SECRET=SECRET,
        LANEWAY_TELEGRAM_MODE="webhook",
        LANEWAY_TELEGRAM_API_URL=nobody,
        LANEWAY_TELEGRAM_OWNERS=str(OWNER),
        LANEWAY_PUBLIC_URL="https://bench.example",
        LANEWAY_MESSAGES_PER_MINUTE="100000",
    ) as server:
        # What is loaded in the first seconds of a server's life is measured by itself.
        await asyncio.sleep(SETTLED)
        ours = await _pace(f"{server.url}/telegram/webhook", HEADER)
        stored = _stored(server)
    with _bare(folder / "bare") as url:
        bare = await _pace(url, {})
    count = PER_SECOND * SECONDS
    show(f"webhook at {PER_SECOND}/s: acknowledged after (p50)", percentile(ours, 0.5) * 1000, "ms", 20)
    show(f"webhook at {PER_SECOND}/s: acknowledged after (p99)", percentile(ours, 0.99) * 1000, "ms", 250)
    show("webhook: a bare handler that commits one row (p50)", percentile(bare, 0.5) * 1000, "ms")
    show("webhook: ratio of the two", percentile(ours, 0.5) / percentile(bare, 0.5), "×", 4)
    show("webhook: updates stored of those acknowledged", 100 * stored / count, "%", 100, at_least=True)


async def _pace(url: str, headers: dict[str, str]) -> list[float]:
    """Seconds until each of the updates was acknowledged; none waits for the one before it."""
    taken: list[float] = []

    async def one(client: httpx.AsyncClient, number: int) -> None:
        began = time.perf_counter()
        answer = await client.post(url, json=_update(number), headers=headers)
        taken.append(time.perf_counter() - began)
        answer.raise_for_status()

    async with httpx.AsyncClient(timeout=30) as client:
        await asyncio.gather(*(one(client, -number) for number in range(1, 11)))
        taken.clear()
        begin, tasks = time.perf_counter(), []
        for number in range(PER_SECOND * SECONDS):
            await asyncio.sleep(max(0.0, begin + number / PER_SECOND - time.perf_counter()))
            tasks.append(asyncio.create_task(one(client, number)))
        await asyncio.gather(*tasks)
    return taken


def _update(number: int) -> dict[str, Any]:
    chat = OWNER if number % CHATS == 0 else 10_000 + number % CHATS
    sender = {"id": OWNER, "is_bot": False, "first_name": "Bench"}
    message = {
        "message_id": 1000 + number, "date": 1_790_000_000, "text": f"what about {number}?", "from": sender,
        "chat": {"id": chat, "type": "private", "first_name": "Bench"},
    }  # fmt: skip
    return {"update_id": 500_000 + number, "message": message}


def _stored(server: Server) -> int:
    sql = "SELECT count(*) FROM messages WHERE channel = 'telegram' AND author = 'user' AND text NOT LIKE '%-%'"
    answer = httpx.post(f"{server.url}/sql", json={"statement": sql}, headers={"X-API-Key": server.key}, timeout=30)
    return int(answer.json()["rows"][0][0])


@contextmanager
def _bare(folder: Path) -> Iterator[str]:
    """The bare handler is ready inside the block."""
    port = free_port()
    with EmbeddedPostgres(folder) as database:
        process = subprocess.Popen([sys.executable, "-m", "bench.bare_handler", database, str(port)])
        try:
            _until(lambda: httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=2).status_code == 200)
            yield f"http://127.0.0.1:{port}/webhook"
        finally:
            process.terminate()
            process.wait(10)


def _until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    raise RuntimeError("The bare handler was not ready within half a minute.")
