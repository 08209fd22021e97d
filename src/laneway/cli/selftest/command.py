"""`laneway selftest`: proofs a user can run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

app = typer.Typer(help="Prove on this machine what the documentation promises.", no_args_is_help=True)


@app.callback()
def selftest() -> None:
    """Prove on this machine what the documentation promises."""


@app.command()
def crash(
    kills: Annotated[int, typer.Option(help="How often the worker is killed.", min=15, max=5000)] = 200,
    seed: Annotated[int, typer.Option(help="Which order of deaths.")] = 1,
    freeze: Annotated[float, typer.Option(help="For how many seconds a worker is frozen.", min=1, max=3600)] = 60,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Kill a worker with SIGKILL at every step boundary and inside calls, and count what was lost or repeated.

    Then PostgreSQL, the intake and one of two workers are killed, and one of two is frozen. Runs on a fresh embedded
    database of its own; your data is not touched.
    """
    import asyncio

    from laneway.cli.selftest.crash import crash_test

    verdict, test = asyncio.run(crash_test(kills, seed, lambda line: typer.echo(line, err=True), freeze))
    inside = sum(1 for call in test.server.calls if call.killed)
    figures = {"kills": sum(test.deaths.values()), "kills_inside_calls": inside, **test.deaths, **asdict(verdict)}
    if as_json:
        typer.echo(json.dumps({**figures, "good": verdict.good}))
    else:
        typer.echo("\n".join(f"{name.replace('_', ' '):<37}{figure}" for name, figure in figures.items()))
        typer.echo("All promises kept." if verdict.good else "A promise was broken.")
    raise typer.Exit(0 if verdict.good else 1)
