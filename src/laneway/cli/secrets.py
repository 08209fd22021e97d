"""`laneway secrets`: what workflows and tools refer to by a name and nobody writes out."""

from __future__ import annotations

import getpass
import re
import sys
from typing import Annotated

import typer

from laneway.cli.connection import Json
from laneway.cli.printing import print_json, print_table
from laneway.errors import BadInput, NotFound
from laneway.settings import Settings, described
from laneway.settings.sources import keep_secrets, kept_secrets, secret_names

app = typer.Typer(help="Keep the secrets that workflows refer to as $secrets.NAME.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="Letters, digits and _, like SHOP_TOKEN.")]


@app.command("set")
def set_secret(name: Name) -> None:
    """Keep a secret; its value is asked for, or read from standard input, and never shown."""
    if not re.fullmatch(r"[A-Za-z_]\w{0,99}", name, re.ASCII) or name.startswith("LANEWAY_"):
        raise BadInput(f"`{name[:80]}` is no name for a secret.", hint="Use letters, digits and _, like SHOP_TOKEN.")
    if name in {env for *_, env in described()}:
        raise BadInput(f"`{name}` is a setting of Laneway.", hint="Settings stand in .env; choose another name.")
    value = (getpass.getpass(f"{name}: ") if sys.stdin.isatty() else sys.stdin.read()).rstrip("\r\n")
    if not value:
        raise BadInput("There is no value.", hint=f"Type one, or pipe it: `… | laneway secrets set {name}`.")
    home = Settings.load().home
    keep_secrets(home, kept_secrets(home) | {name: value})
    print(f"Kept. Workflows write it as $secrets.{name}, within a text as ${{$secrets.{name}}}.")


@app.command("list")
def list_secrets(as_json: Json = False) -> None:
    """List the names of the secrets, never their values."""
    found = sorted(secret_names(Settings.load().home).items())
    if as_json:
        print_json({"items": [{"name": name, "file": file} for name, file in found]})
    else:
        print_table(("NAME", "FILE"), found, empty="There are no secrets.")


@app.command("remove")
def remove_secret(name: Name) -> None:
    """Forget a secret; what refers to it fails from then on."""
    home = Settings.load().home
    kept = kept_secrets(home)
    if kept.pop(name, None) is None:
        raise NotFound(f"No secret `{name[:80]}` is kept here.", hint="A line of .env is deleted there, by hand.")
    keep_secrets(home, kept)
    print(f"`{name}` is forgotten.")
