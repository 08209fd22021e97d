"""A conversation in the terminal: answers appear while they are written, questions are asked in place."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest

from laneway.cli.chat import Screen
from laneway.client import Client
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.cli.conftest import Server
from tests.cli.processes import COMMAND, Shell, eventually
from tests.servers import CallTool, Hang
from tests.servers import Say as Says
from tests.serving import Served, scripted, serving


def test_lines_from_a_pipe_are_answered_one_by_one_in_one_thread(server: Server) -> None:
    server.model.script.then(Says("First."), CallTool("server_info", {"topics": ["memory"]}), Says("Enough memory."))
    typed = "what is first?\n\nhow much memory is free?\n/quit\nwhat?\n"
    assert server.shell.run("chat", "--thread", "piped", typed=typed) == "First.\n[server_info]\nEnough memory.\n"
    server.shell.run("chat", "--thread", "piped", typed="thanks\n")
    assert server.shell.run("messages", "--thread", "console/piped").count("console") == 6


def test_the_answer_appears_while_it_is_written(server: Server) -> None:
    words, following, seen = "one two three four five six seven eight nine ten", Event(), Event()
    slowly = Hang(60, then=Says(words), after_pieces=3, until=seen)
    server.model.script.then(CallTool("server_info", {"topics": ["memory"]}), Hang(60, then=slowly, until=following))
    process = server.shell.start("chat", "--thread", "live")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("how much memory is free?\n")
    process.stdin.close()
    # What a model wrote before anybody followed is not shown while it is written.
    assert shown_until(process.stdout.fileno(), "\n") == "[server_info]\n"
    following.set()
    began = shown_until(process.stdout.fileno(), "one")
    # Nobody has written the rest yet.
    assert "ten" not in began
    seen.set()
    assert (began + process.stdout.read()).strip() == words
    assert process.wait(60) == 0


def shown_until(screen: int, text: str) -> str:
    """What came on this descriptor up to the text."""
    shown = ""
    while not shown.endswith(text):
        piece = os.read(screen, 1).decode()
        assert piece, f"{text!r} never came: {shown!r}"
        shown += piece
    return shown


def test_a_message_that_is_refused_does_not_end_the_chat(server: Server) -> None:
    server.model.script.then(Says("Still here."))
    assert server.shell.run("chat", "--thread", "x" * 201, typed="hello\n") == ""
    assert server.shell.run("chat", "--thread", "refused", typed="are you there?\n") == "Still here.\n"


def test_in_a_terminal_it_prompts_names_the_model_and_ctrl_c_ends_it_with_130(server: Server) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "chat"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True,
        cwd=server.shell.folder, env=server.shell.environment({}),
    )  # fmt: skip
    os.close(theirs)
    screen = shown_until(ours, "> ")
    os.write(ours, b"hello\n")
    screen += shown_until(ours, "/help shows what I know.\r\n")
    shown_until(ours, "> ")
    # The prompt is there a moment before the line is waited for, and a Ctrl-C in between waits for the next key.
    eventually(lambda: psutil.Process(process.pid).status() == psutil.STATUS_SLEEPING)
    process.send_signal(2)
    _, complaints = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130
    assert "Traceback" not in complaints
    assert "Model: openai: gpt-4.1" in screen


class Bell:
    """A tool that changes the world, and a script that uses it."""

    def __init__(self) -> None:
        self.rung = 0

        async def ring() -> dict[str, str]:
            """Rings a bell."""
            self.rung += 1
            return {"status": "success"}

        self.entry = ToolEntry(ring, changes=True, idempotent=False)

    def script(self, asked: Asked) -> Turn:
        return Say("Rung.") if asked.turn else Call("ring")


async def laneway(served: Served, *arguments: str, typed: str = "", folder: Path) -> str:
    """What the command printed while the server of this test answered it."""
    shell = Shell(folder, {"LANEWAY_URL": served.url, "LANEWAY_KEY": served.key})
    return await asyncio.to_thread(shell.run, *arguments, typed=typed)


@pytest.mark.parametrize(("answer", "says", "rung"), [("y", "Rung.", 1), ("what?\nn", "Not done: you said no.", 0)])
async def test_an_approval_is_asked_and_answered_in_the_chat(
    database_url: str, tmp_path: Path, answer: str, says: str, rung: int
) -> None:
    bell = Bell()
    async with serving(database_url, tmp_path, scripted(bell.script, tools=[bell.entry])) as served:
        printed = await laneway(served, "chat", typed=f"start the bell\n{answer}\n", folder=tmp_path)
    assert "May I do this? [ring]\nThe user wants done: start the bell [y/N/always]" in printed
    assert "laneway approve" not in printed
    assert printed.rstrip().endswith(says)
    assert bell.rung == rung


async def test_an_approval_is_listed_and_answered_by_commands(database_url: str, tmp_path: Path) -> None:
    bell = Bell()
    async with serving(database_url, tmp_path, scripted(bell.script, tools=[bell.entry])) as served:
        asked = await laneway(served, "send", "start the bell", folder=tmp_path)
        approval = asked.partition("laneway approve ")[2].partition("`")[0]
        assert approval in await laneway(served, "approvals", folder=tmp_path)
        assert "Approved: " in await laneway(served, "approve", approval, folder=tmp_path)
        assert "Nothing waits" in await laneway(served, "approvals", folder=tmp_path)
        assert approval in await laneway(served, "approvals", "--state", "all", folder=tmp_path)
        asked = await laneway(served, "send", "stop the bell", folder=tmp_path)
        approval = asked.partition("laneway approve ")[2].partition("`")[0]
        assert "Rejected: " in await laneway(served, "reject", approval, folder=tmp_path)
    assert bell.rung == 1


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        # A piece that is missing is made up for by the stored reply.
        ([("wrote", "a", 0, "Hel"), ("wrote", "a", 2, "world"), ("replied", "Hello world")], "Hel\nHello world\n"),
        # A new call for the same job begins the line again.
        (
            [("wrote", "a", 0, "Half an ans"), ("wrote", "b", 0, "A whole answer"), ("replied", "A whole answer")],
            "Half an ans\n… cut off; once more:\nA whole answer\n",
        ),
        # A call that finished is not called cut off.
        (
            [("wrote", "a", 0, "Let me look."), ("finished_call",), ("used_tool", "server_info"),
             ("wrote", "b", 0, "Done."), ("replied", "Done.")],
            "Let me look.\n[server_info]\nDone.\n",
        ),
        # What a model writes does not command the terminal.
        ([("wrote", "a", 0, "red \x1b[31malert\x07"), ("finish", "done")], "red [31malert\n(It was done.)\n"),
    ],
)  # fmt: skip
def test_what_is_shown_of_an_answer(
    capsys: pytest.CaptureFixture[str], said: list[tuple[Any, ...]], shown: str
) -> None:
    screen = Screen(Client("http://127.0.0.1:1", "none"))
    for what, *given in said:
        getattr(screen, what)(*given)
    assert capsys.readouterr().out == shown
