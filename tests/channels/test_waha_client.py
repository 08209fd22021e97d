"""The project's own client and a bridge that behaves, and misbehaves, like the real one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from laneway.channels.waha.client import Bridge
from laneway.errors import LanewayError, PermanentFault, TooLarge, TransientFault, UncertainFault
from tests.servers.waha_server import Bare, Cut, Fail, Slow, WahaServer

ANN = "4915112345678@c.us"


@pytest.fixture
def server() -> Iterator[WahaServer]:
    with WahaServer() as running:
        yield running


@pytest.fixture
async def bridge(server: WahaServer) -> AsyncIterator[Bridge]:
    made = Bridge(server.url, server.api_key, "default")
    yield made
    await made.close()


@pytest.mark.parametrize("engine", ["WEBJS", "NOWEB", "GOWS"])
async def test_a_text_is_sent_and_its_id_is_the_same_from_every_engine(
    server: WahaServer, bridge: Bridge, engine: str
) -> None:
    server.engine = engine  # type: ignore[assignment]
    receipt = await bridge.send_text(ANN, "Hello", "false_x_y")
    [sent] = server.sent
    assert (sent["chatId"], sent["text"], sent["reply_to"], sent["session"]) == (ANN, "Hello", "false_x_y", "default")
    assert receipt["id"] == sent["id"].rpartition("_")[2]


async def test_an_answer_without_a_body_is_a_success(server: WahaServer, bridge: Bridge) -> None:
    server.orders["sendText"].append(Bare())
    assert await bridge.send_text(ANN, "Hello") == {"chat": ANN}
    assert server.texts(ANN) == ["Hello"]


async def test_the_session_tells_how_it_is(server: WahaServer, bridge: Bridge) -> None:
    assert (await bridge.status()).works
    server.status = "SCAN_QR_CODE"
    found = await bridge.status()
    assert (found.works, found.status) == (False, "SCAN_QR_CODE")


async def test_a_session_that_does_not_work_takes_nothing_and_may_later(server: WahaServer, bridge: Bridge) -> None:
    server.status = "STARTING"
    with pytest.raises(TransientFault, match=r"Session status is not as expected.*STARTING"):
        await bridge.send_text(ANN, "Hello")
    assert server.sent == []


async def test_a_wrong_key_is_named_and_never_shown(server: WahaServer) -> None:
    wrong = Bridge(server.url, "a-wrong-key", "default")
    with pytest.raises(TransientFault, match="refuses the key") as refused:
        await wrong.send_text(ANN, "Hello")
    assert "a-wrong-key" not in str(refused.value)
    with pytest.raises(TransientFault, match="refuses the key"):
        await wrong.status()
    await wrong.close()


async def test_a_session_that_is_not_there_is_named(server: WahaServer) -> None:
    other = Bridge(server.url, server.api_key, "sales")
    with pytest.raises(TransientFault, match=r"Session not found.*WAHA_SESSION"):
        await other.status()
    await other.close()


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        (Fail(400, {"statusCode": 400, "message": ["text must be a string"], "error": "Bad Request"}), PermanentFault),
        (Fail(413, {"statusCode": 413, "message": "request entity too large"}), PermanentFault),
        (Fail(422, {"error": "Session status is not as expected.", "status": "FAILED"}), TransientFault),
        (Fail(429, {}, {"retry-after": "7"}), TransientFault),
        (Fail(503, {}), TransientFault),
        (Fail(502, {}), UncertainFault),
        (Fail(504, {}), UncertainFault),
        (Fail(500, {"statusCode": 500, "exception": {"message": "No LID for user"}}), PermanentFault),
        (Fail(500, {"statusCode": 500, "exception": {"message": "server returned error 400"}}), TransientFault),
        (Fail(500, {"statusCode": 500, "exception": {"message": "Evaluation timed out"}}), UncertainFault),
        (Cut(accepted=True), UncertainFault),
        (Cut(accepted=False), UncertainFault),
    ],
)
async def test_every_failure_says_whether_it_may_have_been_sent(
    server: WahaServer, bridge: Bridge, order: Fail | Cut, fault: type[LanewayError]
) -> None:
    server.orders["sendText"].append(order)
    with pytest.raises(fault):
        await bridge.send_text(ANN, "Hello")
    assert len(server.sent) == (1 if order == Cut(accepted=True) else 0)


async def test_patience_is_taken_from_the_bridge(server: WahaServer, bridge: Bridge) -> None:
    server.orders["sendText"].append(Fail(429, {}, {"retry-after": "7"}))
    with pytest.raises(TransientFault) as asked:
        await bridge.send_text(ANN, "Hello")
    assert asked.value.retry_after == 7
    server.orders["sendText"].append(Fail(500, {"exception": {"message": "server returned error 463"}}))
    with pytest.raises(TransientFault, match="no new contacts") as capped:
        await bridge.send_text(ANN, "Hello")
    assert capped.value.retry_after == 3600


async def test_a_bridge_that_is_not_there_has_taken_nothing(server: WahaServer) -> None:
    with WahaServer() as gone:
        nowhere = Bridge(gone.url, gone.api_key, "default")
    with pytest.raises(TransientFault, match="cannot be reached"):
        await nowhere.send_text(ANN, "Hello")
    await nowhere.close()


async def test_a_slow_bridge_is_waited_for(server: WahaServer, bridge: Bridge) -> None:
    server.orders["sendText"].append(Slow(0.5))
    async with asyncio.timeout(30):
        assert (await bridge.send_text(ANN, "Hello"))["id"]


async def test_a_number_and_a_hidden_id_are_not_to_be_mixed_up(server: WahaServer, bridge: Bridge) -> None:
    server.account.lids["123123123@lid"] = ANN
    assert await bridge.phone_of("123123123@lid") == ANN
    assert await bridge.phone_of("456456456@lid") is None
    with pytest.raises(PermanentFault, match="knows nobody"):
        await bridge.send_text("123123123@c.us", "Hello")
    with pytest.raises(PermanentFault, match="knows nobody"):
        await bridge.send_text("4915112345678@s.whatsapp.net", "Hello")
    assert (await bridge.send_text("123123123@lid", "Hello"))["id"]


async def test_a_bridge_that_fails_to_look_up_a_hidden_id_knows_no_number(server: WahaServer, bridge: Bridge) -> None:
    server.orders["default/lids/123123123@lid"].append(Fail(500, {"exception": {"stack": "findPNByLid"}}))
    assert await bridge.phone_of("123123123@lid") is None


async def test_files_are_fetched_with_the_key_up_to_a_size(server: WahaServer, bridge: Bridge) -> None:
    server.account.file("x.jpg", "image/jpeg", b"\xff\xd8" * 50, server.url)
    assert await bridge.file("/api/files/default/x.jpg", 100) == b"\xff\xd8" * 50
    assert server.asked[-1].key == server.api_key
    with pytest.raises(TooLarge):
        await bridge.file("/api/files/default/x.jpg", 99)
    with pytest.raises(PermanentFault, match="no longer has"):
        await bridge.file("/api/files/default/gone.jpg", 100)


@pytest.mark.parametrize("path", ["http://127.0.0.1:1/api/files/x.jpg", "/api/sessions", "/api/files/../version", ""])
async def test_nothing_but_files_of_the_bridge_is_fetched(server: WahaServer, bridge: Bridge, path: str) -> None:
    with pytest.raises(PermanentFault, match="no file of the bridge"):
        await bridge.file(path, 100)
    assert server.asked == []


async def test_the_key_does_not_follow_a_redirect(server: WahaServer, bridge: Bridge) -> None:
    with WahaServer() as elsewhere:
        place = f"{elsewhere.url}/api/sessions/default"
        server.orders["sessions/default"].append(Fail(307, {}, {"location": place}))
        with pytest.raises(LanewayError):
            await bridge.status()
        assert elsewhere.asked == []


async def test_the_history_is_asked_for_in_pages(server: WahaServer, bridge: Bridge) -> None:
    for number in range(120):
        server.account.message(ANN, f"{number}", at=1000 + number)
    server.account.sent(ANN, "ours", "3EB0A1B2C3D4E5F60718")
    [chat] = await bridge.chats(0)
    assert chat["id"] == ANN
    first, second = await bridge.messages(ANN, 1010, 0), await bridge.messages(ANN, 1010, 100)
    assert [len(first), len(second)] == [100, 10]
    assert {one["body"] for one in first + second} == {str(number) for number in range(10, 120)}
