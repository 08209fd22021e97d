"""A Laneway that runs workflows, shared by the tests of a module, with a web and a mail server on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from laneway.llm.scripted import Say, ScriptedModel
from tests.conftest import cloned
from tests.lanes.workflow.running_workflows import Workflows, workflowing
from tests.servers.pages import Pages
from tests.servers.smtp_server import SmtpServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share a Laneway run in the loop it runs in."""
    for item in items:
        if "shared_flows" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest.fixture
def pages() -> Iterator[Pages]:
    with Pages() as served:
        yield served


@pytest.fixture(scope="module")
def shared_smtp() -> Iterator[SmtpServer]:
    with SmtpServer("ann", "s3cret-word") as server:
        yield server


@pytest.fixture
def smtp(shared_smtp: SmtpServer) -> SmtpServer:
    shared_smtp.mails.clear()
    shared_smtp.orders.clear()
    return shared_smtp


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_flows(
    postgres: str, tmp_path_factory: pytest.TempPathFactory, shared_smtp: SmtpServer
) -> AsyncIterator[Workflows]:
    """A Laneway for all tests of a module; none of them may start one of its own."""
    mail = {"smtp_url": shared_smtp.url, "mail_from": "laneway@example.org", "mail_to": "owner@example.org"}
    shared: list[Workflows] = []
    model = ScriptedModel(lambda asked: shared[0].script(asked))
    with cloned(postgres) as url:
        async with workflowing(url, tmp_path_factory.mktemp("home"), model, **mail) as flows:
            shared.append(flows)
            yield flows


@pytest_asyncio.fixture(loop_scope="module")
async def flows(shared_flows: Workflows) -> AsyncIterator[Workflows]:
    """The Laneway that the module shares, without the workflows and runs of the tests before."""
    yield shared_flows
    shared_flows.script = lambda asked: Say("{}")
    await shared_flows.clear()
