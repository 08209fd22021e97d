"""Messages of every type are read and only from Meta, and replies are written within WhatsApp's limits."""

from __future__ import annotations

from itertools import product
from typing import Any

from laneway.channels.arrival import Arrival
from laneway.channels.contract import Button
from laneway.channels.whatsapp_cloud.composing import media, message, parts, recipient, template
from laneway.channels.whatsapp_cloud.formatting import formatted
from laneway.channels.whatsapp_cloud.reading import read
from laneway.channels.whatsapp_cloud.signature import signature, signed
from laneway.channels.whatsapp_cloud.splitting import length, split
from laneway.domain.conversation import RemoteFile
from tests.servers.whatsapp_rules import complaint
from tests.servers.whatsapp_webhooks import Json, Webhooks

KIM, LEE = "4915112345678", "15551234567"
META = Webhooks("106", "secret", now=1_794_800_000)


def arrivals(*messages: Json, **value: Any) -> list[Arrival]:
    return read(META.payload(META.value(*messages, **value)), "106").arrivals


def one(kind: str, content: object = None, **more: Any) -> Arrival:
    (found,) = arrivals(META.message(KIM, kind, content, **more))
    return found


def test_a_text_has_its_sender_its_name_its_key_and_its_time() -> None:
    (found,) = arrivals(META.text(KIM, "Are you open?", id="wamid.A"), name="Kim")
    assert (found.channel, found.address, found.external_id, found.name) == ("whatsapp", KIM, "wamid.A", "Kim")
    assert (found.text, found.thread, found.silent, found.press) == ("Are you open?", None, False, None)
    assert found.meta == {"message_key": "wamid.A", "said_at": "2026-11-16T03:33:20+00:00"}


def test_files_are_named_and_can_be_fetched_later() -> None:
    voice = {"mime_type": "audio/ogg; codecs=opus", "voice": True}
    cases: list[tuple[str, Json, str, str]] = [
        ("image", {"mime_type": "image/jpeg", "caption": "the pump"}, "image", "image.jpg"),
        ("audio", voice, "voice", "audio.ogg"),
        ("audio", {"mime_type": "audio/mpeg"}, "voice", "audio.mp3"),
        ("video", {"mime_type": "video/mp4"}, "video", "video.mp4"),
        ("sticker", {"mime_type": "image/webp", "animated": False}, "sticker", "sticker.webp"),
        ("document", {"mime_type": "application/pdf", "filename": "offer.pdf"}, "file", "offer.pdf"),
        ("document", {}, "file", "document.bin"),
    ]
    for kind, content, is_kind, name in cases:
        found = one(kind, {"id": "1", **content})
        (file,) = found.files
        assert isinstance(file, RemoteFile)
        assert (file.kind, file.name, file.source["media_id"]) == (is_kind, name, "1")
        assert (found.text, found.silent) == (content.get("caption", ""), False)
        assert found.meta.get("voice", False) is (content is voice)


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


def test_pressed_buttons_and_picked_rows_are_presses_and_a_templates_reply_is_what_its_button_says() -> None:
    for kind in ("button_reply", "list_reply"):
        (found,) = arrivals(META.press(KIM, "a:0197", "Yes", on="wamid.ours", kind=kind))
        assert (found.press, found.text, found.reply_to) == ("a:0197", "", "wamid.ours")
    ours = "a:01970000-0000-7000-8000-000000000000"
    for payload, press in (("Call me back", None), ("", None), (ours, ours)):
        found = one("button", {"payload": payload, "text": "Call me back"})
        assert (found.press, found.text) == (press, "" if press else "Call me back")


def test_a_reaction_is_stored_and_starts_nothing() -> None:
    found = one("reaction", {"message_id": "wamid.ours", "emoji": "👍"})
    assert (found.text, found.silent, found.reply_to) == ("Reaction: 👍", True, "wamid.ours")
    assert one("reaction", {"message_id": "wamid.ours"}).text == "A reaction was taken back."


def test_a_changed_number_or_user_id_is_the_same_person() -> None:
    body = "Kim changed from 4915112345678 to 4917000000000"
    number = one("system", {"body": body, "wa_id": "4917000000000", "type": "user_changed_number"})
    assert (number.address, number.also, number.text, number.silent) == ("4917000000000", (KIM,), body, True)
    changed = {"body": "changed", "user_id": "DE.new1", "type": "user_changed_user_id"}
    user = one("system", changed, from_user_id="DE.old1")
    assert (user.address, set(user.also)) == (KIM, {"DE.new1", "DE.old1"})
    (unnumbered,) = arrivals(META.text("DE.aB12cd34", "hello"))
    assert (unnumbered.address, unnumbered.also) == ("DE.aB12cd34", ())
    message = META.text(KIM, "hello", from_user_id="DE.aB12", from_parent_user_id="DE.ENT.77")
    (both,) = arrivals(message, contact={"user_id": "DE.aB12"})
    assert (both.address, both.also) == (KIM, ("DE.aB12", "DE.ENT.77"))


def test_what_cannot_be_read_is_stored_as_a_placeholder() -> None:
    unknown = {"errors": [{"code": 131051, "title": "Message type unknown"}]}
    cases: list[tuple[str, object]] = [
        ("unsupported", {"type": "poll"}),
        ("hologram", {"x": 1}),
        ("image", {"caption": "no id"}),
        ("text", "not an object"),
        ("text", {"body": ""}),
        ("text", {"body": ["a", "list"]}),
        ("interactive", {"type": "call_permission_reply"}),
        ("contacts", []),
        ("edit", {"original_message_id": "wamid.x", "message": {"type": "edit"}}),
        ("", None),
    ]
    for found in (one("unsupported", None, **unknown), *(one(*case) for case in cases)):
        assert found.text.startswith("[A message of a type that cannot be read here: ")
        assert (found.silent, found.meta["placeholder"]) == (True, True)


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


def test_everybody_in_a_batch_has_the_right_name() -> None:
    value = META.value(META.text(KIM, "1"), META.text(LEE, "2"))
    value["contacts"] = [
        {"profile": {"name": "Lee"}, "wa_id": LEE, "user_id": "US.lee"},
        {"profile": {"name": "Kim"}, "wa_id": KIM},
    ]
    kim, lee = read(META.payload(value), "106").arrivals
    assert (kim.name, kim.also) == ("Kim", ())
    assert (lee.name, lee.also) == ("Lee", ("US.lee",))


def test_nothing_that_a_database_cannot_hold_gets_through() -> None:
    (found,) = arrivals(META.text(KIM, "a\x00b\ud800"), name="K\x00im")
    assert (found.text, found.name) == ("a\ufffdb\ufffd", "K\ufffdim")
    priced = META.status("w1", "sent", pricing={"category": "u\x00", "type": "regular", "pricing_model": "\ud800"})
    (status,) = read(META.payload(META.value(statuses=(priced,))), "106").statuses
    assert status.pricing == {"category": "u\ufffd", "type": "regular", "pricing_model": "\ufffd"}


ROOM = 70


SHOWN = {
    "**bold** and __bold__": "*bold* and *bold*",
    "*italic* and _italic_": "_italic_ and _italic_",
    "***both***": "*_both_*",
    "~~gone~~": "~gone~",
    "# Title\ntext": "*Title*\ntext",
    "## **Title** ##": "*Title*",
    "see [the page](https://x.example/a_b)": "see the page (https://x.example/a_b)",
    "* one\n* two\n+ three": "- one\n- two\n- three",
    "2 * 3 * 4 = 24": "2 * 3 * 4 = 24",
    "snake_case_name stays": "snake_case_name stays",
    "run `rm -rf **x**` now": "run `rm -rf **x**` now",
    "``a `b` c``": "`a `b` c`",
    "```python\nx = **y**\n```\nafter": "```\nx = **y**\n```\nafter",
    "~~~\ncode\n~~~": "```\ncode\n```",
    "```\nnever closed": "```\nnever closed\n```",
    r"a \*star\*": "a *star*",
    "a\n\n---\n\nb": "a\n\n———\n\nb",
    "": "",
    "\ue0000\ue001 \ue002": "0 ",
}


def test_markdown_becomes_whatsapps_own_signs() -> None:
    assert {markdown: formatted(markdown) for markdown in SHOWN} == SHOWN


def test_a_long_text_is_cut_at_paragraphs_and_nothing_is_lost() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(30))
    pieces = split(text, 1000)
    assert all(length(piece) <= 1000 for piece in pieces)
    assert " ".join(pieces).split() == text.split()
    assert all(piece.startswith("Paragraph") for piece in pieces)


def test_code_that_is_cut_is_closed_and_opened_again_and_any_text_fits() -> None:
    code = "\n".join(f"    line {number} of the program" for number in range(300))
    pieces = split(f"Here it is:\n```\n{code}\n```\nThat is all.", 1500)
    assert len(pieces) > 4
    assert all(length(piece) <= 1500 and piece.count("```") % 2 == 0 for piece in pieces)
    inside = "\n".join(line for piece in pieces for line in piece.splitlines() if "```" not in line)
    assert inside == f"Here it is:\n{code}\nThat is all."
    for text in ("x" * 9000, "😀" * 5000, "a ``` b " * 900, "```" * 3000, " \n" * 5000 + "end"):
        pieces = split(text, 4026)
        assert pieces
        assert all(0 < length(piece) <= 4026 for piece in pieces if piece != text)


def buttons(count: int, text: str = "Choice") -> list[Button]:
    return [Button(f"{text} {number}", f"c:0197:{number}") for number in range(count)]


def accepted(body: dict[str, object]) -> bool:
    """Whether the loopback server, which refuses what Meta refuses, takes it."""
    return complaint({**recipient("4915112345678"), **body}, {"note": 1}) is None


def test_whatever_is_offered_meta_takes_it() -> None:
    questions = ("Which?", "long " * 1500, "x" * 5000)
    texts = ("Short", "Delete everything in the folder of the project, really " * 3, "😀" * 40)
    for count, text, question in product((1, 2, 3, 4, 10, 11), texts, questions):
        made = parts(question, buttons(count, text), ROOM)
        assert all(accepted(message("y" * ROOM + part.text, part.buttons)) for part in made), (count, text, question)
        assert all(not part.buttons for part in made[:-1])
        assert len(made[-1].buttons) == (count if count <= 10 else 0)


def test_titles_that_are_shortened_are_told_apart_and_a_row_has_the_whole_in_its_description() -> None:
    alike = [Button(f"Restart the web server on host {name}", f"c:1:{name}") for name in ("one", "two")]
    titles = [one["reply"]["title"] for one in message("?", alike)["interactive"]["action"]["buttons"]]
    assert titles[0] != titles[1]
    assert titles[1].startswith("2. Restart")
    row = message("?", buttons(4, "Restart the web server on host"))["interactive"]["action"]["sections"][0]["rows"][0]
    whole = "Restart the web server on host 0"
    assert row == {"id": "c:0197:0", "title": "Restart the web server…", "description": whole}


def test_a_template_carries_the_text_on_one_line_if_it_fits() -> None:
    made = template("note", "de", "Your order\n\n- pump\n\t- hose     is ready")
    assert made is not None
    assert accepted(made)
    (body,) = made["template"]["components"]
    assert body["parameters"] == [{"type": "text", "text": "Your order · - pump · - hose is ready"}]
    assert template("note", "de", "x" * 901) is None
    assert template("", "de", "x") is None


def test_a_file_is_shown_as_what_it_is() -> None:
    assert media("image/png", "1", "a.png", "look")["image"] == {"id": "1", "caption": "look"}
    assert media("audio/ogg", "1", "a.ogg", "look")["audio"] == {"id": "1"}
    assert media("text/csv", "1", "a.csv")["document"] == {"id": "1", "filename": "a.csv"}


RAW = '{"object": "whatsapp_business_account", "ü": 1}'.encode()


def test_exactly_the_bytes_that_meta_signed_with_our_secret_are_accepted() -> None:
    # Made with: printf '{"a":1}' | openssl dgst -sha256 -hmac secret
    expected = "sha256=aa9e2e3575f5d7098b6caccd790888c36d5fdb63342a73bada2d6a51747a8494"
    assert signature("secret", b'{"a":1}') == expected
    header = signature("secret", RAW)
    assert signed("secret", RAW, header)
    assert not any(signed("secret", raw, header) for raw in (RAW + b" ", RAW.replace(b" ", b"")))
    bad = ["", "sha256=", "sha1=abc", "sha256=" + "0" * 64, "ünïcode", "\udcff", header.removeprefix("sha256=")]
    assert [one for one in bad if signed("secret", RAW, one)] == []
    assert not signed("other", RAW, header)
    assert not signed("", RAW, signature("", RAW)), "without a secret nothing is signed"
