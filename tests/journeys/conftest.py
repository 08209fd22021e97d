"""The doors of journeys: each fixture starts a whole Laneway on the test's own database, as the test chooses it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest
from starlette.responses import JSONResponse

from tests.journeys import tooling
from tests.journeys.redis_queue import Producer, producing
from tests.journeys.tables_asked import FLIGHTS, offline
from tests.journeys.telegram_chat import Chat, on_telegram
from tests.journeys.tooling import Door, Start
from tests.journeys.waha_number import Number, number
from tests.running import Laneway, laneway
from tests.sandboxing import boundary, strong, strongest
from tests.servers.pages import Pages
from tests.servers.waha_server import WahaServer
from tests.web.conftest import Door as WebDoor
from tests.web.conftest import Open, opened
from tests.whatsapp import Desk, desk

__all__ = ["boundary", "opened", "strong", "strongest"]


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Start[Laneway]:
    """Without any door."""
    return partial(laneway, database_url, tmp_path)


@pytest.fixture
def serve(database_url: str, tmp_path: Path) -> Start[Door]:
    """Behind HTTP, with a model that follows a script."""
    return partial(tooling.door, database_url, tmp_path)


@pytest.fixture
async def door(opened: Open) -> AsyncIterator[WebDoor]:
    """Behind HTTP, without a model; started already."""
    async with opened(offline()) as here:
        yield here


@pytest.fixture
def telegram(database_url: str, tmp_path: Path) -> Start[Chat]:
    return partial(on_telegram, database_url, tmp_path)


@pytest.fixture
def whatsapp(database_url: str, tmp_path: Path) -> Start[Desk]:
    return partial(desk, database_url, tmp_path)


@pytest.fixture
def bridge() -> Iterator[WahaServer]:
    """A WhatsApp bridge on loopback."""
    with WahaServer() as running:
        yield running


@pytest.fixture
def waha(bridge: WahaServer, database_url: str, tmp_path: Path) -> Start[Number]:
    return partial(number, bridge, database_url, tmp_path)


@pytest.fixture
def queue(redis_url: str, database_url: str, tmp_path: Path) -> Start[Producer]:
    return partial(producing, redis_url, database_url, tmp_path)


@pytest.fixture
def web() -> Iterator[Pages]:
    """A server elsewhere that has a table."""
    with Pages() as pages:
        pages.pages["/flights.json"] = JSONResponse({"flights": FLIGHTS})
        yield pages
