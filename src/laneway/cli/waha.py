"""`laneway waha`: how the bridge to WhatsApp is."""

from __future__ import annotations

import typer

from laneway.cli.connection import Json, connect
from laneway.cli.printing import local, plain, print_json

app = typer.Typer(help="See how the bridge to WhatsApp is.", no_args_is_help=True)


@app.callback()
def waha() -> None:
    """A group of one command, with room for more."""


@app.command()
def status(as_json: Json = False) -> None:
    """Ask the bridge how its session is; exits with 1 if it does not work."""
    with connect() as client:
        found = client.waha_status()
    if as_json:
        print_json(found)
    else:
        _show(found)
    raise typer.Exit(0 if found["works"] else 1)


def _show(found: dict[str, object]) -> None:
    version = f" (WAHA {found['version']})" if found["version"] else ""
    print(plain(f"Session {found['session']}: {found['status']}{version}"))
    if found["says"]:
        print(plain(str(found["says"])))
    if found["down_since"]:
        told = "; the owner was told" if found["told_at"] else ""
        print(f"Not working since {local(str(found['down_since']))}{told}.")
    if found["heard_until"]:
        print(f"Everything said until {local(str(found['heard_until']))} is stored.")
    print(f"Hidden ids with a known number: {found['lids']}.")
