"""`laneway config`: the settings in force, where each comes from, and whether they are right."""

from __future__ import annotations

import os
import re
from typing import Any

import typer

from laneway.cli.connection import Json
from laneway.cli.printing import print_json, print_table

app = typer.Typer(help="Show and check the settings.", no_args_is_help=True)
MASK = "********"


@app.command()
def show(as_json: Json = False) -> None:
    """Show every setting, its value and where it comes from; secrets are masked."""
    lines = settings_in_force()
    if as_json:
        print_json({"items": lines})
        return
    rows = [(line["setting"], line["value"], line["source"], line["meaning"]) for line in lines]
    print_table(("SETTING", "VALUE", "FROM", "MEANING"), rows, empty="", wrapped="MEANING")


@app.command()
def check(as_json: Json = False) -> None:
    """Check the settings; exit code 2 and a sentence if one is wrong."""
    from laneway.settings import Settings

    settings = Settings.load()
    if as_json:
        print_json({"ok": True, "home": str(settings.home)})
    else:
        print(f"The settings are right. Data directory: {settings.home}")


def settings_in_force() -> list[dict[str, Any]]:
    """Each setting with its masked value and the strongest source that sets it."""
    from laneway.settings import Settings, described, layers

    settings = Settings.load()
    source: dict[str, str] = {}
    for name, values in layers(os.environ):
        source |= dict.fromkeys(values, name)
    home = {"setting": "LANEWAY_HOME", "environment": "LANEWAY_HOME", "value": str(settings.home)}
    lines = [{**home, "source": source["home"], "meaning": "Data directory."}]
    for name, info, key, env in described():
        lines.append(
            {
                "setting": key or env,
                "environment": env,
                "value": shown(getattr(settings, name)),
                "source": source.get(name, "default"),
                "meaning": info.description or "",
            }
        )
    return lines


def shown(value: Any) -> Any:
    """The value as it may be seen: a secret is masked, also one inside an address."""
    from pydantic import SecretStr

    if isinstance(value, SecretStr):
        return MASK
    if isinstance(value, str):
        return re.sub(r"(://[^/@:\s]*:)[^@\s]*@", rf"\1{MASK}@", value)
    if isinstance(value, tuple):
        return ", ".join(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)
