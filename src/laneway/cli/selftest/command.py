"""`laneway selftest`: proofs a user can run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from laneway.cli.selftest.crash import CrashTest
    from laneway.cli.selftest.evidence import Verdict

app = typer.Typer(help="Prove on this machine what the documentation promises.", no_args_is_help=True)


@app.callback()
def selftest() -> None:
    """Prove on this machine what the documentation promises."""


@app.command()
def crash(
    kills: Annotated[int, typer.Option(help="How often the worker is killed.", min=15, max=5000)] = 200,
    seed: Annotated[int, typer.Option(help="Which order of deaths.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Kill a worker with SIGKILL at every step boundary and inside calls, and count what was lost or repeated.

    Runs on a fresh embedded database of its own; your data is not touched.
    """
    import asyncio

    from laneway.cli.selftest.crash import crash_test

    verdict, test = asyncio.run(crash_test(kills, seed, say=lambda line: typer.echo(line, err=True)))
    if as_json:
        typer.echo(json.dumps({**asdict(verdict), **_kills(test), "good": verdict.good}))
    else:
        typer.echo(report(verdict, test))
    raise typer.Exit(0 if verdict.good else 1)


def report(verdict: Verdict, test: CrashTest) -> str:
    """The figures for people."""
    kills = _kills(test)
    figures = {
        "kills": f"{kills['kills']} ({kills['kills_inside_calls']} inside model, tool and delivery calls)",
        "messages accepted": verdict.messages,
        "lost": verdict.lost,
        "repeated": verdict.repeated,
        "replies missing": verdict.replies_missing,
        "replies doubled unmarked": verdict.replies_doubled_unmarked,
        "calls cut in flight": verdict.calls_cut,
        "answers that died with their caller": verdict.calls_unstored,
        "uncertain effects, not repeated": verdict.effects_uncertain,
        "replies sent again, marked": verdict.replies_marked,
        "counted outside": f"{verdict.model_calls} model calls, {verdict.tool_calls} tool calls, "
        f"{verdict.deliveries} deliveries",
    }
    lines = [f"{name:<37}{figure}" for name, figure in figures.items()]
    return "\n".join([*lines, "All promises kept." if verdict.good else "A promise was broken."])


def _kills(test: CrashTest) -> dict[str, int]:
    inside = sum(1 for call in test.server.calls if call.killed)
    return {"kills": sum(test.deaths.values()), "kills_inside_calls": inside}
