"""A worker dies in calls it is making: what they may have cost is counted, and nobody fails for want of that money."""

from __future__ import annotations

import signal
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.cli.processes import Running, eventually
from tests.faults.server import Server
from tests.servers import AnthropicServer, Hang, Say

SHORT = Say("Here.", tokens_in=10, tokens_out=5, cache_read=0, cache_write=0)
SLOTS, REQUESTS = 2, 14
"""Calls one process makes at a time, and all of them."""


def test_those_who_wait_for_the_calls_of_a_dead_worker_go_on(tmp_path: Path) -> None:
    with AnthropicServer() as provider:
        provider.script.default = SHORT
        settings = {
            "ANTHROPIC_API_KEY": "sk-test-123456", "ANTHROPIC_BASE_URL": provider.url,
            "DEFAULT_MODEL": "anthropic:claude-sonnet-5-5", "LANEWAY_WORKERS": "1", "LANEWAY_OWNER_SLOTS": "1",
            "LANEWAY_RETRY_SECONDS": "0.2",
        }  # fmt: skip
        with Server(tmp_path, **settings) as server:

            def rows(statement: str) -> list[list[Any]]:
                return [list(row) for row in server.call("POST", "/sql", json={"statement": statement})["rows"]]

            def ask(number: int) -> str:
                given = {"classification": {"intent": "question", "summary": "Asks."}}
                body = {"text": f"what is {number}?", "thread": f"t{number}", "payload": given}
                return str(server.call("POST", "/messages", json=body)["job_id"])

            server.until(f"/jobs/{ask(0)}", "done")
            [[worst]] = rows("SELECT reserved_cost FROM token_ledger")
            # Room for what the dead one can have spent, and for one call and a half beside.
            cap = float(Decimal(str(worst)) * Decimal(SLOTS + 1.5))
            server.call("PUT", "/budget", json={"subject": "all", "period": "day", "usd": cap})
            gate = threading.Event()
            provider.script.default = Hang(100, SHORT, until=gate)
            worker = Running(server.shell.start("worker"), "Worker ")
            try:
                asked = [ask(number) for number in range(1, REQUESTS + 1)]
                eventually(lambda: len(rows("SELECT 1 FROM token_ledger WHERE state = 'reserved'")) == SLOTS + 1, 60)
                worker.signal(signal.SIGKILL)
                worker.ended()
            finally:
                worker.stop()
            # Their leases pass, or the process is found dead: what they can have cost at most is spent.
            held = rows("SELECT worker, count(*) FROM jobs WHERE status = 'running' GROUP BY 1")
            eventually(lambda: not rows("SELECT 1 FROM jobs j JOIN workers w ON w.id = j.worker "
                                        "WHERE j.status = 'running' AND w.gone_at IS NOT NULL"), 60)  # fmt: skip
            gate.set()
            ended = [server.until(f"/jobs/{job}", "done", "failed") for job in asked]
            assert [job["error"] for job in ended] == [None] * REQUESTS, held
            states = dict(map(tuple, rows("SELECT state, count(*) FROM token_ledger GROUP BY 1")))
            assert states.pop("settled") == REQUESTS + 1
            assert set(states) <= {"cut", "released"}
