"""`laneway rehearse`: what a new rule, reactor or budget would have stopped in sessions that are over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import local, money, one_line, plain, print_json, print_table
from laneway.errors import BadInput, Unauthorized, Unavailable

if TYPE_CHECKING:
    from laneway.domain.session import SessionEvent
    from laneway.reactors import Reactor
    from laneway.reactors.rehearsal import Rehearsal

Make = Callable[[], "list[Reactor]"]


def rehearse(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Logs to rehearse with; none = the sessions found.")
    ] = None,
    rule: Annotated[list[Path] | None, typer.Option(help="A file of rules (.toml) or of reactors (.py).")] = None,
    sessions: Annotated[int, typer.Option(min=1, max=10_000, help="Without files: so many, the last ones.")] = 20,
    budget_tokens: Annotated[int | None, typer.Option(min=1, help="Would so many tokens have been enough?")] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.000001, help="Would so much money?")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0.01, help="Would so many minutes?")] = None,
    as_json: Json = False,
) -> None:
    """Show what a new rule or budget would have stopped.

    It may be a rule, a reactor or a budget; you see what it would have warned of, told or stopped, and when.
    Sessions are replayed as they happened, the clock's ticks included. Nothing is stopped, told or paid. Without files
    they are those that Laneway has kept and its own jobs, if its server answers, and those on this machine.
    """
    make = _reactors(rule or [], budget_tokens, budget_usd, max_minutes)
    sources = [_file(path) for path in files] if files else _found(sessions)
    done = [rehearsal for events in sources if (rehearsal := _rehearsed(events, make)) is not None]
    if as_json:
        print_json([one.as_json() for one in done])
    else:
        _say(done)
    if any(one.failures for one in done):
        raise typer.Exit(1)


def _rehearsed(events: Iterable[SessionEvent], make: Make) -> Rehearsal | None:
    from laneway.reactors.rehearsal import rehearsed

    # New ones for each session: reactors remember.
    return rehearsed(events, make())


def _reactors(rules: list[Path], tokens: int | None, usd: float | None, minutes: float | None) -> Make:
    from laneway.reactors.cost_budget import CostBudget
    from laneway.reactors.loading import load_file, made
    from laneway.reactors.time_budget import TimeBudget
    from laneway.reactors.token_budget import TokenBudget

    if not rules and tokens is None and usd is None and minutes is None:
        raise BadInput("There is nothing to rehearse.", hint="Name a --rule FILE, or a budget.")
    loaded = [(load_file(path), path.name) for path in rules]

    def make() -> list[Reactor]:
        found = [one for makers, name in loaded for one in made(makers, name)]
        found += [TokenBudget(tokens, kill=True)] if tokens is not None else []
        found += [CostBudget(usd, kill=True)] if usd is not None else []
        return found + ([TimeBudget(minutes, kill=True)] if minutes is not None else [])

    return make


def _file(path: Path) -> Iterable[SessionEvent]:
    from laneway.cli.sessions import find
    from laneway.observe.tail import whole

    found = find(str(path))
    return whole(found.path, session_id=found.session_id)


def _found(most: int) -> Iterator[Iterable[SessionEvent]]:
    """Sessions the server has, then those on this machine that it has not."""
    from laneway.observe.discovery import discover
    from laneway.observe.tail import whole

    known: set[str] = set()
    count = 0
    for session_id, events in _kept(most):
        known.add(session_id)
        count += 1
        yield events
    for one in discover(os.environ):
        if count >= most:
            return
        if not one.side and one.session_id not in known:
            count += 1
            yield whole(one.path, session_id=one.session_id)


def _kept(most: int) -> Iterator[tuple[str, Iterable[SessionEvent]]]:
    try:
        with connect() as client:
            page = client.kept_sessions(limit=min(most, 200))
            for one in page["items"]:
                yield one["session_id"], _events(str(one["id"]))
            left = most - len(page["items"])
            for job in client.jobs(limit=min(left, 200))["items"] if left > 0 else []:
                yield str(job["id"]), _events(str(job["id"]))
    except (Unavailable, Unauthorized):
        return


def _events(session: str) -> Iterator[SessionEvent]:
    from laneway.domain.session_json import from_json

    after: int | None = 0
    with connect() as client:
        while after is not None:
            page = client.replay(session, after=after)
            yield from (from_json(event) for event in page["items"])
            after = page["next"]


def _say(done: list[Rehearsal]) -> None:
    rows = [
        (one_line(one.session_id, 36), local(said.at.isoformat()), said.event, said.reactor, said.what, said.about,
         one_line(said.message, 100))
        for one in done
        for said in one.reactions
    ]  # fmt: skip
    titles = ("session", "at", "event", "reactor", "what", "about", "message")
    print_table(titles, rows, empty="Nothing would have been said.", wrapped="message")
    for one in done:
        if one.left_out:
            print(f"{plain(one.session_id)}: {one.left_out} further reactions are not shown.")
        for failure in one.failures:
            print(f"{plain(one.session_id)}: {plain(failure.reactor)} failed: {plain(failure.error)}")
    killed = [one for one in done if one.killed is not None]
    tokens, cost = sum(one.spared_tokens.total for one in killed), sum(one.spared_cost for one in killed)
    calls = sum(one.spared_calls for one in killed)
    print(
        f"{len(killed)} of {len(done)} sessions would have been ended, before {calls} further tool calls, "
        f"{tokens:,} tokens and {money(cost)}; {sum(one.count('notify') for one in done)} notifications, "
        f"{sum(one.count('warn') for one in done)} warnings."
    )
