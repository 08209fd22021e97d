"""A line to the database that is cut when it should say that replies were claimed: they are sent, once."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from laneway.clock import FakeClock
from laneway.domain.judgement import OutboxState
from laneway.store.database import Database
from tests.channels.test_delivery_faults import Provider, delivering, rows, until, write

SOCKET = ".s.PGSQL.5432"


class Line:
    """A line to PostgreSQL that is cut, once, after a claim was committed and before anybody is told so."""

    def __init__(self, server: str) -> None:
        self._server, self.cut = server, False

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """What the two say goes to and fro."""
        there, back = await asyncio.open_unix_connection(self._server)
        answers = asyncio.create_task(_pass_on(there, writer))
        claiming = False
        with suppress(ConnectionError):
            while said := await reader.read(65536):
                claiming = claiming or b"UPDATE outbox SET state = 'sending'" in said
                if claiming and b"COMMIT" in said and not self.cut:
                    self.cut = True
                    answers.cancel()
                    await asyncio.gather(answers, return_exceptions=True)
                    back.write(said)
                    # Answered, so it is committed.
                    await there.read(65536)
                    break
                back.write(said)
        answers.cancel()
        back.close()
        writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while said := await reader.read(65536):
            writer.write(said)


@asynccontextmanager
async def line(database_url: str) -> AsyncIterator[tuple[Line, str]]:
    """The line, and the address of the database at its end."""
    address = urlsplit(database_url)
    (folder,) = parse_qs(address.query)["host"]
    # Short: the name of a socket may have a hundred characters.
    with tempfile.TemporaryDirectory(dir="/tmp") as near:
        one = Line(f"{folder}/{SOCKET}")
        server = await asyncio.start_unix_server(one.carry, Path(near) / SOCKET)
        try:
            yield one, f"postgresql://postgres:@{address.path}?host={near}"
        finally:
            server.close()


async def test_a_reply_whose_claim_was_committed_unheard_is_sent_once(db: Database, database_url: str) -> None:
    provider, clock = Provider(), FakeClock()
    await write(db, "one", "first", "second")
    async with line(database_url) as (wire, address):
        unsure = Database(address)
        await unsure.open()
        try:
            async with delivering(unsure, provider, clock) as delivery:
                sent = await until(db, delivery, clock, OutboxState.SENT, 2)
        finally:
            await unsure.close()
    assert wire.cut
    assert provider.texts == ["first", "second"]
    assert [row.attempts for row in sent] == [1, 1]
    assert len(await rows(db)) == 2
