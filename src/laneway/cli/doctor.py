"""`laneway doctor`: examines everything Laneway needs, and starts nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.cli.connection import Json

if TYPE_CHECKING:
    from laneway.cli.checks import Finding
    from laneway.settings import Settings


def doctor(
    home: Annotated[Path | None, typer.Option(help="Data directory.")] = None,
    least_free_mb: Annotated[int, typer.Option(help="Free disk space that is enough, in megabytes.")] = 500,
    as_json: Json = False,
) -> None:
    """Check everything Laneway needs.

    The exit code is 1 if something does not work. It starts nothing and works while the server is down.
    """
    import asyncio

    environ = {**os.environ, **({"LANEWAY_HOME": str(home)} if home else {})}
    findings = asyncio.run(_examine(environ, least_free_mb))
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        from laneway.cli.printing import print_json

        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    raise typer.Exit(1 if failed else 0)


async def _examine(environ: dict[str, str], least_free_mb: int) -> list[Finding]:
    from laneway.cli import checks
    from laneway.cli.home import home_of
    from laneway.settings import Settings

    settled = checks.settings_right(environ)
    findings = [checks.python_version(sys.version_info[:3]), settled, *_examine_home(home_of(environ), least_free_mb)]
    if settled.state == "fail":
        # Nothing else can be found without knowing where to look.
        return findings
    settings = Settings.load(environ)
    findings.append(_examine_port(settings))
    findings += [finding async for finding in _examine_database(settings, environ)]
    findings += [finding async for finding in _examine_models(settings)]
    return findings


def _examine_home(home: Path, least_free_mb: int) -> Iterator[Finding]:
    from laneway.cli import checks

    yield checks.home_writable(home)
    yield checks.disk_free(home, least_free_mb)
    yield checks.key_file(home / "key")


def _examine_port(settings: Settings) -> Finding:
    from laneway.cli import checks
    from laneway.cli.home import address_of_up

    noted = address_of_up(settings.home)
    port = int(noted.rpartition(":")[2]) if noted else settings.port
    return checks.port_usable(settings.host, port, _who_answers(settings.host, port))


def _who_answers(host: str, port: int) -> str | None:
    import http.client

    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  not bound here, only recognised
    connection = http.client.HTTPConnection(host, port, timeout=3)
    try:
        # Asked without a key, Laneway refuses in a way nobody else does.
        connection.request("GET", "/status")
        return "laneway" if b"urn:laneway:problem" in connection.getresponse().read(2000) else "somebody else"
    except ConnectionRefusedError:
        return None
    except (OSError, http.client.HTTPException):
        return "somebody else"
    finally:
        connection.close()


async def _examine_database(settings: Settings, environ: dict[str, str]) -> AsyncIterator[Finding]:
    from laneway.cli import checks
    from laneway.errors import SettingsError, Unavailable
    from laneway.store.migrate import HEAD, current_version
    from laneway.store.vitals import running_address

    secret = settings.database_url
    address = secret.get_secret_value() if secret is not None else running_address(settings.home)
    if address is None:
        yield checks.database_reachable(None, None)
        return
    try:
        version = current_version(address)
    except (Unavailable, SettingsError) as error:
        yield checks.database_reachable(address, error)
        return
    yield checks.database_reachable(address, None)
    yield checks.tables_current(version, HEAD)
    if version == HEAD:
        async for finding in _examine_rows(settings, address, environ):
            yield finding


async def _examine_rows(settings: Settings, address: str, environ: dict[str, str]) -> AsyncIterator[Finding]:
    from laneway.cli import checks
    from laneway.clock import SystemClock
    from laneway.store import ledger, principals, vitals, workers
    from laneway.store.database import Database

    db = Database(address)
    await db.open()
    try:
        async with db.transaction() as tx:
            database_time, our_time = await vitals.now(tx), SystemClock().now()
            alive = await workers.alive(tx)
            key = environ.get("LANEWAY_KEY") or _read(settings.home / "key")
            whose = await principals.by_key(tx, key) if key else None
            today = await ledger.spent(tx, today=True)
    finally:
        await db.close()
    yield checks.worker_beats(alive, database_time, workers.SILENCE_SECONDS)
    yield checks.key_accepted(key, whose)
    yield checks.budget_left(today.cost, settings.budget_day_usd)
    yield checks.clocks_agree(database_time, our_time)


async def _examine_models(settings: Settings) -> AsyncIterator[Finding]:
    from laneway.cli import checks
    from laneway.errors import SettingsError
    from laneway.llm.choice import choose
    from laneway.llm.probe import probe
    from laneway.store.database import Database

    try:
        # The ledger is not needed to ask whether a key is valid, so this database is never opened.
        models = choose(settings, Database("postgresql://"))
    except SettingsError as error:
        yield checks.model_key("", str(error))
        return
    try:
        complaint = await probe(models)
    finally:
        await models.close()
    yield checks.model_key(models.description, complaint)
    yield checks.quota(complaint)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _show(findings: list[Finding]) -> None:
    from laneway.cli.printing import print_table

    rows = [(one.state, one.check, f"{one.says} {one.fix if one.state != 'ok' else ''}".strip()) for one in findings]
    print_table(("STATE", "CHECK", "FINDING"), rows, empty="", wrapped="FINDING")
