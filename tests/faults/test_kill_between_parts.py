"""The whole server is killed in the middle of a long answer on Telegram; every part arrives, and a copy says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.channels.contract import SENT_AGAIN
from tests.cli.processes import eventually
from tests.faults.server import Server
from tests.servers.telegram_server import Fine, Slow, TelegramServer

OWNER = 42
PARTS = [letter * 3500 for letter in "abcd"]
LAST = "Is that all?"


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
        environ = {
            "DATABASE_URL": database_url, "DEFAULT_MODEL": "scripted", "TELEGRAM_BOT_TOKEN": telegram.token,
            "LANEWAY_TELEGRAM_API_URL": telegram.url, "LANEWAY_TELEGRAM_OWNERS": str(OWNER),
            "LANEWAY_TELEGRAM_MODE": "polling",
        }  # fmt: skip
        with Server(tmp_path, **environ) as server:
            telegram.world.updates.append(telegram.updates.message("\n\n".join(PARTS), sender=OWNER))
            eventually(lambda: len(telegram.world.shown(OWNER)) == taken, 90)
            server.kill()
            server.start()
            eventually(lambda: len(telegram.world.shown(OWNER)) == len(PARTS) + 1, 90)
            # A second copy would come before the answer to what is asked later.
            telegram.world.updates.append(telegram.updates.message(LAST, sender=OWNER))
            eventually(lambda: LAST in telegram.world.shown(OWNER)[-1].text, 90)
        texts = [message.text for message in telegram.world.shown(OWNER)][:-1]
    copies = [text for text in texts if text.startswith(SENT_AGAIN)]
    originals = [text for text in texts if text not in copies]
    assert [text.strip()[-1] for text in originals] == list("abcd")
    assert [copy.removeprefix(SENT_AGAIN) for copy in copies] == [originals[taken - 1]]
    assert texts.index(copies[0]) == taken, "the copy comes right after the part it repeats"
