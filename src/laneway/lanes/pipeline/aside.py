"""Starts a process of ours behind whoever is served: where processors are few, it waits from its first moment on."""

from __future__ import annotations

import os
import runpy
import sys

BEHIND = 10


def main(module: str) -> None:
    """The module of this package has run as a program."""
    # Before it is loaded: that alone takes a processor for a tenth of a second.
    os.nice(BEHIND)
    runpy.run_module(f"{__package__}.{module}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
