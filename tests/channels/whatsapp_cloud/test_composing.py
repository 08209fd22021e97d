"""Replies within WhatsApp's limits: its signs, its lengths, its buttons and lists, and templates."""

from __future__ import annotations

import pytest

from laneway.channels.contract import Button
from laneway.channels.whatsapp_cloud.composing import media, message, parts, recipient, template
from laneway.channels.whatsapp_cloud.formatting import formatted
from laneway.channels.whatsapp_cloud.splitting import length, shortened, split
from tests.servers.whatsapp_rules import complaint

ROOM = 70


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**bold** and __bold__", "*bold* and *bold*"),
        ("*italic* and _italic_", "_italic_ and _italic_"),
        ("***both***", "*_both_*"),
        ("~~gone~~", "~gone~"),
        ("# Title\ntext", "*Title*\ntext"),
        ("## **Title** ##", "*Title*"),
        ("see [the page](https://x.example/a_b)", "see the page (https://x.example/a_b)"),
        ("* one\n* two\n+ three", "- one\n- two\n- three"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("run `rm -rf **x**` now", "run `rm -rf **x**` now"),
        ("``a `b` c``", "`a `b` c`"),
        ("```python\nx = **y**\n```\nafter", "```\nx = **y**\n```\nafter"),
        ("~~~\ncode\n~~~", "```\ncode\n```"),
        ("```\nnever closed", "```\nnever closed\n```"),
        (r"a \*star\*", "a *star*"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("plain", "plain"),
        ("", ""),
        ("\ue0000\ue001 \ue002", "0 "),
    ],
)
def test_markdown_becomes_whatsapps_own_signs(markdown: str, shown: str) -> None:
    assert formatted(markdown) == shown


def test_a_long_text_is_cut_at_paragraphs_and_nothing_is_lost() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(30))
    pieces = split(text, 1000)
    assert all(length(piece) <= 1000 for piece in pieces)
    assert " ".join(pieces).split() == text.split()
    assert all(piece.startswith("Paragraph") for piece in pieces)


def test_code_that_is_cut_is_closed_and_opened_again() -> None:
    code = "\n".join(f"    line {number} of the program" for number in range(300))
    text = f"Here it is:\n```\n{code}\n```\nThat is all."
    pieces = split(text, 1500)
    assert len(pieces) > 4
    for piece in pieces:
        assert length(piece) <= 1500
        assert piece.count("```") % 2 == 0
    inside = "\n".join(line for piece in pieces for line in piece.splitlines() if "```" not in line)
    assert inside == f"Here it is:\n{code}\nThat is all."


@pytest.mark.parametrize("text", ["x" * 9000, "😀" * 5000, "a ``` b " * 900, "```" * 3000, " \n" * 5000 + "end"])
def test_any_text_is_cut_within_the_limit(text: str) -> None:
    pieces = split(text, 4026)
    assert pieces
    assert all(0 < length(piece) <= 4026 for piece in pieces if piece != text)


def test_a_line_that_is_too_long_is_shortened_at_a_word_and_says_so() -> None:
    assert shortened("Yes, always for this folder", 20) == "Yes, always for…"
    assert shortened("Yes", 20) == "Yes"
    assert shortened("Donaudampfschifffahrtsgesellschaft", 20) == "Donaudampfschifffah…"
    assert length(shortened("😀" * 30, 20)) <= 20


def buttons(count: int, text: str = "Choice") -> list[Button]:
    return [Button(f"{text} {number}", f"c:0197:{number}") for number in range(count)]


def accepted(body: dict[str, object]) -> bool:
    """Whether the loopback server, which refuses what Meta refuses, takes it."""
    return complaint({**recipient("4915112345678"), **body}, {"note": 1}) is None


def test_three_buttons_are_reply_buttons_four_a_list_and_eleven_lines_to_answer_by_number() -> None:
    (three,) = parts("Which?", buttons(3), ROOM)
    assert message(three.text, three.buttons)["interactive"]["type"] == "button"
    (ten,) = parts("Which?", buttons(10), ROOM)
    assert message(ten.text, ten.buttons)["interactive"]["type"] == "list"
    (eleven,) = parts("Which?", buttons(11), ROOM)
    assert eleven.buttons == ()
    assert eleven.text.endswith("11. Choice 10")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 10, 11])
@pytest.mark.parametrize("text", ["Short", "Delete everything in the folder of the project, really " * 3, "😀" * 40])
def test_whatever_is_offered_meta_takes_it(count: int, text: str) -> None:
    for question in ("Which?", "long " * 1500, "x" * 5000):
        made = parts(question, buttons(count, text), ROOM)
        assert all(accepted(message("y" * ROOM + part.text, part.buttons)) for part in made)
        assert all(not part.buttons for part in made[:-1])
        assert len(made[-1].buttons) == (count if count <= 10 else 0)


def test_titles_that_become_alike_when_shortened_are_told_apart() -> None:
    alike = [
        Button("Restart the web server on host one", "c:1:0"),
        Button("Restart the web server on host two", "c:1:1"),
    ]
    titles = [one["reply"]["title"] for one in message("?", alike)["interactive"]["action"]["buttons"]]
    assert len(set(titles)) == 2
    assert titles[1].startswith("2. Restart")


def test_a_row_that_is_too_long_has_the_whole_in_its_description() -> None:
    row = message("?", buttons(4, "Restart the web server on host"))["interactive"]["action"]["sections"][0]["rows"][0]
    assert row == {
        "id": "c:0197:0",
        "title": "Restart the web server…",
        "description": "Restart the web server on host 0",
    }


def test_a_phone_number_and_a_user_id_stand_in_different_fields() -> None:
    assert recipient("4915112345678")["to"] == "4915112345678"
    assert recipient("DE.aB12")["recipient"] == "DE.aB12"
    assert "to" not in recipient("DE.aB12")


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
