"""`laneway chat`: a conversation in the terminal, the answers shown while they are written."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.cli.connection import connect
from laneway.cli.printing import plain
from laneway.errors import LanewayError, Unauthorized, Unavailable

if TYPE_CHECKING:
    from laneway.cli.follow import Asked
    from laneway.client import Client

YES, NO, ALWAYS = {"y", "yes"}, {"n", "no", ""}, {"a", "always"}
QUIT = {"/quit", "/exit", "/q"}


def chat(thread: Annotated[str, typer.Option(help="The conversation to go on with.")] = "main") -> None:
    """Talk to Laneway in the terminal.

    /help shows what it knows, /quit ends. Lines from a pipe are answered one by one.
    """
    with connect() as client:
        if sys.stdin.isatty():
            print(f"Model: {client.status().get('model', 'unknown')}. /help shows what I know, /quit ends.")
        while (line := ask("> ")) is not None and line.strip().lower() not in QUIT:
            if line.strip():
                _exchange(client, thread, line)


def ask(prompt: str) -> str | None:
    """The next line the user gave, without its end; None when there are no more."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  gives input() a history and editing
        try:
            return input(prompt)
        except EOFError:
            print()
            return None
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _exchange(client: Client, thread: str, line: str) -> None:
    from laneway.cli.follow import follow

    screen = Screen(client)
    try:
        receipt = client.send(line, thread=thread, channel="console")
        outcome = follow(client, receipt["job_id"], screen)
        screen.finish(outcome)
    except (Unavailable, Unauthorized):
        raise
    except LanewayError as error:
        # A message that was refused does not end the conversation.
        print(f"Error: {error}", file=sys.stderr)


class Screen:
    """Shows one answer: as it is written where that can be followed, else when it is stored."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._call, self._text, self._expected = "", "", 0
        self._finished = False
        self._replied = False

    def wrote(self, call: str, number: int, text: str) -> None:
        if call != self._call:
            self._begin(call)
        if number != self._expected:
            # A piece is missing, so the rest cannot be read; the stored reply will be shown instead.
            self._expected = -1
            return
        self._expected += 1
        self._text += text
        print(plain(text), end="", flush=True)

    def finished_call(self) -> None:
        self._finished = True

    def used_tool(self, tool: str) -> None:
        self._finished = True
        self._end_line()
        print(f"[{plain(tool)}]")

    def replied(self, text: str) -> None:
        shown = self._text.strip() == text.strip()
        self._end_line()
        if not shown:
            print(plain(text))
        self._call, self._text, self._replied = "", "", True

    def asked(self, question: Asked) -> bool:
        """The user has answered, or there was nobody to answer."""
        self._end_line()
        return self._choose(question) if question.choices else self._approve(question)

    def _approve(self, question: Asked) -> bool:
        answer = self._answer(
            f"{plain(question.shown())}{plain(question.why)} [y/N/always]", YES | NO | ALWAYS, question
        )
        if answer is None:
            return False
        said = "reject" if answer in NO else "approve"
        self._client.answer(question.approval_id, said, always=answer in ALWAYS)
        return True

    def _choose(self, question: Asked) -> bool:
        for number, choice in enumerate(question.choices, 1):
            print(f"{number}. {plain(choice['text'])}")
        numbers = [str(number) for number in range(1, len(question.choices) + 1)]
        answer = self._answer(f"I am not sure what you want: {' or '.join(numbers)}?", set(numbers), question)
        if answer is None:
            return False
        self._client.answer(question.approval_id, "approve", question.choices[int(answer) - 1]["label"])
        return True

    def _answer(self, prompt: str, possible: set[str], question: Asked) -> str | None:
        """One of the possible answers; None when there is nobody to give it."""
        while True:
            print(f"{prompt} ", end="" if sys.stdin.isatty() else "\n", flush=True)
            answer = ask("")
            if answer is None:
                print(f"It waits: laneway approve {question.approval_id}", file=sys.stderr)
                return None
            if answer.strip().lower() in possible:
                return answer.strip().lower()

    def finish(self, outcome: str) -> None:
        """Whatever became of the job, the line is ended and the user knows."""
        self._end_line()
        if not self._replied and outcome != "waiting":
            print(f"(It was {outcome}.)")

    def _begin(self, call: str) -> None:
        # Another call while this one has not finished means that it was cut off: its text counts no more.
        if self._text:
            self._end_line()
            if not self._finished:
                print("… cut off; once more:")
        self._call, self._text, self._expected, self._finished = call, "", 0, False

    def _end_line(self) -> None:
        if self._text and not self._text.endswith("\n"):
            print(flush=True)
            self._text += "\n"
