"""`laneway sessions review`: a short report on a session that is over."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import plain, print_json
from laneway.errors import LanewayError, NotFound, Unauthorized, Unavailable

if TYPE_CHECKING:
    from laneway.observe.discovery import Found


def review(
    session: Annotated[str, typer.Argument(help="A file, the beginning of a session's id, or the id of a job.")],
    offline: Annotated[
        bool, typer.Option("--offline", help="By rules only: no model is asked, nothing is paid.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Report on a session that is over: what was asked, done, repeated, risked and paid.

    A log on this machine is read here; only figures and some lines without secrets go to the server, whose model writes
    the report. Without a server or a model the report is made by rules, and says so.
    """
    told = _reported(session, offline)
    if as_json:
        print_json(told)
        return
    print(told["label"])
    print(plain(told["text"]))


def _reported(session: str, offline: bool) -> dict[str, Any]:
    from laneway.reactors.ai_reviewer import by_rules

    found = _on_disk(session)
    if found is None:
        with connect() as client:
            return client.review(session=session)
    digest = _digest(found)
    if not offline:
        try:
            with connect() as client:
                return client.review(digest=digest.as_json())
        except (Unavailable, Unauthorized):
            report = by_rules(digest, "no server of yours answers")
    else:
        report = by_rules(digest)
    return {"text": report.text, "by": report.by, "label": report.label}


def _on_disk(session: str) -> Found | None:
    """The session's file on this machine; None if it can only be one of the server's."""
    from laneway.cli.sessions import find

    try:
        return find(session)
    except NotFound:
        with suppress(ValueError):
            UUID(session)
            return None
        raise


def _digest(found: Found) -> Any:
    from laneway.observe.tail import whole
    from laneway.reactors.ai_reviewer import digested
    from laneway.reactors.shipped import shipped

    made = digested(whole(found.path, session_id=found.session_id), shipped())
    if made is None:
        raise LanewayError(f"Nothing happened in {found.path}.", hint="`laneway sessions list` shows others.")
    return made
