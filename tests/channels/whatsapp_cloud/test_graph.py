"""The client against the Graph API on loopback: what it takes, what each refusal means, and files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from laneway.channels.whatsapp_cloud.composing import media, message, read_receipt, recipient, template
from laneway.channels.whatsapp_cloud.faults import WindowShut
from laneway.channels.whatsapp_cloud.graph import Graph
from laneway.errors import ModelFault, PermanentFault, TooLarge, TransientFault, UncertainFault
from tests.servers import whatsapp_errors as errors
from tests.servers.whatsapp_server import NUMBER_ID, TOKEN, Cut, Fail, Order, Plain, Slow, WhatsAppServer
from tests.whatsapp import until

KIM = "4915112345678"


@pytest.fixture
def server() -> Iterator[WhatsAppServer]:
    with WhatsAppServer() as running:
        yield running


@pytest.fixture
async def graph(server: WhatsAppServer) -> AsyncIterator[Graph]:
    client = Graph(server.api, TOKEN, NUMBER_ID)
    yield client
    await client.close()


def text(body: str = "hello") -> dict[str, Any]:
    return recipient(KIM) | message(body, ())


async def test_a_message_gets_an_id_and_a_receipt_gets_none(server: WhatsAppServer, graph: Graph) -> None:
    wamid = await graph.send(text())
    assert [(one.id, one.to, one.text) for one in server.sent] == [(wamid, KIM, "hello")]
    await graph.post(read_receipt("wamid.x", typing=True))
    assert server.read[0]["typing_indicator"] == {"type": "text"}


@pytest.mark.parametrize(
    ("order", "kind", "pause"),
    [
        (Fail(errors.THROUGHPUT), TransientFault, 1.0),
        (Fail(errors.PAIR_RATE), TransientFault, 6.0),
        (Fail(errors.WENT_WRONG), TransientFault, None),
        (Fail(errors.OVERLOADED), TransientFault, None),
        (Fail(errors.BAD_TOKEN), TransientFault, 60.0),
        (Fail(errors.EXPIRED_TOKEN), TransientFault, 60.0),
        (Fail(errors.unknown_object("4915")), TransientFault, 60.0),
        (Fail(errors.WINDOW_SHUT), WindowShut, None),
        (Fail(errors.UNDELIVERABLE), PermanentFault, None),
        (Fail(errors.invalid("Button title")), PermanentFault, None),
        (Fail(errors.NO_TEMPLATE), PermanentFault, None),
        (Plain(503, {"retry-after": "17"}), TransientFault, 17.0),
        (Plain(429), TransientFault, None),
        (Plain(502), UncertainFault, None),
        (Plain(504), UncertainFault, None),
        (Plain(200), UncertainFault, None),
        (Cut(taken=True), UncertainFault, None),
        (Cut(taken=False), UncertainFault, None),
    ],
    ids=str,
)
async def test_each_refusal_says_whether_to_try_again(
    server: WhatsAppServer, graph: Graph, order: Order, kind: type[ModelFault], pause: float | None
) -> None:
    server.orders.append(order)
    with pytest.raises(ModelFault) as refused:
        await graph.send(text())
    assert type(refused.value) is kind
    assert refused.value.retry_after == pause
    assert TOKEN not in str(refused.value)


async def test_an_answer_that_does_not_come_leaves_it_uncertain(server: WhatsAppServer) -> None:
    client = Graph(server.api, TOKEN, NUMBER_ID, seconds=0.7)
    server.orders.append(Slow(60))
    with pytest.raises(UncertainFault) as late:
        await client.send(text())
    await client.close()
    assert late.value.retry_after is None
    assert TOKEN not in str(late.value)
    await until(lambda: len(server.sent) == 1)


async def test_a_server_that_is_not_there_took_nothing() -> None:
    with WhatsAppServer() as gone:
        address = gone.api
    client = Graph(address, TOKEN, NUMBER_ID)
    with pytest.raises(TransientFault):
        await client.send(text())
    await client.close()


async def test_a_wrong_token_and_a_phone_number_for_an_id_are_explained(server: WhatsAppServer) -> None:
    wrong_token, wrong_id = Graph(server.api, "EAAwrong", NUMBER_ID), Graph(server.api, TOKEN, "15550783881")
    with pytest.raises(TransientFault, match="expired"):
        await wrong_token.send(text())
    with pytest.raises(TransientFault, match="not the phone number"):
        await wrong_id.send(text())
    await wrong_token.close()
    await wrong_id.close()


async def test_a_user_id_in_the_wrong_field_would_reach_nobody(server: WhatsAppServer, graph: Graph) -> None:
    await graph.send(recipient("DE.aB12") | message("hello", ()))
    with pytest.raises(PermanentFault, match="131026"):
        await graph.send({**text(), "to": "DE.aB12"})


async def test_files_are_sent_by_the_id_they_were_uploaded_under(server: WhatsAppServer, graph: Graph) -> None:
    media_id = await graph.upload("plan.pdf", "application/pdf", b"%PDF-1.7")
    assert (server.media[media_id].content, server.media[media_id].mime) == (b"%PDF-1.7", "application/pdf")
    await graph.send(recipient(KIM) | media("application/pdf", media_id, "plan.pdf", "the plan"))
    assert server.sent[0].body["document"] == {"id": media_id, "filename": "plan.pdf", "caption": "the plan"}


async def test_a_file_is_looked_up_and_downloaded_with_the_token(server: WhatsAppServer, graph: Graph) -> None:
    content = bytes(range(256)) * 50
    media_id = server.add_media(content, "audio/ogg")
    assert await graph.download(media_id, 100_000) == content
    with pytest.raises(TooLarge):
        await graph.download(media_id, 1000)
    with pytest.raises(TransientFault):
        await graph.download("123456", 1000)
    with pytest.raises(PermanentFault):
        await graph.download("../../me", 1000)


async def test_an_address_that_has_expired_is_asked_for_again_next_time(server: WhatsAppServer, graph: Graph) -> None:
    media_id = server.add_media(b"voice", "audio/ogg")
    server.url_seconds = 0
    with pytest.raises(TransientFault, match="no longer valid"):
        await graph.download(media_id, 1000)
    server.url_seconds = 300
    assert await graph.download(media_id, 1000) == b"voice"


async def test_a_template_needs_to_exist(server: WhatsAppServer, graph: Graph) -> None:
    note = template("note", "en", "Your order is ready.")
    assert note is not None
    with pytest.raises(PermanentFault, match="132001"):
        await graph.send(recipient(KIM) | note)
    server.templates["note"] = 1
    server.shut.add(KIM)
    await graph.send(recipient(KIM) | note)
    with pytest.raises(WindowShut):
        await graph.send(text())
