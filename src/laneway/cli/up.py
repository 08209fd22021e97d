"""`laneway up`: the database, the engine and the web server in one process, until a signal ends it."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import socket

    from laneway.app import App
    from laneway.cli.lifetime import Ending
    from laneway.settings import Settings


def up(
    host: Annotated[str | None, typer.Option(help="Address to bind to.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 = any free one.")] = None,
    home: Annotated[Path | None, typer.Option(help="Data directory.")] = None,
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Make a new owner key; the old one stops working.")
    ] = False,
) -> None:
    """Start Laneway; Ctrl-C or SIGTERM ends it."""
    from laneway.cli.home import only_up
    from laneway.cli.lifetime import run
    from laneway.cli.log_lines import start_logging
    from laneway.cli.start import settings_with

    settings = settings_with(home=home, host=host, port=port)
    listener = bound(settings.host, settings.port)
    with listener, only_up(settings.home, address_of(listener)):
        start_logging(settings)
        code = run(_serve(settings, listener, new_key))
    raise typer.Exit(code)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there, or BadInput or Conflict; whoever calls early waits instead of being refused."""
    import socket

    from laneway.errors import BadInput, Conflict

    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except socket.gaierror:
        raise BadInput(f"`{host}` is not an address of this machine.", hint="Use 127.0.0.1 or 0.0.0.0.") from None
    except OSError as error:
        # EADDRINUSE is somebody else's doing; the rest (no such address, no right to) is in what was asked for.
        import errno

        if error.errno == errno.EADDRINUSE:
            raise Conflict(
                f"Port {port} on {host} is taken by another program.", hint="Stop that one, or choose another --port."
            ) from None
        raise BadInput(f"Nothing can listen on {host}:{port}: {error.strerror}.", hint="Choose another.") from None
    # asyncio does this only for sockets that name their protocol; without it every answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address_of(listener: socket.socket) -> str:
    """The address to open on this machine."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104  not bound here, only recognised
    return f"http://[{host}]:{port}" if ":" in host and not host.startswith("[") else f"http://{host}:{port}"


async def _serve(settings: Settings, listener: socket.socket, new_key: bool) -> int:
    from laneway.cli.start import prepared

    async with prepared(settings, _say, "laneway.cli.web_server") as ending:
        from laneway.app import running

        if not ending.asked:
            async with running(settings) as app:
                key = await _renewed_key(app) if new_key and app.new_key is None else app.new_key
                await _serve_web(app, listener, ending, key)
    return ending.exit_code


async def _serve_web(app: App, listener: socket.socket, ending: Ending, key: str | None) -> None:
    """The web server has served until somebody asked to end; from then on the engine takes nothing new."""
    import asyncio

    from laneway.cli.lifetime import settle
    from laneway.cli.web_server import WebServer
    from laneway.web.server import create_app, end_streams

    api = create_app(app)
    server = WebServer(api)
    await settle()
    serving = asyncio.create_task(server.serve([listener]), name="http")
    await server.has_started(serving)
    if not ending.asked:
        _announce(app, address_of(listener), key)
    waiting = asyncio.create_task(ending.wait())
    await asyncio.wait([serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if ending.asked:
        logging.getLogger("laneway.up").info("Stopping on signal %s.", ending.signal)
        _say("Stopping: what runs has up to 10 seconds; a second signal ends it at once.")
    app.engine.running.drain()
    end_streams(api)
    server.should_exit = True
    await serving


def _announce(app: App, address: str, key: str | None) -> None:
    from laneway.cli.lifetime import age

    lines = [f"Laneway is ready after {age():.1f} s.", f"Address: {address}", f"Model:   {app.models.description}"]
    if key is not None:
        lines.append(f"Key:     {key}")
        lines.append(f"         This is the owner's key, shown once; it is also in {app.settings.home / 'key'}.")
    print("\n".join(lines), flush=True)
    logging.getLogger("laneway.up").info("Ready at %s after %.1f s; model: %s.", address, age(), app.models.description)


async def _renewed_key(app: App) -> str:
    import secrets

    from laneway.app import keep_key
    from laneway.store import principals

    key = f"lw_{secrets.token_urlsafe(32)}"
    async with app.db.transaction() as tx:
        await principals.set_owner_key(tx, key)
        keep_key(app.settings.home, key)
    return key


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
