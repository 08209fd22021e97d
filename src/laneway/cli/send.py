"""`laneway send`: one message in, its reply out."""

from __future__ import annotations

import json
import mimetypes
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Json, connect, text_of
from laneway.cli.printing import plain, print_json
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.cli.follow import Asked
    from laneway.client import Client


def send(
    text: Annotated[str, typer.Argument(help="What to say; - reads it from standard input.")],
    thread: Annotated[str, typer.Option(help="The conversation it belongs to.")] = "main",
    mode: Annotated[str, typer.Option(help="AUTO, CLASSIFY, EXECUTE, ANSWER or PLAN.")] = "AUTO",
    lane: Annotated[str | None, typer.Option(help="The lane to take; unset = by classification.")] = None,
    file: Annotated[
        list[Path] | None, typer.Option(metavar="PATH", help="A file to attach; may be given again.")
    ] = None,
    payload: Annotated[str | None, typer.Option(help="Further data, as a JSON object.")] = None,
    id: Annotated[str | None, typer.Option(help="Your id of this message; sent twice, it runs once.")] = None,
    wait: Annotated[bool, typer.Option(help="Wait for the reply and print it.")] = True,
    as_json: Json = False,
) -> None:
    """Send a message and print the reply.

    The exit code is 1 if the job failed or was stopped, 0 if it is done or waits for an approval.
    """
    files = [_attached(path) for path in file or []]
    words, given = text_of(text), _parsed(payload)
    with connect() as client:
        receipt = client.send(words, thread=thread, mode=mode.upper(), lane=lane, id=id, payload=given, files=files)
        if receipt["duplicate"]:
            print("This id was received before; nothing is run again.", file=sys.stderr)
        if wait:
            raise typer.Exit(_wait(client, receipt, as_json))
    if as_json:
        print_json(receipt)
    else:
        print(f"Message {receipt['message_id']}\nJob     {receipt['job_id']}")


class _Collected:
    """Keeps what a job said until it ends or asks."""

    def __init__(self) -> None:
        self.replies: list[str] = []

    def wrote(self, call: str, number: int, text: str) -> None:
        """The whole reply is printed in the end."""

    def finished_call(self) -> None:
        """Only the reply is printed."""

    def used_tool(self, tool: str) -> None:
        """Only the reply is printed."""

    def replied(self, text: str) -> None:
        self.replies.append(text)

    def asked(self, question: Asked) -> bool:
        answer = f"laneway approve {question.approval_id}"
        if question.choices:
            lines = [f"`{answer} --choice {choice['label']}`: {choice['text']}" for choice in question.choices]
            self.replies.append("\n".join([question.why, *lines]))
        else:
            reject = f"laneway reject {question.approval_id}"
            self.replies.append(f"{question.shown()}{question.why}\n`{answer}` or `{reject}`")
        return False


def _wait(client: Client, receipt: dict[str, Any], as_json: bool) -> int:
    """The reply is printed; returns the exit code."""
    from laneway.cli.follow import follow

    collected = _Collected()
    try:
        outcome = follow(client, receipt["job_id"], collected)
    except KeyboardInterrupt:
        print(f"It goes on without you: laneway why {receipt['message_id']}", file=sys.stderr)
        raise
    if as_json:
        print_json({**receipt, "outcome": outcome, "replies": collected.replies})
    else:
        print("\n".join(plain(reply) for reply in collected.replies) or f"(The job was {outcome}.)")
    return 1 if outcome in ("failed", "cancelled") else 0


def _attached(path: Path) -> tuple[str, bytes, str]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}.", hint="Check the name.") from None
    return path.name, content, mimetypes.guess_type(path.name)[0] or "application/octet-stream"


def _parsed(payload: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(payload) if payload is not None else None
    except ValueError as error:
        raise BadInput(f"The payload is not JSON: {error}.", hint='Write it like {"name": "value"}.') from None
    if value is not None and not isinstance(value, dict):
        raise BadInput("The payload must be a JSON object.", hint='Write it like {"name": "value"}.')
    return value
