"""`laneway undo` says what was restored, what was left alone, and why."""

from __future__ import annotations

import json

from tests.cli.conftest import Server
from tests.servers import CallTool, Say


def test_undo_prints_what_it_did_and_a_second_one_that_it_was_done(server: Server) -> None:
    server.model.script.then(
        CallTool("write_file", {"path": "a.txt", "content": "a"}),
        CallTool("write_file", {"path": "b.txt", "content": "b"}),
        Say("Written."),
    )
    receipt = json.loads(server.shell.run("send", "what is the plan?", "--thread", "undone", "--json"))
    folder = server.home / "workspaces" / receipt["thread_id"]
    assert (folder / "a.txt").read_text() == "a"
    (folder / "b.txt").write_text("mine")
    told = server.shell.run("undo", receipt["job_id"], code=1)
    assert told == ("a.txt: removed\nb.txt: left alone, its content changed since\n1 restored, 1 left alone.\n")
    (folder / "b.txt").write_text("b")
    again = json.loads(server.shell.run("undo", receipt["job_id"], "--json"))
    assert again["restored"] == [{"path": "b.txt", "what": "removed"}]
    assert "was undone already" in server.shell.refused("undo", receipt["job_id"], code=1)
    assert list(folder.iterdir()) == []
