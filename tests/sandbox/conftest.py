"""What is tested of a boundary is tested of each; a web server stands for the world outside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandboxing import boundary, workspace
from tests.servers.pages import Pages

__all__ = ["boundary", "workspace"]


@pytest.fixture
def web() -> Iterator[Pages]:
    with Pages() as pages:
        yield pages
