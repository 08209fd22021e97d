"""`laneway version`."""

from __future__ import annotations

import platform

from laneway import __version__
from laneway.cli.connection import Json
from laneway.cli.printing import print_json


def version(as_json: Json = False) -> None:
    """Show the version of this program."""
    if as_json:
        print_json({"laneway": __version__, "python": platform.python_version()})
    else:
        print(f"laneway {__version__} (Python {platform.python_version()})")
