"""A conversation in the terminal: answers appear while they are written, questions are asked in place."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
from pathlib import Path
from threading import Event

import psutil
import pytest

from laneway.cli.chat import Screen
from laneway.client import Client
from laneway.lanes.tools import ToolEntry
from laneway.llm.scripted import Asked, Call, Say, Turn
from tests.cli.conftest import Server
from tests.cli.processes import COMMAND, Shell, eventually
from tests.servers import CallTool, CutStream, Delay, Hang
from tests.servers import Say as Says
from tests.servers.script import Order
from tests.serving import Served, scripted, serving


def test_lines_from_a_pipe_are_answered_one_by_one(server: Server) -> None:
    server.model.script.then(Says("First."), Says("Second."))
    printed = server.shell.run("chat", "--thread", "piped", typed="what is first?\n\nwhat is second?\n/quit\nwhat?\n")
    assert printed == "First.\nSecond.\n"


def test_a_chat_goes_on_in_the_same_thread(server: Server) -> None:
    server.shell.run("chat", "--thread", "again", typed="hello\n")
    server.shell.run("chat", "--thread", "again", typed="thanks\n")
    assert server.shell.run("messages", "--thread", "console/again").count("console") == 4


def test_the_answer_appears_while_it_is_written(server: Server) -> None:
    words, following, seen = "one two three four five six seven eight nine ten", Event(), Event()
    slowly = Hang(60, then=Says(words), after_pieces=3, until=seen)
    process = asked_and_followed(server, "live", Hang(60, then=slowly, until=following))
    following.set()
    began = shown_until(process, "one")
    # Nobody has written the rest yet.
    assert "ten" not in began
    seen.set()
    assert process.stdout is not None
    assert (began + process.stdout.read()).strip() == words
    assert process.wait(60) == 0


def asked_and_followed(server: Server, thread: str, *orders: Order) -> subprocess.Popen[str]:
    """A chat that has asked something and shows what is done: the model follows the orders after its first tool."""
    server.model.script.then(CallTool("server_info", {"topics": ["memory"]}), *orders)
    process = server.shell.start("chat", "--thread", thread)
    assert process.stdin is not None
    process.stdin.write("how much memory is free?\n")
    process.stdin.close()
    # What a model wrote before anybody followed is not shown while it is written.
    assert shown_until(process, "\n") == "[server_info]\n"
    return process


def shown_until(process: subprocess.Popen[str], text: str) -> str:
    """What the command printed up to now; the text is in it."""
    assert process.stdout is not None
    shown = ""
    while text not in shown:
        piece = os.read(process.stdout.fileno(), 1).decode()
        assert piece, f"{text!r} never came: {shown!r}"
        shown += piece
    return shown


def test_an_answer_that_was_cut_off_begins_again_visibly(server: Server) -> None:
    following = Event()
    slowly = Delay(Says("This will never come to its end, I fear."), per_piece=0.15)
    broken = Hang(60, then=CutStream(6, of=slowly), until=following)
    process = asked_and_followed(server, "cut", broken, Says("Whole again."))
    following.set()
    assert process.stdout is not None
    began, *rest = process.stdout.read().splitlines()
    assert process.wait(60) == 0
    assert began.startswith("This")
    assert rest == ["… cut off; once more:", "Whole again."]


def test_tools_are_named_as_they_are_used(server: Server) -> None:
    server.model.script.then(CallTool("server_info", {"topics": ["memory"]}), Says("Enough memory."))
    printed = server.shell.run("chat", "--thread", "tools", typed="how much memory is free?\n")
    assert printed == "[server_info]\nEnough memory.\n"


def test_a_message_that_is_refused_does_not_end_the_chat(server: Server) -> None:
    server.model.script.then(Says("Still here."))
    printed = server.shell.run("chat", "--thread", "x" * 201, typed="hello\n")
    assert printed == ""
    assert server.shell.run("chat", "--thread", "refused", typed="are you there?\n") == "Still here.\n"


def test_in_a_terminal_it_prompts_and_names_the_model(server: Server) -> None:
    process, ours = in_a_terminal(server)
    screen = _until(ours, "> ")
    os.write(ours, b"hello\n")
    screen += _until(ours, "/help shows what I know.\r\n")
    os.write(ours, b"/quit\n")
    process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert "Model: openai: gpt-4.1" in screen


def in_a_terminal(server: Server) -> tuple[subprocess.Popen[str], int]:
    """A chat in a terminal of its own, and our end of that terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "chat"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True,
        cwd=server.shell.folder, env=server.shell.environment({}),
    )  # fmt: skip
    os.close(theirs)
    return process, ours


def _until(terminal: int, text: str) -> str:
    """What the terminal showed up to the text."""
    shown = ""
    while text not in shown:
        shown += os.read(terminal, 1000).decode()
    return shown


def test_ctrl_c_ends_a_chat_with_130(server: Server) -> None:
    process, terminal = in_a_terminal(server)
    _until(terminal, "> ")
    # The prompt is there a moment before the line is waited for, and a Ctrl-C in between waits for the next key.
    eventually(lambda: psutil.Process(process.pid).status() == psutil.STATUS_SLEEPING)
    process.send_signal(2)
    _, complaints = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 130
    assert "Traceback" not in complaints


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


class Nobody(Client):
    """A client that is never asked."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", "none")


def test_a_missing_piece_falls_back_to_the_stored_reply(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(Nobody())
    screen.wrote("a", 0, "Hel")
    screen.wrote("a", 2, "world")
    screen.replied("Hello world")
    assert capsys.readouterr().out == "Hel\nHello world\n"


def test_a_new_call_for_the_same_job_restarts_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(Nobody())
    screen.wrote("a", 0, "Half an ans")
    screen.wrote("b", 0, "A whole answer")
    screen.replied("A whole answer")
    assert capsys.readouterr().out == "Half an ans\n… cut off; once more:\nA whole answer\n"


def test_a_call_that_finished_is_not_called_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(Nobody())
    screen.wrote("a", 0, "Let me look.")
    screen.finished_call()
    screen.used_tool("server_info")
    screen.wrote("b", 0, "Done.")
    screen.replied("Done.")
    assert capsys.readouterr().out == "Let me look.\n[server_info]\nDone.\n"


def test_what_a_model_writes_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(Nobody())
    screen.wrote("a", 0, "red \x1b[31malert\x07")
    screen.finish("done")
    assert "\x1b" not in capsys.readouterr().out
