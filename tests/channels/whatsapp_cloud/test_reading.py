"""Every type of message is read, in any batch, and none is lost because of another."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.channels.arrival import Arrival
from laneway.channels.whatsapp_cloud.reading import read
from laneway.domain.conversation import RemoteFile
from tests.servers.whatsapp_webhooks import Json, Webhooks

KIM, LEE = "4915112345678", "15551234567"
META = Webhooks("106", "secret", now=1_794_800_000)


def arrivals(*messages: Json, **value: Any) -> list[Arrival]:
    return read(META.payload(META.value(*messages, **value)), "106").arrivals


def one(kind: str, content: object = None, **more: Any) -> Arrival:
    (found,) = arrivals(META.message(KIM, kind, content, **more))
    return found


def file_of(arrival: Arrival) -> RemoteFile:
    (file,) = arrival.files
    assert isinstance(file, RemoteFile)
    return file


def test_a_text_has_its_sender_its_name_its_key_and_its_time() -> None:
    (found,) = arrivals(META.text(KIM, "Are you open?", id="wamid.A"), name="Kim")
    assert (found.channel, found.address, found.external_id, found.name) == ("whatsapp", KIM, "wamid.A", "Kim")
    assert (found.text, found.thread, found.silent, found.press) == ("Are you open?", None, False, None)
    assert found.meta == {"message_key": "wamid.A", "said_at": "2026-11-16T03:33:20+00:00"}


@pytest.mark.parametrize(
    ("kind", "content", "is_kind", "name"),
    [
        ("image", {"id": "1", "mime_type": "image/jpeg", "caption": "the pump"}, "image", "image.jpg"),
        ("audio", {"id": "1", "mime_type": "audio/ogg; codecs=opus", "voice": True}, "voice", "audio.ogg"),
        ("audio", {"id": "1", "mime_type": "audio/mpeg"}, "voice", "audio.mp3"),
        ("video", {"id": "1", "mime_type": "video/mp4"}, "video", "video.mp4"),
        ("sticker", {"id": "1", "mime_type": "image/webp", "animated": False}, "sticker", "sticker.webp"),
        ("document", {"id": "1", "mime_type": "application/pdf", "filename": "offer.pdf"}, "file", "offer.pdf"),
        ("document", {"id": "1"}, "file", "document.bin"),
    ],
)  # fmt: skip
def test_files_are_named_and_can_be_fetched_later(kind: str, content: Json, is_kind: str, name: str) -> None:
    found = one(kind, content)
    file = file_of(found)
    assert (file.kind, file.name, file.source["media_id"]) == (is_kind, name, "1")
    assert found.text == content.get("caption", "")
    assert found.meta.get("voice", False) is (content.get("voice") is True)
    assert not found.silent


def test_a_place_a_contact_and_an_order_are_words() -> None:
    place = one("location", {"latitude": 52.5, "longitude": 13.4, "name": "Café Nord", "address": "Hauptstr. 1"})
    assert place.text == "Location: Café Nord, Hauptstr. 1 (52.5, 13.4)"
    assert one("location", {"latitude": 52.5, "longitude": 13.4}).text == "Location: 52.5, 13.4"
    people = [{"name": {"formatted_name": "Lee Ray"}, "org": {"company": "Ray"}, "phones": [{"phone": "+1 555"}]}]
    contact = one("contacts", people)
    assert contact.text == "Contact: Lee Ray, Ray, +1 555"
    assert contact.meta["sources"] == ["a shared contact"]
    items = [{"product_retailer_id": "SKU1", "quantity": 2, "item_price": 7.99, "currency": "USD"}]
    order = one("order", {"catalog_id": "9", "text": "soon please", "product_items": items})
    assert order.text == "Order:\n2 × SKU1 at 7.99 USD\nNote: soon please"


def test_pressed_buttons_and_picked_rows_are_presses() -> None:
    for kind in ("button_reply", "list_reply"):
        (found,) = arrivals(META.press(KIM, "a:0197", "Yes", on="wamid.ours", kind=kind))
        assert (found.press, found.text, found.reply_to) == ("a:0197", "", "wamid.ours")


def test_a_templates_quick_reply_is_what_its_button_says_unless_it_carries_our_own_data() -> None:
    assert one("button", {"payload": "Call me back", "text": "Call me back"}).text == "Call me back"
    assert one("button", {"payload": "", "text": "Call me back"}).press is None
    ours = "a:01970000-0000-7000-8000-000000000000"
    assert one("button", {"payload": ours, "text": "Yes"}).press == ours


def test_a_reaction_is_stored_and_starts_nothing() -> None:
    found = one("reaction", {"message_id": "wamid.ours", "emoji": "👍"})
    assert (found.text, found.silent, found.reply_to) == ("Reaction: 👍", True, "wamid.ours")
    assert one("reaction", {"message_id": "wamid.ours"}).text == "A reaction was taken back."


def test_a_changed_number_is_the_same_person() -> None:
    body = "Kim changed from 4915112345678 to 4917000000000"
    found = one("system", {"body": body, "wa_id": "4917000000000", "type": "user_changed_number"})
    assert (found.address, found.also) == ("4917000000000", (KIM,))
    assert (found.text, found.silent) == (body, True)


def test_a_changed_user_id_is_the_same_person() -> None:
    found = one(
        "system", {"body": "changed", "user_id": "DE.new1", "type": "user_changed_user_id"}, from_user_id="DE.old1"
    )
    assert (found.address, set(found.also)) == (KIM, {"DE.new1", "DE.old1"})


@pytest.mark.parametrize(
    ("kind", "content", "more"),
    [
        ("unsupported", None, {"errors": [{"code": 131051, "title": "Message type unknown"}]}),
        ("unsupported", {"type": "poll"}, {}),
        ("hologram", {"x": 1}, {}),
        ("image", {"caption": "no id"}, {}),
        ("text", "not an object", {}),
        ("text", {"body": ""}, {}),
        ("text", {"body": ["a", "list"]}, {}),
        ("interactive", {"type": "call_permission_reply"}, {}),
        ("contacts", [], {}),
        ("edit", {"original_message_id": "wamid.x", "message": {"type": "edit"}}, {}),
        ("", None, {}),
    ],
)
def test_what_cannot_be_read_is_stored_as_a_placeholder(kind: str, content: object, more: Json) -> None:
    found = one(kind, content, **more)
    assert found.text.startswith("[A message of a type that cannot be read here: ")
    assert found.silent
    assert found.meta["placeholder"] is True


def test_an_edited_message_replaces_the_first_and_a_deleted_one_is_noted() -> None:
    edit = {"original_message_id": "wamid.A", "message": {"type": "text", "text": {"body": "at five"}}}
    found = one("edit", edit)
    assert (found.text, found.edits, found.silent) == ("at five", "wamid.A", False)
    # A second edit names the first message again, and must find this one by it.
    assert found.meta["message_key"] == "wamid.A"
    gone = one("revoke", {"original_message_id": "wamid.A"})
    assert (gone.edits, gone.silent) == ("wamid.A", True)


def test_a_quote_names_what_it_quotes_and_a_forward_is_marked() -> None:
    assert one("text", {"body": "this"}, context={"id": "wamid.ours", "from": "1"}).reply_to == "wamid.ours"
    assert one("text", {"body": "x"}, context={"forwarded": True}).meta["forwarded"] is True
    assert one("text", {"body": "x"}, context={"frequently_forwarded": True}).meta["forwarded"] is True


def test_a_person_without_a_phone_number_is_known_by_the_user_id() -> None:
    (found,) = arrivals(META.text("DE.aB12cd34", "hello"))
    assert (found.address, found.also) == ("DE.aB12cd34", ())


def test_user_ids_stand_beside_the_phone_number() -> None:
    message = META.text(KIM, "hello", from_user_id="DE.aB12", from_parent_user_id="DE.ENT.77")
    (found,) = arrivals(message, contact={"user_id": "DE.aB12"})
    assert (found.address, found.also) == (KIM, ("DE.aB12", "DE.ENT.77"))


def test_everybody_in_a_batch_has_the_right_name() -> None:
    value = META.value(META.text(KIM, "1"), META.text(LEE, "2"))
    value["contacts"] = [
        {"profile": {"name": "Lee"}, "wa_id": LEE, "user_id": "US.lee"},
        {"profile": {"name": "Kim"}, "wa_id": KIM},
    ]
    kim, lee = read(META.payload(value), "106").arrivals
    assert (kim.name, kim.also) == ("Kim", ())
    assert (lee.name, lee.also) == ("Lee", ("US.lee",))


def test_all_of_a_batch_is_read_whatever_one_of_it_is_like() -> None:
    bad: list[Any] = [
        {},
        {"id": 7},
        {"from": KIM},
        {"id": "wamid.b", "from": "not a number", "type": "text"},
        "x",
        None,
    ]
    value = META.value(META.text(KIM, "first"), META.text(KIM, "last"))
    value["messages"][1:1] = bad
    value["contacts"] *= 2
    notice = read(META.payload(value, META.value(META.text(LEE, "other"))), "106")
    assert [found.text for found in notice.arrivals] == ["first", "last", "other"]
    assert len(notice.faults) == 4


def test_messages_of_a_number_that_is_not_ours_are_left_alone() -> None:
    notice = read(
        META.payload(META.value(META.text(KIM, "x"), number_id="999"), META.value(META.text(KIM, "y"))), "106"
    )
    assert [found.text for found in notice.arrivals] == ["y"]
    assert notice.foreign == ["999"]


@pytest.mark.parametrize(
    "payload", [None, [], "x", 7, {}, {"entry": {}}, {"entry": [None, {"changes": [{"field": "messages"}]}]}]
)
def test_any_json_is_read_without_harm(payload: object) -> None:
    assert read(payload, "106").arrivals == []


def test_news_about_templates_and_accounts_is_no_message() -> None:
    payload = META.payload(META.value(META.text(KIM, "x")), field="message_template_status_update")
    assert read(payload, "106").arrivals == []


def test_nothing_that_a_database_cannot_hold_gets_through() -> None:
    (found,) = arrivals(META.text(KIM, "a\x00b\ud800"), name="K\x00im")
    assert (found.text, found.name) == ("a\ufffdb\ufffd", "K\ufffdim")
    priced = META.status("w1", "sent", pricing={"category": "u\x00", "type": "regular", "pricing_model": "\ud800"})
    (status,) = read(META.payload(META.value(statuses=(priced,))), "106").statuses
    assert status.pricing == {"category": "u\ufffd", "type": "regular", "pricing_model": "\ufffd"}


def test_statuses_tell_how_far_why_not_and_what_it_costs() -> None:
    error = {"code": 131047, "title": "Re-engagement message", "error_data": {"details": "More than 24 hours"}}
    pricing = {"billable": True, "pricing_model": "PMP", "category": "utility", "type": "regular"}
    free = {"billable": False, "pricing_model": "PMP", "category": "service", "type": "free_customer_service"}
    statuses = (
        META.status("w1", "failed", errors=[error]),
        META.status("w2", "delivered", pricing=pricing),
        META.status("w3", "sent", pricing=free),
        META.status("w4", "read", pricing={"billable": True, "category": "marketing"}),
        {"status": "read"},
    )
    failed, delivered, sent, old = read(META.payload(META.value(statuses=statuses)), "106").statuses
    assert (failed.code, failed.error) == (131047, "Re-engagement message: More than 24 hours (131047)")
    assert (delivered.category, delivered.billable) == ("utility", True)
    assert (sent.category, sent.billable) == ("service", False)
    assert old.billable


def test_complaints_of_meta_are_passed_on() -> None:
    value = META.value(errors=({"code": 130429, "title": "Rate limit hit", "error_data": {"details": "slow down"}},))
    assert read(META.payload(value), "106").faults == ["Rate limit hit: slow down (130429)"]
