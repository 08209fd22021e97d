"""Finds the server: LANEWAY_URL and LANEWAY_KEY, else the `up` of the data directory and its key file."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from laneway.cli.home import address_of_up, home_of
from laneway.errors import BadInput, NotFound

if TYPE_CHECKING:
    from laneway.client import Client

Json = Annotated[bool, typer.Option("--json", help="Print JSON, times in UTC.")]
Limit = Annotated[int, typer.Option(min=1, max=200, help="How many at most.")]
Owner = Annotated[str | None, typer.Option("--owner", help="Whose it is: name, id or address; yours if absent.")]
Before = Annotated[str | None, typer.Option(help="Go on where the list before ended.")]


def connect(owner: str | None = None) -> Client:
    """A client of the server this environment belongs to, for workflows of this owner."""
    import httpx

    from laneway.client import Client

    home = home_of(os.environ)
    # An `up` started with --port is found by what it noted in its data directory.
    running_here = None if os.environ.get("LANEWAY_URL") else address_of_up(home)
    try:
        client = Client.from_environment(home)
        if running_here is None:
            _check(client.url)
            return client.of(owner)
        client.close()
        return Client(running_here, client.key).of(owner)
    except (UnicodeError, httpx.InvalidURL):
        raise BadInput(
            "LANEWAY_URL or the key holds characters it cannot.",
            hint="Correct LANEWAY_URL, LANEWAY_KEY or the key file.",
        ) from None


def whose(owner: str | None) -> str:
    """The option of a printed command that goes on with this owner's workflows."""
    return f" --owner {quote(owner)}" if owner else ""


def _check(url: str) -> None:
    """Returns only if a request can be made to it."""
    if not url.startswith(("http://", "https://")):
        raise BadInput(f"`{url[:80]}` is not an address.", hint="Set LANEWAY_URL like http://127.0.0.1:8600.")


def text_of(argument: str) -> str:
    """The text given as an argument, or standard input for `-`; BadInput if it is no valid text."""
    try:
        text = sys.stdin.read() if argument == "-" else argument
        text.encode()
    except UnicodeError:
        raise BadInput("The text is not valid UTF-8.", hint="Convert it first.") from None
    return text


def as_id(text: str, what: str) -> str:
    """The id in its usual spelling, or BadInput."""
    try:
        return str(UUID(text))
    except ValueError:
        raise BadInput(
            f"`{text[:60]}` is not the id of {'an' if what[0] in 'aeiou' else 'a'} {what}.",
            hint=f"`laneway {what}s` lists them.",
        ) from None


def thread_id(client: Client, given: str) -> str:
    """The id of the thread with this id, name or channel/name; BadInput if several have the name."""
    try:
        return str(UUID(given))
    except ValueError:
        pass
    found = [
        thread
        for thread in _all_threads(client)
        if given in (thread["external_id"], f"{thread['channel']}/{thread['external_id']}")
    ]
    if not found:
        raise NotFound(f"There is no thread `{given[:60]}`.", hint="`laneway threads` lists them.")
    if len(found) > 1:
        names = " or ".join(f"{thread['channel']}/{given}" for thread in found)
        raise BadInput(f"Several threads are called `{given[:60]}`.", hint=f"Say {names}.")
    return str(found[0]["id"])


def _all_threads(client: Client) -> list[dict[str, Any]]:
    threads: list[dict[str, Any]] = []
    page = client.threads(limit=200)
    threads += page["items"]
    while page["next"]:
        page = client.threads(limit=200, before=page["next"])
        threads += page["items"]
    return threads
