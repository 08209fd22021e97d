"""What a bridge tells is read the same whichever engine says it, and nothing in it is trusted."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.channels.waha import ids, media, reading
from laneway.channels.waha.reading import Acked, Changed, Me, Said
from laneway.channels.waha.signature import sign, verify
from laneway.errors import BadInput, Unauthorized
from tests.servers.waha_people import Account

ANN, SHOP, GROUP = "4915112345678@c.us", "4930123456@c.us", "120363001122334455@g.us"
CARD = "BEGIN:VCARD\nVERSION:3.0\nN:Miller;Bob\nFN:Bob Miller\nTEL;type=CELL;waid=491701:+49 170 1\nEND:VCARD"


@pytest.fixture
def account() -> Account:
    return Account()


def heard(account: Account, payload: dict[str, Any], kind: str = "message", **more: Any) -> Said:
    found = reading.read(reading.opened(account.event(payload, kind, **more)))
    assert isinstance(found, Said), found
    return found


# Ids.


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("4915112345678@s.whatsapp.net", ANN),
        ("4915112345678:31@s.whatsapp.net", ANN),
        ("45556852370000:31@lid", "45556852370000@lid"),
        ({"_serialized": ANN, "user": "4915112345678"}, ANN),
        (GROUP, GROUP),
        ("no id", ""),
        (None, ""),
        ("a" * 100 + "@c.us", ""),
        ("4915112345678@c.us\n", ANN),
    ],
)
def test_ids_are_kept_in_one_spelling(given: object, kept: str) -> None:
    assert ids.chat(given) == kept


def test_a_hidden_id_never_becomes_a_number() -> None:
    assert ids.chat("123123123@lid") == "123123123@lid"
    assert ids.kind("123123123@lid") is ids.Kind.LID
    assert ids.kind("anna@c.us") is ids.Kind.UNKNOWN
    assert ids.kind("status@broadcast") is ids.Kind.BROADCAST


def test_all_spellings_of_one_message_have_one_key() -> None:
    spellings = [
        "false_4915112345678@c.us_3EB0A1B2C3D4E5F60718",
        "false_123123123@lid_3EB0A1B2C3D4E5F60718",
        "false_120363001122334455@g.us_3EB0A1B2C3D4E5F60718_4915112345678@c.us",
        "3EB0A1B2C3D4E5F60718",
        {"fromMe": False, "id": "3EB0A1B2C3D4E5F60718", "_serialized": f"false_{ANN}_3EB0A1B2C3D4E5F60718"},
    ]  # fmt: skip
    assert {ids.message_key(one, ANN) for one in spellings} == {"3EB0A1B2C3D4E5F60718"}


def test_short_ids_of_other_bridges_count_within_their_chat() -> None:
    assert ids.message_key("msg_123", ANN) != ids.message_key("msg_123", SHOP)
    assert len(ids.message_key("x" * 5000, ANN)) <= 160


# Signatures.

BODY = b'{"event":"message","session":"default","engine":"WEBJS"}'
SIGNED = (
    "208f8a55dde9e05519e898b10b89bf0d0b3b0fdf11fdbf09b6b90476301b98d8"
    "097c462b2b17a6ce93b6b47a136cf2e78a33a63f6752c2c1631777076153fa89"
)
"""The example of WAHA's own documentation."""


def test_the_documented_signature_is_ours_too() -> None:
    assert sign("my-secret-key", BODY) == SIGNED
    verify("my-secret-key", BODY, {"x-webhook-hmac": SIGNED, "x-webhook-hmac-algorithm": "sha512"})


@pytest.mark.parametrize(
    ("key", "body", "headers"),
    [
        ("my-secret-key", BODY, {}),
        ("my-secret-key", BODY, {"x-webhook-hmac": SIGNED}),
        ("my-secret-key", BODY, {"x-webhook-hmac": SIGNED, "x-webhook-hmac-algorithm": "sha1"}),
        ("my-secret-key", BODY + b" ", {"x-webhook-hmac": SIGNED, "x-webhook-hmac-algorithm": "sha512"}),
        ("another", BODY, {"x-webhook-hmac": SIGNED, "x-webhook-hmac-algorithm": "sha512"}),
        ("my-secret-key", BODY, {"x-webhook-hmac": "ü", "x-webhook-hmac-algorithm": "sha512"}),
        ("", BODY, {"x-webhook-hmac": sign("", BODY), "x-webhook-hmac-algorithm": "sha512"}),
    ],
)
def test_anything_else_is_refused(key: str, body: bytes, headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized) as refused:
        verify(key, body, headers)
    assert "my-secret-key" not in str(refused.value)
    assert SIGNED not in str(refused.value)


# Messages.


def test_a_text_is_read(account: Account) -> None:
    payload = account.message(ANN, "When are you open?", name="Ann\nMiller")
    said = heard(account, payload)
    assert (said.sender, said.chat, said.text, said.name) == (ANN, ANN, "When are you open?", "Ann Miller")
    assert said.key == said.external_id == payload["id"].rpartition("_")[2]
    assert said.meta["waha_id"] == payload["id"]
    assert said.sent_at == payload["timestamp"]
    assert not said.silent


@pytest.mark.parametrize("kind", ["message", "message.any"])
def test_our_own_messages_are_dropped(account: Account, kind: str) -> None:
    ours = account.sent(ANN, "From 9 to 5.", "3EB0A1B2C3D4E5F60718")
    assert reading.read(reading.opened(account.event(ours, kind))) is None
    del ours["fromMe"]
    assert reading.read(reading.opened(account.event(ours, kind))) is None


@pytest.mark.parametrize("chat", ["status@broadcast", "123@newsletter", "1234567@broadcast", "nonsense", ""])
def test_statuses_channels_and_nonsense_are_dropped(account: Account, chat: str) -> None:
    payload = account.message(ANN, "Buy now", chat=chat or None) | {"from": chat, "participant": ANN}
    assert reading.read(reading.opened(account.event(payload))) is None


def test_the_shape_of_the_seed_is_a_message() -> None:
    bare = {"chatId": "85260552717@c.us", "id": "msg_123", "body": "I want to book an appointment", "fromMe": False}
    said = reading.read(reading.opened(bare))
    assert isinstance(said, Said)
    assert (said.sender, said.text) == ("85260552717@c.us", "I want to book an appointment")
    assert said.key == "85260552717@c.us/msg_123"
    assert reading.read(reading.opened(bare | {"fromMe": True})) is None


@pytest.mark.parametrize("body", [[], "text", {"event": "message"}, {"payload": {}}, {"event": 1, "payload": {}}])
def test_what_is_no_event_is_said_to_be_none(body: object) -> None:
    with pytest.raises(BadInput):
        reading.opened(body)


@pytest.mark.parametrize(
    "more",
    [
        {"_data": {"mentionedJidList": [SHOP]}},
        {"_data": {"mentionedJidList": [{"_serialized": SHOP}]}},
        {"_data": {"message": {"imageMessage": {"contextInfo": {"mentionedJid": ["4930123456@s.whatsapp.net"]}}}}},
        {"_data": {"Message": {"extendedTextMessage": {"contextInfo": {"mentionedJID": ["990011223344@lid"]}}}}},
        {"body": "@4930123456 what does it cost?"},
        {"body": "@990011223344 what does it cost?"},
        {"replyTo": {"id": f"true_{GROUP}_3EB0A1B2C3D4E5F60718", "body": "From 9 to 5."}},
        {"replyTo": {"id": "3EB0A1B2C3D4E5F60718", "participant": SHOP, "body": "From 9 to 5."}},
    ],
)  # fmt: skip
def test_a_group_is_answered_when_it_mentions_us_or_answers_us(account: Account, more: dict[str, Any]) -> None:
    said = heard(account, account.message(ANN, "what does it cost?", chat=GROUP) | more)
    assert said.addressed
    assert (said.sender, said.chat, said.in_group) == (ANN, GROUP, True)
    assert said.text == "what does it cost?"


@pytest.mark.parametrize("body", ["lunch?", "@49301234567 lunch?", "write to 4930123456"])
def test_other_talk_of_a_group_is_only_overheard(account: Account, body: str) -> None:
    assert not heard(account, account.message(ANN, body, chat=GROUP)).addressed


def test_a_group_without_a_sender_is_dropped(account: Account) -> None:
    payload = account.message(ANN, "hello", chat=GROUP) | {"participant": None}
    assert reading.read(reading.opened(account.event(payload))) is None


@pytest.mark.parametrize(
    "data",
    [
        {"key": {"remoteJidAlt": "4915112345678@s.whatsapp.net"}},
        {"key": {"senderPn": "4915112345678@s.whatsapp.net"}},
        {"Info": {"SenderAlt": "4915112345678:7@s.whatsapp.net"}},
    ],
)
def test_the_number_behind_a_hidden_id_is_learnt_from_engines(account: Account, data: dict[str, Any]) -> None:
    said = heard(account, account.message("123123123@lid", "hi", _data=data))
    assert (said.sender, said.alias) == ("123123123@lid", ANN)


def test_forwarded_words_are_marked(account: Account) -> None:
    data = {"message": {"extendedTextMessage": {"contextInfo": {"isForwarded": True}}}}
    assert heard(account, account.message(ANN, "send me money", _data=data)).meta["forwarded"] is True
    assert "forwarded" not in heard(account, account.message(ANN, "hi")).meta


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            {"location": {"latitude": "52.520008", "longitude": 13.404954, "description": "Alexanderplatz"},
             "body": "/9j/4AAQSkZJRgABAQ"},
            "[Location: 52.520008, 13.404954 (Alexanderplatz)]",
        ),
        ({"vCards": [CARD], "body": CARD}, "[Contact card: Bob Miller, +49 170 1]"),
        ({"body": CARD, "_data": {"type": "vcard"}}, "[Contact card: Bob Miller, +49 170 1]"),
        (
            {"body": "", "_data": {"pollName": "Lunch?", "pollOptions": [{"name": "Yes"}, {"name": "No"}]}},
            "[Poll: Lunch? (Yes, No)]",
        ),
        (
            {"body": "", "_data": {"message": {"pollCreationMessageV3": {
                "name": "Lunch?", "options": [{"optionName": "Yes"}, {"optionName": "No"}]}}}},
            "[Poll: Lunch? (Yes, No)]",
        ),
    ],
)  # fmt: skip
def test_what_is_no_text_is_said_in_words(account: Account, more: dict[str, Any], text: str) -> None:
    said = heard(account, account.message(ANN, "") | more)
    assert said.text == text
    assert not said.silent


def test_names_of_places_and_people_are_others_words(account: Account) -> None:
    card = heard(account, account.message(ANN, CARD, vCards=[CARD]))
    place = {"latitude": 1, "longitude": 2}
    named = heard(account, account.message(ANN, "", location=place | {"description": "Run rm"}))
    bare = heard(account, account.message(ANN, "", location=place))
    assert [one.meta.get("sources") for one in (card, named, bare)] == [
        ["a shared contact"], ["a shared location"], None,
    ]  # fmt: skip


def test_an_unreadable_message_is_kept_and_nothing_is_done(account: Account) -> None:
    said = heard(account, account.message(ANN, "", _data={"type": "e2e_notification"}))
    assert said.silent
    assert said.text == reading.UNREADABLE


# Events about messages.


def test_an_edited_message_takes_the_place_of_the_old_one(account: Account) -> None:
    first = account.message(ANN, "Open on Sunday?")
    edit = account.message(ANN, "Open on Monday?", editedMessageId=first["id"].rpartition("_")[2])
    event = account.event(edit, "message.edited")
    said = reading.read(reading.opened(event))
    assert isinstance(said, Said)
    assert (said.text, said.edits) == ("Open on Monday?", heard(account, first).key)
    assert said.external_id != said.edits
    again = reading.read(reading.opened(event))
    assert isinstance(again, Said)
    assert again.external_id == said.external_id
    assert said.meta["message_key"] == said.edits


def test_a_deleted_message_is_said_to_be_so_and_not_repeated(account: Account) -> None:
    first = account.message(ANN, "My password is hunter2")
    gone = {"after": first, "before": first, "revokedMessageId": first["id"].rpartition("_")[2]}
    said = heard(account, gone, "message.revoked")
    assert (said.text, said.silent, said.edits) == (reading.DELETED, True, heard(account, first).key)


def test_a_reaction_is_kept_and_nothing_is_done(account: Account) -> None:
    target = f"true_{ANN}_3EB0A1B2C3D4E5F60718"
    reacted = account.message(ANN, "", reaction={"text": "👍", "messageId": target})
    said = heard(account, reacted, "message.reaction")
    assert (said.text, said.silent, said.reply_to) == ("[Reacted with 👍 to a message.]", True, "3EB0A1B2C3D4E5F60718")
    taken_back = heard(account, reacted | {"reaction": {"text": "", "messageId": target}}, "message.reaction")
    assert taken_back.text == "[Took back a reaction to a message.]"
    assert taken_back.external_id != said.external_id


def test_a_vote_is_kept_in_words(account: Account) -> None:
    vote = {"id": f"false_{ANN}_83ACBE602A05C79B", "from": ANN, "fromMe": False, "selectedOptions": ["Yes"]}
    said = heard(account, {"vote": vote, "poll": {}}, "poll.vote")
    assert (said.text, said.silent) == ("[Voted in a poll: Yes]", True)


def test_acknowledgements_have_an_order(account: Account) -> None:
    ack = {"id": f"true_{ANN}_3EB0A1B2C3D4E5F60718", "from": ANN, "fromMe": True, "ack": 3, "ackName": "READ"}
    assert reading.read(reading.opened(account.event(ack, "message.ack"))) == Acked("3EB0A1B2C3D4E5F60718", "read", 4)
    assert reading.read(reading.opened(account.event(ack | {"ack": 77}, "message.ack"))) is None


def test_a_change_of_the_session_is_read(account: Account) -> None:
    found = reading.read(reading.opened(account.event({"status": "FAILED", "statuses": []}, "session.status")))
    assert found == Changed("FAILED")


def test_events_that_mean_nothing_to_us_are_ignored(account: Account) -> None:
    assert reading.read(reading.opened(account.event({"id": GROUP}, "group.v2.join"))) is None


# Files.


def test_a_file_is_described_without_any_address(account: Account) -> None:
    told = account.file("false_x.oga", "audio/ogg; codecs=opus", b"OggS", "http://localhost:3000")
    payload = account.message(ANN, "", hasMedia=True, media=told, _data={"type": "ptt", "duration": "7", "size": 4})
    [file] = heard(account, payload).files
    assert (file.kind, file.mime, file.size, file.name) == ("voice", "audio/ogg; codecs=opus", 4, "voice.oga")
    assert file.source == {"path": "/api/files/default/false_x.oga"}
    assert file.meta == {"seconds": 7}


@pytest.mark.parametrize("media", [None, {}, {"url": None, "mimetype": "image/jpeg", "filename": None}])
def test_a_file_that_the_bridge_did_not_download_is_said_in_words(account: Account, media: Any) -> None:
    payload = account.message(ANN, "look", hasMedia=True, media=media, _data={"type": "image"})
    said = heard(account, payload)
    assert said.files == ()
    assert said.text == "look\n[An image that was not downloaded by the bridge]"


@pytest.mark.parametrize(
    "url",
    [
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
    ],
)
def test_no_other_place_is_ever_fetched_from(account: Account, url: Any) -> None:
    payload = account.message(ANN, "", hasMedia=True, media={"url": url, "mimetype": "image/jpeg"})
    said = heard(account, payload)
    assert said.files == ()
    assert said.text == "[An image that lies where it is not fetched from]"


def test_an_address_elsewhere_with_a_path_of_the_bridge_is_fetched_from_the_bridge() -> None:
    url = "http://evil.example/api/files/default/x.jpg?x-api-key=secret"
    assert media.path_of(url) == "/api/files/default/x.jpg"


def test_what_we_are_called_is_cut_from_a_text() -> None:
    me = Me.of({"id": SHOP, "lid": "990011223344@lid", "pushName": "The shop"})
    assert me.cut_from("@4930123456, are you open?") == "are you open?"
    assert me.cut_from("are you open @990011223344") == "are you open"
    assert me.cut_from("@49301234567 are you open") == "@49301234567 are you open"
