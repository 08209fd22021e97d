"""The Python client: every route, every error as its class, and streams that go on after a cut."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import httpx
import psycopg
import pytest

from laneway import errors
from laneway.client import Client, File, ServerEvent, problem_of
from laneway.llm.scripted import Delay, Say
from tests.serving import Served, scripted, serving

T = TypeVar("T")


@pytest.fixture
async def served(database_url: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database_url, tmp_path) as place:
        yield place


async def asking(place: Served, work: Callable[[Client], T]) -> T:
    """What `work` returns, done with a client in a thread of its own: client and server share this process."""

    def whole() -> T:
        with Client(*place) as client:
            return work(client)

    return await asyncio.to_thread(whole)


def ended(client: Client, job: str) -> list[ServerEvent]:
    """The events of a job up to its end."""
    seen = []
    for event in client.events(job=job, since="start"):
        seen.append(event)
        if event.event in ("job.done", "job.failed", "job.cancelled"):
            break
    return seen


async def test_a_message_is_sent_followed_and_looked_into(served: Served) -> None:
    def work(client: Client) -> None:
        assert client.health()["status"] == "ok"
        assert client.ready()["ready"] is True
        receipt = client.send("how full is the disk?", thread="t", id="m1", payload={"a": 1})
        assert client.send("how full is the disk?", thread="t", id="m1")["duplicate"] is True
        kinds = [event.event for event in ended(client, receipt["job_id"])]
        assert kinds[0] == "message.received"
        assert kinds[-1] == "job.done"
        message, thread, job = receipt["message_id"], receipt["thread_id"], receipt["job_id"]
        assert client.message(message)["replies"][0]["text"] == "You said: how full is the disk?"
        assert client.why(message)["received"]["duplicates"] == 1
        assert len(client.messages(thread=thread)["items"]) == 2
        newest = client.messages(limit=1)
        assert client.messages(limit=1, before=newest["next"])["items"][0]["id"] == message
        assert client.thread(thread)["external_id"] == "t"
        assert client.threads()["items"][0]["id"] == thread
        assert client.job(job)["payload"] == {"a": 1}
        assert client.jobs(status="done", thread=thread, message=message)["items"][0]["id"] == job
        assert client.stop_thread(thread) == {"stopped": []}
        assert client.approvals(state="pending")["items"] == []
        assert client.ledger(by="provider", since="2020-01-01T00:00:00Z")["items"][0]["key"] == "scripted"
        assert len(client.outbox(state="sent")["items"]) == 1
        assert client.status()["jobs"] == {"done": 1}
        assert client.logs(lines=5) == {"lines": [], "next": 0}

    await asking(served, work)


async def test_files_and_customers_are_sent(served: Served, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("from a path")

    def work(client: Client) -> None:
        files: list[File] = [note, ("ä.csv", b"1,2"), ("raw", b"\x00", "image/png")]
        receipt = client.send("", files=files, payload={"n": [1]}, sender={"id": "ann", "name": "Ann"})
        attached = client.message(receipt["message_id"])["attachments"]
        assert [(a["name"], a["mime"]) for a in attached] == [
            ("note.txt", "text/plain"), ("ä.csv", "text/csv"), ("raw", "image/png")
        ]  # fmt: skip
        assert client.job(receipt["job_id"])["payload"] == {"n": [1]}
        assert client.thread(receipt["thread_id"])["external_id"] == "customer:ann"

    await asking(served, work)


async def test_jobs_are_cancelled_and_errors_come_as_their_classes(database_url: str, tmp_path: Path) -> None:
    def work(client: Client) -> None:
        receipt = client.send("how full is the disk?")
        for event in client.events(job=receipt["job_id"], since="start"):
            if event.event == "model.started":
                client.cancel_job(receipt["job_id"])
            if event.event == "job.cancelled":
                break
        refusals: list[tuple[type[errors.LanewayError], str | None, Callable[[], object]]] = [
            (errors.IllegalTransition, receipt["job_id"], lambda: client.retry_job(receipt["job_id"])),
            (errors.NotFound, None, lambda: client.job(uuid4())),
            (errors.NotFound, None, lambda: client.answer(uuid4(), "approve")),
            (errors.BadInput, "`job_id`", lambda: client.job("42")),
            (errors.TooLarge, None, lambda: client.send("x" * 300_000)),
            (errors.Forbidden, "psql", lambda: client.sql("SELECT 1")),
            (errors.BadInput, "cursor", lambda: next(iter(client.events(since="never")))),
        ]
        for kind, words, refused in refusals:
            with pytest.raises(kind, match=words):
                refused()

    script = scripted([Delay(Say("At last."), seconds=60)])
    async with serving(database_url, tmp_path, script) as place:
        await asking(place, work)
        with pytest.raises(errors.Unauthorized):
            await asking(Served(place.url, "lw_wrong"), lambda client: client.status())


def test_every_error_of_ours_comes_back_as_itself() -> None:
    kinds: list[type[errors.LanewayError]] = [errors.LanewayError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    for kind in (kind for kind in kinds if kind.__module__ == "laneway.errors"):
        body = {"code": kind.code, "detail": "What.", "hint": "Do."}
        back = problem_of(_response(kind.status, json.dumps(body), {"Retry-After": "7"}))
        assert (type(back), str(back), back.retry_after) == (kind, "What. Do.", 7.0)


def test_an_answer_of_somebody_else_is_still_an_error_of_ours() -> None:
    kinds = {500: errors.LanewayError, 502: errors.Unavailable, 404: errors.NotFound, 418: errors.BadInput}
    assert {status: type(problem_of(_response(status, "<html>", {}))) for status in kinds} == kinds


def _response(status: int, text: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.Response(status, text=text, headers=headers, request=httpx.Request("GET", "http://x/y?key=z"))


def test_nobody_there_is_said_with_what_to_do() -> None:
    with socket.socket() as nobody:
        # Bound and not listening, so that nobody else is given the port meanwhile.
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with Client(url, "lw_x") as client:
            for work in (client.status, lambda: next(iter(client.events()))):
                with pytest.raises(errors.Unavailable) as raised:
                    work()
                assert raised.value.message == f"No Laneway answers at {url}."
                assert raised.value.hint == "Start it with `laneway up`."


def test_the_environment_says_where_laneway_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(errors.Unauthorized, match="LANEWAY_KEY"):
        Client.from_environment(tmp_path)
    (tmp_path / "key").write_text("lw_stored\n")
    (tmp_path / "config.yaml").write_text("port: 9999\n")
    found = Client.from_environment(tmp_path)
    assert (found.url, found.key) == ("http://127.0.0.1:9999", "lw_stored")
    monkeypatch.setenv("LANEWAY_URL", "https://example.org/laneway/")
    found = Client.from_environment(tmp_path)
    assert (found.url, found.key) == ("https://example.org/laneway", "lw_stored")
    monkeypatch.setenv("LANEWAY_KEY", "lw_given")
    assert Client.from_environment(tmp_path).key == "lw_given"


class Wire:
    """Passes bytes on to a server, and can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, onward}
        await asyncio.gather(_pass(reader, onward), _pass(there, writer), return_exceptions=True)

    def cut(self) -> None:
        """Every connection is broken, in the middle of whatever it carries."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(200):
        writer.write(data)
        await writer.drain()
    writer.close()


@asynccontextmanager
async def wired(place: Served) -> AsyncIterator[tuple[Served, Wire]]:
    wire = Wire(int(place.url.rpartition(":")[2]))
    server = await asyncio.start_server(wire.connected, "127.0.0.1", 0)
    try:
        yield Served(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", place.key), wire
    finally:
        server.close()
        wire.cut()


async def test_a_stream_goes_on_over_cuts_without_loss_or_doubling(served: Served, database_url: str) -> None:
    seen: list[ServerEvent] = []

    def done() -> int:
        return sum(event.event == "job.done" for event in seen)

    def watch(client: Client) -> None:
        for event in client.events(since="start"):
            if event.id is not None:
                seen.append(event)
            if done() == 4:
                return

    async with wired(served) as (through, wire), asyncio.timeout(60):
        watching = asyncio.create_task(asking(through, watch))
        for number in range(4):
            before = len(seen)
            await asking(served, lambda client, n=number: client.send(f"number {n}?"))  # type: ignore[misc]
            while len(seen) == before:
                await asyncio.sleep(0.01)
            wire.cut()
        await watching
    with psycopg.connect(database_url) as connection:
        rows: list[Any] = connection.execute("SELECT xact::text || '-' || id FROM events ORDER BY xact, id").fetchall()
    assert [event.id for event in seen] == [row[0] for row in rows][: len(seen)]
    assert len(rows) - len(seen) < 3
