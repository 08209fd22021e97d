"""The whole server is killed in the middle of a long answer on Telegram; every part arrives, and a copy says so."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from laneway.channels.contract import SENT_AGAIN
from tests.cli.processes import Running, Shell, free_port
from tests.servers.telegram_server import Fine, Slow, TelegramServer

OWNER = 42
PARTS = [letter * 3500 for letter in "abcd"]


def until(true: Callable[[], object], what: str, seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("taken", [1, 2, 4], ids=["first", "second", "last"])
def test_a_server_killed_while_a_part_is_being_sent_sends_that_part_again_marked_and_no_other(
    tmp_path: Path, database_url: str, taken: int
) -> None:
    with TelegramServer() as telegram:
        telegram.world.chat(OWNER)
        # Telegram takes this part and tells nobody: to us it is uncertain.
        telegram.orders.give("sendMessage", *[Fine()] * (taken - 1), Slow(120), chat=OWNER)
        shell = Shell(tmp_path, {
            "LANEWAY_HOME": str(tmp_path / "home"), "DATABASE_URL": database_url, "DEFAULT_MODEL": "scripted",
            "TELEGRAM_BOT_TOKEN": telegram.token, "LANEWAY_TELEGRAM_API_URL": telegram.url,
            "LANEWAY_TELEGRAM_OWNERS": str(OWNER), "LANEWAY_TELEGRAM_MODE": "polling",
        })  # fmt: skip
        port = str(free_port())
        server = Running(shell.start("up", "--port", port), "Key:")
        update = telegram.updates.message("\n\n".join(PARTS), sender=OWNER)
        telegram.world.updates.append(update)
        until(lambda: len(telegram.world.shown(OWNER)) == taken, f"part {taken} never came")
        os.kill(server.process.pid, signal.SIGKILL)
        server.ended()
        server = Running(shell.start("up", "--port", port), "Model:")
        until(lambda: len(telegram.world.shown(OWNER)) == len(PARTS) + 1, "the rest never came")
        time.sleep(2)
        server.stop()
        texts = [message.text for message in telegram.world.shown(OWNER)]
    copies = [text for text in texts if text.startswith(SENT_AGAIN)]
    originals = [text for text in texts if text not in copies]
    assert [text.strip()[-1] for text in originals] == list("abcd")
    assert [copy.removeprefix(SENT_AGAIN) for copy in copies] == [originals[taken - 1]]
    assert texts.index(copies[0]) == taken, "the copy comes right after the part it repeats"
