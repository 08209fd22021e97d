"""A reminder is a row: the server is killed before it is due, and after the restart it comes, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import MODEL
from tests.cli.processes import eventually
from tests.faults.server import Server
from tests.servers import CallTool, OpenAIServer, Say


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_reminder_comes_once_though_the_server_was_killed_before_it_was_due(tmp_path: Path) -> None:
    with OpenAIServer() as model, Server(tmp_path, DEFAULT_MODEL=MODEL, OPENAI_BASE_URL=model.url) as server:
        model.script.then(CallTool("remind", {"text": "stretch", "when": "in 6 seconds"}), Say("I will."))
        # A question the rules are sure of, so that the small model takes none of the script's turns.
        server.shell.run("send", "how long has this server been up?", "--thread", "desk")
        server.kill()
        server.start()
        eventually(lambda: _reminders(server), 60)
        # Whatever else was to be said is said before the answer to what is asked later.
        model.script.then(Say("Still up."))
        server.shell.run("send", "how long has this server been up?", "--thread", "desk")
        assert len(_reminders(server)) == 1


def _reminders(server: Server) -> list[str]:
    """The reminder, as often as it was said; after a long start it also says that it is late."""
    said = [one["text"] for one in server.call("GET", "/messages")["items"] if one["author"] == "assistant"]
    return [text for text in said if text.startswith("Reminder") and text.endswith(": stretch")]
