"""`laneway worker`: one more process that runs jobs, on this machine or another, for the same database."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from laneway.settings import Settings

_log = logging.getLogger("laneway.worker")


def worker(home: Annotated[Path | None, typer.Option(help="Data directory.")] = None) -> None:
    """Run jobs without the web server, beside an `up`.

    It uses the database in DATABASE_URL, else the embedded one of the same data directory. Ctrl-C or SIGTERM ends it,
    a second one at once.
    """
    from laneway.cli.home import make
    from laneway.cli.lifetime import run
    from laneway.cli.log_lines import start_logging
    from laneway.cli.start import settings_with

    settings = settings_with(home=home)
    make(settings.home)
    start_logging(settings)
    raise typer.Exit(run(_work(settings)))


async def _work(settings: Settings) -> int:
    from laneway.cli.lifetime import age, settle
    from laneway.cli.start import prepared

    async with prepared(settings, _say, "laneway.app") as ending:
        from laneway.app import running

        if not ending.asked:
            async with running(settings) as app:
                await settle()
                _log.info("Worker %s is ready after %.1f s.", app.engine.worker, age())
                made = f" The owner's key was made: {settings.home / 'key'}." if app.new_key else ""
                print(
                    f"Worker {app.engine.worker} is ready after {age():.1f} s; model: {app.models.description}.{made}",
                    flush=True,
                )
                await ending.wait()
                _log.info("Worker %s is stopping on signal %s.", app.engine.worker, ending.signal)
                _say("Stopping: what runs has up to 10 seconds; a second signal ends it at once.")
    return ending.exit_code


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
