"""The project's own client and a bridge that behaves, and misbehaves, like the real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import pytest

from laneway.channels.waha import ids, reading
from laneway.channels.waha.client import Bridge
from laneway.channels.waha.reading import Acked, Changed, Me, Said
from laneway.channels.waha.signature import sign, verify
from laneway.errors import (
    BadInput,
    LanewayError,
    PermanentFault,
    TooLarge,
    TransientFault,
    Unauthorized,
    UncertainFault,
)
from tests.servers.waha_people import Account
from tests.servers.waha_server import Bare, Cut, Fail, WahaServer

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


async def test_a_text_is_sent_and_its_id_is_the_same_from_every_engine(server: WahaServer, bridge: Bridge) -> None:
    engines: list[Literal["WEBJS", "NOWEB", "GOWS"]] = ["WEBJS", "NOWEB", "GOWS"]
    for engine in engines:
        server.engine = engine
        receipt = await bridge.send_text(ANN, "Hello", "false_x_y")
        sent = server.sent[-1]
        shown = sent["chatId"], sent["text"], sent["reply_to"], sent["session"]
        assert shown == (ANN, "Hello", "false_x_y", "default")
        assert receipt["id"] == sent["id"].rpartition("_")[2]
    server.orders["sendText"].append(Bare())
    assert await bridge.send_text(ANN, "Hello") == {"chat": ANN}, "an answer without a body is a success"
    assert len(server.texts(ANN)) == 4


async def test_a_session_that_does_not_work_says_so_and_takes_nothing(server: WahaServer, bridge: Bridge) -> None:
    assert (await bridge.status()).works
    server.status = "STARTING"
    found = await bridge.status()
    assert (found.works, found.status) == (False, "STARTING")
    with pytest.raises(TransientFault, match=r"Session status is not as expected.*STARTING"):
        await bridge.send_text(ANN, "Hello")
    assert server.sent == []


async def test_a_wrong_key_a_wrong_session_and_a_bridge_that_is_gone_are_named(server: WahaServer) -> None:
    with WahaServer() as gone:
        nowhere = Bridge(gone.url, gone.api_key, "default")
    wrong, other = Bridge(server.url, "a-wrong-key", "default"), Bridge(server.url, server.api_key, "sales")
    for bridge, words in (
        (nowhere, "cannot be reached"),
        (wrong, "refuses the key"),
        (other, r"Session not found.*WAHA_SESSION"),
    ):
        with pytest.raises(TransientFault, match=words) as refused:
            await bridge.status()
        assert "a-wrong-key" not in str(refused.value)
        with pytest.raises(TransientFault):
            await bridge.send_text(ANN, "Hello")
        await bridge.close()


async def test_every_failure_says_whether_it_may_have_been_sent(server: WahaServer, bridge: Bridge) -> None:
    def broken(words: str) -> Fail:
        return Fail(500, {"statusCode": 500, "exception": {"message": words}})

    cases: list[tuple[Fail | Cut, type[LanewayError]]] = [
        (Fail(400, {"message": ["text must be a string"], "error": "Bad Request"}), PermanentFault),
        (Fail(413, {"statusCode": 413, "message": "request entity too large"}), PermanentFault),
        (Fail(422, {"error": "Session status is not as expected.", "status": "FAILED"}), TransientFault),
        (Fail(429, {}, {"retry-after": "7"}), TransientFault),
        (Fail(503, {}), TransientFault),
        (Fail(502, {}), UncertainFault),
        (Fail(504, {}), UncertainFault),
        (broken("No LID for user"), PermanentFault),
        (broken("server returned error 400"), TransientFault),
        (broken("server returned error 463"), TransientFault),
        (broken("Evaluation timed out"), UncertainFault),
        (Cut(accepted=True), UncertainFault),
        (Cut(accepted=False), UncertainFault),
    ]
    wrong, pauses = [], []
    for order, fault in cases:
        before = len(server.sent)
        server.orders["sendText"].append(order)
        with pytest.raises(LanewayError) as failed:
            await bridge.send_text(ANN, "Hello")
        taken = len(server.sent) - before
        if type(failed.value) is not fault or taken != (order == Cut(accepted=True)):
            wrong.append(f"{order}: {failed.value!r}")
        if isinstance(failed.value, TransientFault):
            pauses.append(failed.value.retry_after)
    assert not wrong, "\n".join(wrong)
    assert pauses[1] == 7
    assert pauses[-1] == 3600, "WhatsApp takes no new contacts for now"


async def test_a_number_and_a_hidden_id_are_not_to_be_mixed_up(server: WahaServer, bridge: Bridge) -> None:
    server.account.lids["123123123@lid"] = ANN
    server.orders["default/lids/123123123@lid"].append(Fail(500, {"exception": {"stack": "findPNByLid"}}))
    assert await bridge.phone_of("123123123@lid") is None
    assert await bridge.phone_of("123123123@lid") == ANN
    assert await bridge.phone_of("456456456@lid") is None
    for wrong in ("123123123@c.us", "4915112345678@s.whatsapp.net"):
        with pytest.raises(PermanentFault, match="knows nobody"):
            await bridge.send_text(wrong, "Hello")
    assert (await bridge.send_text("123123123@lid", "Hello"))["id"]


async def test_files_are_fetched_with_the_key_up_to_a_size_and_the_key_follows_no_redirect(
    server: WahaServer, bridge: Bridge
) -> None:
    server.account.file("x.jpg", "image/jpeg", b"\xff\xd8" * 50, server.url)
    assert await bridge.file("/api/files/default/x.jpg", 100) == b"\xff\xd8" * 50
    assert server.asked[-1].key == server.api_key
    with pytest.raises(TooLarge):
        await bridge.file("/api/files/default/x.jpg", 99)
    with pytest.raises(PermanentFault, match="no longer has"):
        await bridge.file("/api/files/default/gone.jpg", 100)
    with WahaServer() as elsewhere:
        place = f"{elsewhere.url}/api/sessions/default"
        server.orders["sessions/default"].append(Fail(307, {}, {"location": place}))
        with pytest.raises(LanewayError):
            await bridge.status()
        assert elsewhere.asked == []


ANN, SHOP, GROUP = "4915112345678@c.us", "4930123456@c.us", "120363001122334455@g.us"
CARD = "BEGIN:VCARD\nVERSION:3.0\nN:Miller;Bob\nFN:Bob Miller\nTEL;type=CELL;waid=491701:+49 170 1\nEND:VCARD"
OURS = f"true_{ANN}_3EB0A1B2C3D4E5F60718"
"""The id of a message of ours."""


@pytest.fixture
def account() -> Account:
    return Account()


def read(account: Account, payload: dict[str, Any], kind: str = "message") -> object:
    return reading.read(reading.opened(account.event(payload, kind)))


def heard(account: Account, payload: dict[str, Any], kind: str = "message") -> Said:
    found = read(account, payload, kind)
    assert isinstance(found, Said), found
    return found


def test_ids_are_kept_in_one_spelling_and_a_hidden_one_never_becomes_a_number() -> None:
    spellings: list[tuple[object, str]] = [
        ("4915112345678@s.whatsapp.net", ANN),
        ("4915112345678:31@s.whatsapp.net", ANN),
        ("45556852370000:31@lid", "45556852370000@lid"),
        ({"_serialized": ANN, "user": "4915112345678"}, ANN),
        (GROUP, GROUP),
        ("no id", ""),
        (None, ""),
        ("a" * 100 + "@c.us", ""),
        ("4915112345678@c.us\n", ANN),
    ]
    assert [given for given, kept in spellings if ids.chat(given) != kept] == []
    key = "3EB0A1B2C3D4E5F60718"
    chats = (ANN, "123123123@lid", f"{GROUP}")
    messages = [*(f"false_{chat}_{key}" for chat in chats), f"false_{GROUP}_{key}_{ANN}", key, {"_serialized": OURS}]
    assert {ids.message_key(one, ANN) for one in messages} == {key}
    # Short ids of other bridges count within their chat.
    assert ids.message_key("msg_123", ANN) != ids.message_key("msg_123", SHOP)
    assert len(ids.message_key("x" * 5000, ANN)) <= 160


def test_only_the_documented_signature_opens() -> None:
    # The example of WAHA's own documentation.
    body = b'{"event":"message","session":"default","engine":"WEBJS"}'
    good = (
        "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8"
        "097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89"
    )
    key, algorithm = "my-secret-key", {"x-webhook-hmac-algorithm": "sha512"}
    assert sign(key, body) == good
    verify(key, body, {"x-webhook-hmac": good, **algorithm})
    bad: list[tuple[str, bytes, dict[str, str]]] = [
        (key, body, {}),
        (key, body, {"x-webhook-hmac": good}),
        (key, body, {"x-webhook-hmac": good, "x-webhook-hmac-algorithm": "sha1"}),
        (key, body + b" ", {"x-webhook-hmac": good, **algorithm}),
        ("another", body, {"x-webhook-hmac": good, **algorithm}),
        (key, body, {"x-webhook-hmac": "ü", **algorithm}),
        ("", body, {"x-webhook-hmac": sign("", body), **algorithm}),
    ]
    for case in bad:
        with pytest.raises(Unauthorized) as refused:
            verify(*case)
        assert key not in str(refused.value)
        assert good not in str(refused.value)


def test_a_text_is_read(account: Account) -> None:
    payload = account.message(ANN, "When are you open?", name="Ann\nMiller")
    said = heard(account, payload)
    assert (said.sender, said.chat, said.text, said.name) == (ANN, ANN, "When are you open?", "Ann Miller")
    assert said.key == said.external_id == payload["id"].rpartition("_")[2]
    assert (said.meta["waha_id"], said.sent_at, said.silent) == (payload["id"], payload["timestamp"], False)


def test_our_own_messages_statuses_channels_and_nonsense_are_dropped(account: Account) -> None:
    ours = account.sent(ANN, "From 9 to 5.", "3EB0A1B2C3D4E5F60718")
    unmarked = {key: value for key, value in ours.items() if key != "fromMe"}
    for kind in ("message", "message.any"):
        assert (read(account, ours, kind), read(account, unmarked, kind)) == (None, None)
    for chat in ("status@broadcast", "123@newsletter", "1234567@broadcast", "nonsense", ""):
        payload = account.message(ANN, "Buy now", chat=chat or None) | {"from": chat, "participant": ANN}
        assert read(account, payload) is None, chat
    assert read(account, account.message(ANN, "hello", chat=GROUP) | {"participant": None}) is None
    assert read(account, {"id": GROUP}, "group.v2.join") is None
    nothing: list[Any] = [[], "text", {"event": "message"}, {"payload": {}}, {"event": 1, "payload": {}}]
    for body in nothing:
        with pytest.raises(BadInput):
            reading.opened(body)


def test_a_group_is_answered_only_when_it_mentions_us_or_answers_us(account: Account) -> None:
    image = {"imageMessage": {"contextInfo": {"mentionedJid": ["4930123456@s.whatsapp.net"]}}}
    words = {"extendedTextMessage": {"contextInfo": {"mentionedJID": ["990011223344@lid"]}}}
    to_us: list[dict[str, Any]] = [
        {"_data": {"mentionedJidList": [SHOP]}},
        {"_data": {"mentionedJidList": [{"_serialized": SHOP}]}},
        {"_data": {"message": image}},
        {"_data": {"Message": words}},
        {"body": "@4930123456 what does it cost?"},
        {"body": "@990011223344 what does it cost?"},
        {"replyTo": {"id": f"true_{GROUP}_3EB0A1B2C3D4E5F60718", "body": "From 9 to 5."}},
        {"replyTo": {"id": "3EB0A1B2C3D4E5F60718", "participant": SHOP, "body": "From 9 to 5."}},
    ]
    for more in to_us:
        said = heard(account, account.message(ANN, "what does it cost?", chat=GROUP) | more)
        assert (said.addressed, said.sender, said.chat, said.in_group) == (True, ANN, GROUP, True), more
        assert said.text == "what does it cost?", more
    for body in ("lunch?", "@49301234567 lunch?", "write to 4930123456"):
        assert not heard(account, account.message(ANN, body, chat=GROUP)).addressed, body
    me = Me.of({"id": SHOP, "lid": "990011223344@lid", "pushName": "The shop"})
    assert me.cut_from("are you open @990011223344") == "are you open"


def test_what_is_no_text_is_said_in_words_and_names_in_it_are_others_words(account: Account) -> None:
    place = {"latitude": "52.520008", "longitude": 13.404954}
    bob, lunch = "[Contact card: Bob Miller, +49 170 1]", "[Poll: Lunch? (Yes, No)]"
    options = [{"optionName": "Yes"}, {"optionName": "No"}]
    old_poll = {"pollName": "Lunch?", "pollOptions": [{"name": "Yes"}, {"name": "No"}]}
    new_poll = {"message": {"pollCreationMessageV3": {"name": "Lunch?", "options": options}}}
    cases: list[tuple[dict[str, Any], str, list[str] | None]] = [
        (
            {"location": place | {"description": "Alexanderplatz"}, "body": "/9j/4AAQSkZJRgABAQ"},
            "[Location: 52.520008, 13.404954 (Alexanderplatz)]",
            ["a shared location"],
        ),
        ({"location": place}, "[Location: 52.520008, 13.404954]", None),
        ({"vCards": [CARD], "body": CARD}, bob, ["a shared contact"]),
        ({"body": CARD, "_data": {"type": "vcard"}}, bob, ["a shared contact"]),
        ({"_data": old_poll}, lunch, None),
        ({"_data": new_poll}, lunch, None),
    ]
    for more, text, sources in cases:
        said = heard(account, account.message(ANN, "") | more)
        assert (said.text, said.meta.get("sources"), said.silent) == (text, sources, False)
    unreadable = heard(account, account.message(ANN, "", _data={"type": "e2e_notification"}))
    assert (unreadable.text, unreadable.silent) == (reading.UNREADABLE, True)
    forwarded = {"message": {"extendedTextMessage": {"contextInfo": {"isForwarded": True}}}}
    assert heard(account, account.message(ANN, "send me money", _data=forwarded)).meta["forwarded"] is True
    assert "forwarded" not in heard(account, account.message(ANN, "hi")).meta


def test_an_edit_takes_the_place_of_the_first_message_and_a_deletion_repeats_nothing(account: Account) -> None:
    first = account.message(ANN, "My password is hunter2")
    key = first["id"].rpartition("_")[2]
    event = account.event(account.message(ANN, "Open on Monday?", editedMessageId=key), "message.edited")
    said, again = (reading.read(reading.opened(event)) for _ in range(2))
    assert isinstance(said, Said)
    assert isinstance(again, Said)
    assert (said.text, said.edits, said.meta["message_key"]) == ("Open on Monday?", key, key)
    assert again.external_id == said.external_id != said.edits
    gone = heard(account, {"after": first, "before": first, "revokedMessageId": key}, "message.revoked")
    assert (gone.text, gone.silent, gone.edits) == (reading.DELETED, True, key)


def test_reactions_and_votes_are_kept_and_news_of_messages_and_the_session_are_read(account: Account) -> None:
    reacted = account.message(ANN, "", reaction={"text": "👍", "messageId": OURS})
    said = heard(account, reacted, "message.reaction")
    assert (said.text, said.silent, said.reply_to) == ("[Reacted with 👍 to a message.]", True, "3EB0A1B2C3D4E5F60718")
    taken_back = heard(account, reacted | {"reaction": {"text": "", "messageId": OURS}}, "message.reaction")
    assert taken_back.text == "[Took back a reaction to a message.]"
    assert taken_back.external_id != said.external_id
    vote = {"id": f"false_{ANN}_83ACBE602A05C79B", "from": ANN, "fromMe": False, "selectedOptions": ["Yes"]}
    voted = heard(account, {"vote": vote, "poll": {}}, "poll.vote")
    assert (voted.text, voted.silent) == ("[Voted in a poll: Yes]", True)
    ack = {"id": OURS, "from": ANN, "fromMe": True, "ack": 3, "ackName": "READ"}
    assert read(account, ack, "message.ack") == Acked("3EB0A1B2C3D4E5F60718", "read", 4)
    assert read(account, ack | {"ack": 77}, "message.ack") is None
    assert read(account, {"status": "FAILED", "statuses": []}, "session.status") == Changed("FAILED")


def test_a_file_is_described_without_any_address(account: Account) -> None:
    told = account.file("false_x.oga", "audio/ogg; codecs=opus", b"OggS", "http://localhost:3000")
    payload = account.message(ANN, "", hasMedia=True, media=told, _data={"type": "ptt", "duration": "7", "size": 4})
    [file] = heard(account, payload).files
    assert (file.kind, file.mime, file.size, file.name) == ("voice", "audio/ogg; codecs=opus", 4, "voice.oga")
    assert file.source == {"path": "/api/files/default/false_x.oga"}
    assert file.meta == {"seconds": 7}


def test_no_other_place_is_ever_fetched_from(account: Account) -> None:
    def image(media: Any) -> Said:
        return heard(account, account.message(ANN, "", hasMedia=True, media=media, _data={"type": "image"}))

    for missing in (None, {}, {"url": None, "mimetype": "image/jpeg", "filename": None}):
        said = image(missing)
        assert (said.files, said.text) == ((), "[An image that was not downloaded by the bridge]")
    for url in (
        "http://169.254.169.254/latest/meta-data/",
        "http://evil.example/x.jpg",
        "file:///etc/passwd",
        "http://localhost:3000/api/files/../sessions",
        "http://localhost:3000/api/files/%2e%2e/sessions/default",
        "http://localhost:3000/api/files/%252e%252e/sessions/default",
        "http://localhost:3000/api/files//evil.example/x",
        "http://localhost:3000/api/files/x.jpg\r\nX-Other: 1",
        "http://[::1/api/files/x",
        "https://bucket.s3.amazonaws.com/default/x.jpg?X-Amz-Signature=1",
        17,
    ):
        said = image({"url": url, "mimetype": "image/jpeg"})
        assert (said.files, said.text) == ((), "[An image that lies where it is not fetched from]"), url
    # From the bridge, whoever else is named.
    [file] = image({"url": "http://evil.example/api/files/x.jpg?x-api-key=secret", "mimetype": "image/jpeg"}).files
    assert file.source == {"path": "/api/files/x.jpg"}
