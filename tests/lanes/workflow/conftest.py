"""A Laneway that runs workflows, with a web server and a mail server on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.lanes.workflow.running_workflows import Workflows, workflowing
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


@pytest.fixture
def pages() -> Iterator[Pages]:
    with Pages() as served:
        yield served


@pytest.fixture
def smtp() -> Iterator[SmtpServer]:
    with SmtpServer("ann", "s3cret-word") as server:
        yield server


@pytest.fixture
async def flows(database_url: str, tmp_path: Path, smtp: SmtpServer) -> AsyncIterator[Workflows]:
    mail = {"smtp_url": smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
    async with workflowing(database_url, tmp_path, **mail) as opened:
        yield opened
