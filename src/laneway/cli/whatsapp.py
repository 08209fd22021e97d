"""`laneway whatsapp`: shows whether the business number is set up, and what it still lacks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from laneway.cli.connection import Json

if TYPE_CHECKING:
    from laneway.cli.checks import Finding

app = typer.Typer(help="See how the WhatsApp number is.", no_args_is_help=True)


@app.callback()
def whatsapp() -> None:
    """See how the WhatsApp number is."""


@app.command()
def status(as_json: Json = False) -> None:
    """Check the token, the number, its secrets and its webhook. The exit code is 1 if something does not work."""
    import asyncio

    from laneway.cli.whatsapp_checks import examined
    from laneway.errors import SettingsError
    from laneway.settings import Settings

    settings = Settings.load()
    if settings.whatsapp_token is None:
        raise SettingsError("There is no WhatsApp number here.", hint="Set WHATSAPP_TOKEN; docs/whatsapp.md says how.")

    async def look() -> list[Finding]:
        return [finding async for finding in examined(settings)]

    findings = asyncio.run(look())
    failed = any(finding.state == "fail" for finding in findings)
    if as_json:
        from laneway.cli.printing import print_json

        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    raise typer.Exit(1 if failed else 0)


def _show(findings: list[Finding]) -> None:
    from laneway.cli.printing import print_table

    rows = [(one.state, one.check, f"{one.says} {one.fix if one.state != 'ok' else ''}".strip()) for one in findings]
    print_table(("STATE", "CHECK", "FINDING"), rows, empty="", wrapped="FINDING")
