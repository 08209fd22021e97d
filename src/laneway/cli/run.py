"""`laneway run`: an agent in a terminal of its own, watched, and ended with everything it started when it has to be."""

from __future__ import annotations

import os
import secrets
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.cli.home import home_of
from laneway.errors import BadInput

if TYPE_CHECKING:
    from laneway.observe.supervised.armed import Armed
    from laneway.observe.supervised.order import Cause, Order
    from laneway.observe.supervised.report import RunReport
    from laneway.settings import Settings


def run(
    command: Annotated[list[str], typer.Argument(help="The agent and its arguments, after --.", metavar="COMMAND...")],
    budget_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of all kinds it may use.")] = None,
    budget_usd: Annotated[float | None, typer.Option(min=0.000001, help="Dollars it may cost.")] = None,
    max_minutes: Annotated[float | None, typer.Option(min=0.001, help="Minutes it may take.")] = None,
    kill_on: Annotated[
        str | None,
        typer.Option(
            help="What ends it: danger, loop, budget, reactor, with commas; else none. Usually budget,reactor."
        ),
    ] = None,
    freeze: Annotated[bool, typer.Option("--freeze", help="Stop it first and ask: resume, or kill.")] = False,
    freeze_wait: Annotated[
        float, typer.Option(min=0, help="Seconds a frozen agent waits where nobody can be asked.")
    ] = 60.0,
    grace: Annotated[float, typer.Option(min=0, max=600, help="Seconds between TERM and KILL.")] = 1.0,
    audit: Annotated[
        Path | None, typer.Option(help="Put down here, in a chain of hashes, every call that can change something.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report here: JSON if it ends in .json, or text.")] = None,
    provider: Annotated[
        str | None, typer.Option(help="Whose log to look for, if the command's name does not tell.")
    ] = None,
    keep_background: Annotated[
        bool,
        typer.Option("--keep-background", help="Leave running what the agent leaves behind when it ends by itself."),
    ] = False,
) -> None:
    """Run an agent, and pull the plug when it goes wrong.

    laneway run --budget-usd 5 --max-minutes 60 --kill-on danger,loop,budget -- claude "fix the tests"

    The agent has a terminal of its own. Its session log is watched, without a server; a reactor that wants an end gets
    it: the agent and everything it started are asked to end, then made to, and a report is left in LANEWAY_HOME/runs.

    Exit code: the agent's own; 128 + N if signal N ended it; 81 danger, 82 loop, 83 budget, 84 time, 85 a reactor of
    your own, 86 it could not be watched any more; 126 or 127 if it could not be started.
    """
    from laneway.observe.supervised.order import Order

    settings = _settings()
    order = Order(
        command=command,
        cwd=Path.cwd(),
        environ=dict(os.environ),
        run_id=secrets.token_hex(8),
        budget_tokens=budget_tokens or settings.reactor_budget_tokens,
        budget_usd=_dollars(budget_usd or settings.reactor_budget_usd),
        max_minutes=max_minutes or settings.reactor_max_minutes,
        kill_on=_causes(",".join({"budget", "reactor", *settings.reactor_kill_on}) if kill_on is None else kill_on),
        freeze=freeze,
        freeze_wait=freeze_wait,
        grace=grace,
        provider=provider,
        keep_background=keep_background,
    )
    _check(report, provider)
    done = _watched(order, settings, audit)
    _leave(done, report)
    raise typer.Exit(done.exit_code)


def _watched(order: Order, settings: Settings, audit: Path | None) -> RunReport:
    """The agent has ended, and whoever had to know was told."""
    from laneway.cli.run_notices import RunNotices
    from laneway.observe.supervised.run import supervise

    notices = RunNotices(settings, str(order.cwd))
    done = supervise(order, _armed(order, settings, audit), notices.put)
    notices.close()
    return done


def _settings() -> Settings:
    """The settings in force, without those of the folder, which is the agent's as much as the person's."""
    from laneway.settings import Settings

    return Settings.load(here=home_of(os.environ))


def _armed(order: Order, settings: Settings, audit: Path | None) -> Armed:
    """The reactors. They are loaded before the agent starts, so that it is never unwatched."""
    from dataclasses import replace

    from laneway.observe.supervised.arming import reactors_for
    from laneway.reactors.options import chosen

    options = chosen(settings)
    return reactors_for(order, replace(options, audit=audit or options.audit))


def _dollars(amount: Decimal | float | None) -> Decimal | None:
    return None if amount is None else Decimal(str(amount))


def _causes(words: str) -> frozenset[Cause]:
    from laneway.cli.watch import KILLS, choices
    from laneway.observe.supervised.order import Cause

    return frozenset(map(Cause, choices(words, "kill-on", KILLS)))


def _check(report: Path | None, provider: str | None) -> None:
    """The provider is known and the report can be written: better found out before the agent runs than after."""
    from laneway.observe.discovery import known_provider

    known_provider(provider)
    if report is None:
        return
    try:
        report.parent.mkdir(parents=True, exist_ok=True)
        report.touch(mode=0o600)
    except OSError as error:
        raise BadInput(f"The report cannot be written to {report}: {error.strerror}.") from None


def _leave(done: RunReport, asked: Path | None) -> None:
    """A run that was ended has left its report, and so has one that was asked for; the person is told where."""
    from laneway.observe.supervised.order import Cause
    from laneway.observe.supervised.report import write

    if asked is not None:
        write(done, asked)
    if done.cause is Cause.ITSELF and not done.survivors:
        return
    sys.stderr.write(done.as_text())
    # Also beside one that was asked for: whoever watches the sessions sees there that they were ended.
    _keep(done, home_of(os.environ) / "runs")


def _keep(done: RunReport, folder: Path) -> None:
    from laneway.observe.supervised.report import write

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for ending in ("json", "txt"):
            write(done, folder / f"{done.began:%Y%m%dT%H%M%SZ}-{done.run_id}.{ending}")
    except OSError as error:
        sys.stderr.write(f"laneway: the report could not be kept in {folder}: {error.strerror}.\n")
    else:
        sys.stderr.write(f"  report     {folder}/{done.began:%Y%m%dT%H%M%SZ}-{done.run_id}.{{json,txt}}\n")
