"""`laneway watch`: the sessions of other agents on this machine, live, with what reactors say about them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.reactors.options import Options
    from laneway.settings import Settings


def watch(
    provider: Annotated[
        str | None, typer.Option(help="Only this one: claude-code, codex, gemini-cli, copilot-cli, opencode or pi.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(help="Only this one: a file, from its beginning, or the beginning or end of a session's id."),
    ] = None,
    side: Annotated[
        bool, typer.Option("--all", help="Show what sub-agents do, too; they are watched in any case.")
    ] = False,
    tui: Annotated[bool, typer.Option("--tui", help="All sessions in a table that fills the screen.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, times in UTC.")] = False,
    kill_on: Annotated[
        str | None,
        typer.Option(help="What ends an agent whose process can be told for sure: danger, loop, budget, reactor."),
    ] = None,
    notify: Annotated[
        str | None, typer.Option(help="How you are told: desktop, bell, webhook, channel; none for not at all.")
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(help="Put down here, in a chain of hashes, every call that can change something.")
    ] = None,
    poll: Annotated[bool, typer.Option("--poll", help="Look at the files again and again; for network disks.")] = False,
) -> None:
    """Watch other agents' sessions as they happen.

    Shows sessions that are at work now and those that begin later. Below each event reactors say what is wrong with it:
    danger, loops, budgets, errors in a row, standstill; if somebody should know, you are told. What happened before is
    not told again; of a file that you name it is shown. The settings `reactors` and `notify` say what for and how;
    reactors of your own lie in LANEWAY_HOME/reactors. No server is needed; if one runs, you are told by your channels,
    too. Ctrl-C ends it.
    """
    import asyncio

    from laneway.cli.watch_live import Asked, live
    from laneway.observe.discovery import known_provider
    from laneway.settings import Settings

    if tui and as_json:
        raise BadInput("--tui and --json exclude each other.", hint="Choose one.")
    if tui and not sys.stdout.isatty():
        raise BadInput("--tui needs a terminal.", hint="Leave it out, or use --json.")
    settings = Settings.load()
    asked = Asked(
        provider=known_provider(provider),
        session=session,
        side=side,
        form="tui" if tui else "json" if as_json else "lines",
        ways=frozenset(settings.notify_by) if notify is None else choices(notify, "notify", WAYS),
        poll=poll or settings.watch_polling,
    )
    raise typer.Exit(asyncio.run(live(settings, asked, _options(settings, kill_on, audit))))


WAYS = ("desktop", "bell", "webhook", "channel")
KILLS = ("danger", "loop", "budget", "reactor")


def _options(settings: Settings, kill_on: str | None, audit: Path | None) -> Options:
    from dataclasses import replace

    from laneway.reactors.options import chosen

    options = chosen(settings)
    options = replace(options, audit=audit or options.audit)
    for fault in options.own.faults:
        print(f"No reactors from {fault.reactor}: {fault.error}", file=sys.stderr)
    if kill_on is None:
        return options
    return replace(options, kill_on=choices(kill_on, "kill-on", KILLS))  # type: ignore[arg-type]


def choices(given: str, option: str, known: tuple[str, ...]) -> frozenset[str]:
    """What an option names, with commas between."""
    named = {word.strip().lower() for word in given.split(",")} - {"", "none"}
    if unknown := named - set(known):
        raise BadInput(
            f"--{option} knows no {', '.join(sorted(unknown))[:80]}.",
            hint=f"It takes {', '.join(known)}, with commas, or none.",
        )
    return frozenset(named)
