"""A server that is stopped the moment it has started stops: no loop of it misses that."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.running import laneway


@pytest.mark.parametrize("pause", [0.0, 0.005, 0.01, 0.02, 0.05])
async def test_a_server_stopped_right_after_its_start_ends(database_url: str, tmp_path: Path, pause: float) -> None:
    async with asyncio.timeout(30):
        async with laneway(database_url, tmp_path):
            await asyncio.sleep(pause)
