"""The whole server is killed while messages arrive by HTTP; senders that repeat themselves are answered once each."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from functools import partial
from pathlib import Path

import httpx
import pytest

from tests.cli.processes import eventually
from tests.faults.server import Server

MESSAGES, THREADS, KILLS, SOME = 120, 10, 4, 15


class Sender:
    """Sends messages until they are acknowledged, as a provider's webhook would."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._http = httpx.Client(base_url=server.url, headers=server.headers, timeout=5)
        self.acknowledged: dict[str, str] = {}

    def send(self, number: int) -> None:
        body = {"text": f"what about {number}?", "thread": f"t{number % THREADS}", "id": f"id-{number}"}
        deadline = time.monotonic() + 150
        while time.monotonic() < deadline:
            try:
                answer = self._http.post("/messages", json=body)
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            if answer.status_code in (200, 202):
                self.acknowledged[body["id"]] = answer.json()["job_id"]
                return
            time.sleep(0.1)
        raise AssertionError(f"message {number} was never acknowledged")

    def has_sent(self, wanted: int) -> bool:
        return len(self.acknowledged) >= wanted

    def sql(self, statement: str) -> list[list[int]]:
        return [list(row) for row in self._server.call("POST", "/sql", json={"statement": statement})["rows"]]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_server_killed_while_messages_arrive_acknowledges_answers_and_repeats_nothing(tmp_path: Path) -> None:
    numbers, lock = iter(range(MESSAGES)), threading.Lock()

    def keep_sending(sender: Sender) -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            sender.send(number)
            time.sleep(0.15)

    with Server(tmp_path, DEFAULT_MODEL="scripted") as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
        sender = Sender(server)
        senders = [pool.submit(keep_sending, sender) for _ in range(4)]
        for wanted in range(SOME, SOME * KILLS + 1, SOME):
            eventually(partial(sender.has_sent, wanted))
            server.kill()
            server.start()
        for done in senders:
            done.result()
        eventually(lambda: sender.sql("SELECT count(*) FROM jobs WHERE status <> 'done'") == [[0]], 60)
        assert len(set(sender.acknowledged.values())) == MESSAGES
        assert sender.sql("SELECT count(*) FROM messages WHERE author = 'user'") == [[MESSAGES]]
        assert sender.sql("SELECT count(*) FROM jobs WHERE status = 'done'") == [[MESSAGES]]
        answers = "SELECT count(*), count(DISTINCT meta->>'answers') FROM messages WHERE author = 'assistant'"
        assert sender.sql(answers) == [[MESSAGES, MESSAGES]]
