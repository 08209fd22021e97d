"""What the tests of supervised runs share."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.observe.runs import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk of one's own; nothing started there outlives the test, whatever it showed."""
    desk = Desk(tmp_path)
    yield desk
    for line in desk.alive():
        # It may just be ending by itself.
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), 9)
