"""The whole server is killed while messages arrive by HTTP; senders that repeat themselves are answered once each."""

from __future__ import annotations

import concurrent.futures
import os
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.cli.processes import Running, Shell, free_port

MESSAGES, THREADS, KILLS = 120, 10, 4


class Sender:
    """Sends messages until they are acknowledged, as a provider's webhook would."""

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=5)
        self.acknowledged: dict[str, str] = {}

    def send(self, number: int) -> None:
        body = {"text": f"what about {number}?", "thread": f"t{number % THREADS}", "id": f"id-{number}"}
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            try:
                answer = self._http.post("/messages", json=body)
            except httpx.HTTPError:
                time.sleep(0.2)
                continue
            if answer.status_code in (200, 202):
                self.acknowledged[body["id"]] = answer.json()["job_id"]
                return
            time.sleep(0.2)
        raise AssertionError(f"message {number} was never acknowledged")

    def sql(self, statement: str) -> list[list[int]]:
        answer = self._http.post("/sql", json={"statement": statement}, timeout=30).raise_for_status()
        rows = answer.json()["rows"]
        return [list(row) for row in rows]

    def close(self) -> None:
        self._http.close()


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_server_killed_while_messages_arrive_acknowledges_answers_and_repeats_nothing(tmp_path: Path) -> None:
    port = free_port()
    shell = Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path / "home"), "DEFAULT_MODEL": "scripted"})
    server = Running(shell.start("up", "--port", str(port)), "Key:")
    sender = Sender(f"http://127.0.0.1:{port}", (tmp_path / "home" / "key").read_text().strip())
    numbers = iter(range(MESSAGES))
    lock = threading.Lock()

    def keep_sending() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            sender.send(number)
            time.sleep(0.15)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        senders = [pool.submit(keep_sending) for _ in range(4)]
        for _ in range(KILLS):
            time.sleep(1.2)
            os.kill(server.process.pid, signal.SIGKILL)
            server.ended()
            server = Running(shell.start("up", "--port", str(port)), "Model:")
        for done in senders:
            done.result()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and sender.sql("SELECT count(*) FROM jobs WHERE status <> 'done'") != [[0]]:
        time.sleep(0.2)
    assert len(set(sender.acknowledged.values())) == MESSAGES
    assert sender.sql("SELECT count(*) FROM messages WHERE author = 'user'") == [[MESSAGES]]
    assert sender.sql("SELECT count(*) FROM jobs WHERE status = 'done'") == [[MESSAGES]]
    assert sender.sql("SELECT count(*), count(DISTINCT meta->>'answers') FROM messages WHERE author = 'assistant'") == [
        [MESSAGES, MESSAGES]
    ]
    sender.close()
    server.stop()
