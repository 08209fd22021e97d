"""LANEWAY_TEST_WITHOUT=bubblewrap,tesseract: the tests, and what they start, find none of these installed programs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest

WITHOUT = "LANEWAY_TEST_WITHOUT"
PROGRAMS = {"bubblewrap": "bwrap", "tesseract": "tesseract"}


def hidden() -> frozenset[str]:
    """The names that the variable hides."""
    return frozenset(name.strip() for name in os.environ.get(WITHOUT, "").split(",") if name.strip())


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """From now on PATH leads to none of the hidden programs; workers and whatever a test starts inherit it."""
    if unknown := sorted(hidden() - set(PROGRAMS)):
        raise pytest.UsageError(f"{WITHOUT} hides {', '.join(PROGRAMS)}, not {', '.join(unknown)}.")
    programs = {PROGRAMS[name] for name in hidden()}
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    if any((folder / program).exists() for folder in folders for program in programs):
        place = tempfile.TemporaryDirectory(prefix="laneway-without-")
        config.add_cleanup(place.cleanup)
        # Tests run as root start programs as other users.
        Path(place.name).chmod(0o755)
        os.environ["PATH"] = os.pathsep.join(str(_without(programs, folder, Path(place.name))) for folder in folders)


def _without(programs: Iterable[str], folder: Path, place: Path) -> Path:
    """The folder, or where it holds one of the programs, a new one with links to everything else in it."""
    if not any((folder / program).exists() for program in programs):
        return folder
    new = Path(tempfile.mkdtemp(dir=place))
    new.chmod(0o755)
    for found in folder.iterdir():
        if found.name not in programs:
            (new / found.name).symlink_to(found.absolute())
    return new
