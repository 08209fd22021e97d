"""A reminder is a row: the server is killed before it is due, and after the restart it comes, once."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.conftest import MODEL
from tests.cli.processes import Shell, eventually, free_port, up
from tests.servers import CallTool, OpenAIServer, Say


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_reminder_comes_once_though_the_server_was_killed_before_it_was_due(tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path / "home"), "LANEWAY_PORT": str(free_port())})
    with OpenAIServer() as model:
        place = {"DEFAULT_MODEL": MODEL, "OPENAI_BASE_URL": model.url}
        server = up(shell, **place)
        model.script.then(CallTool("remind", {"text": "stretch", "when": "in 6 seconds"}), Say("I will."))
        # A question the rules are sure of, so that the small model takes none of the script's turns.
        shell.run("send", "how long has this server been up?", "--thread", "desk")
        os.kill(server.process.pid, signal.SIGKILL)
        server.ended()
        time.sleep(6)
        server = up(shell, **place)
        try:
            eventually(lambda: _reminders(shell), 60)
            time.sleep(1)
            assert len(_reminders(shell)) == 1
        finally:
            server.stop()


def _reminders(shell: Shell) -> list[str]:
    """The reminder, as often as it was said; after a long start it also says that it is late."""
    said = [one["text"] for one in json.loads(shell.run("messages", "--json"))["items"] if one["author"] == "assistant"]
    return [text for text in said if text.startswith("Reminder") and text.endswith(": stretch")]
