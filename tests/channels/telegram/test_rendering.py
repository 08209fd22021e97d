"""A model's Markdown as a person sees it on Telegram: read back by the parser of the loopback Bot API."""

from __future__ import annotations

import random
from typing import Any

from laneway.channels.telegram.rendering import EMPTY, render
from laneway.channels.telegram.runs import blank, entities, html, units, visible
from laneway.channels.telegram.splitting import LONGEST_HTML, MOST_ENTITIES, split
from tests.servers.telegram_html import parse_html, utf16
from tests.servers.telegram_methods import formatted

LIMIT = 3796


def seen(markdown: str) -> tuple[str, list[tuple[str, str]]]:
    """What the person sees, and which words are marked how."""
    text, marked = formatted({"text": html(render(markdown)), "parse_mode": "HTML"})
    return text, [(kind(entity), covered(text, entity)) for entity in marked]


def kind(entity: dict[str, Any]) -> str:
    return " ".join(str(entity[key]) for key in ("type", "url", "language") if entity.get(key))


def covered(text: str, entity: dict[str, Any]) -> str:
    raw = text.encode("utf-16-le")
    return raw[entity["offset"] * 2 : (entity["offset"] + entity["length"]) * 2].decode("utf-16-le")


SHOWN: list[tuple[str, str, list[tuple[str, str]]]] = [
    ("**b** *i* ~~s~~ `c`", "b i s c", [("bold", "b"), ("italic", "i"), ("strikethrough", "s"), ("code", "c")]),
    ("***both***", "both", [("bold", "both"), ("italic", "both")]),
    ("**a `rm -rf` b**", "a rm -rf b", [("bold", "a "), ("code", "rm -rf"), ("bold", " b")]),
    ("# Title\ntext", "Title\n\ntext", [("bold", "Title")]),
    ("```python\nif a < b:\n    pass\n```", "if a < b:\n    pass", [("pre python", "if a < b:\n    pass")]),
    ("```\n<b>&amp;\n```", "<b>&amp;", [("pre", "<b>&amp;")]),
    ("before\n\n```lonely\n```", "before\n\nlonely", []),
    ("```see this file\nx\n```", "see this file\n\nx", [("pre", "x")]),
    ("[a & b](https://x.org/?q=1&r=%20)", "a & b", [("text_link https://x.org/?q=1&r=%20", "a & b")]),
    ("![chart](https://x.org/c.png)", "chart", [("text_link https://x.org/c.png", "chart")]),
    ("- a\n- b\n  - c\n\n3. d\n4. e", "• a\n• b\n   ◦ c\n\n3. d\n4. e", []),
    ("> said\n> so\n\nno", "said\nso\n\nno", [("blockquote", "said\nso")]),
    ("|a|bb|\n|-|-|\n|😀|**2**|", "a  | bb\n---+---\n😀 | 2", [("pre", "a  | bb\n---+---\n😀 | 2")]),
    ("😀 **b**", "😀 b", [("bold", "b")]),
    *((text, text, []) for text in ("snake_case and 2 * 3 * 4 < 5 & <script>", "~/.ssh/*.pub and __init__.py")),
    *((nothing, EMPTY, []) for nothing in ("", " \n", "\u200b\u2800", "\x00")),
]
NO_WEB = (
    "[x](javascript:alert(1))|[x](tg://proxy?server=evil)|[x](data:text/html,hi)|[x](file:///etc/passwd)|"
    "<javascript:alert(1)>|[x](mailto:a@b.c)|![x](JaVaScRiPt:1)|[ref]: https://gone.example"
)


def test_markdown_is_shown_as_telegram_can_show_it_and_links_that_do_not_lead_to_the_web_as_written() -> None:
    cases = [*SHOWN, *((link, link, []) for link in NO_WEB.split("|"))]
    wrong = [f"{markdown!r}: {seen(markdown)}" for markdown, *shown in cases if seen(markdown) != tuple(shown)]
    assert not wrong, "\n".join(wrong)


def test_a_long_code_block_is_closed_and_reopened_at_a_line_end() -> None:
    lines = [f"line {n} <&>" for n in range(900)]
    parts = split(render("Look:\n\n```sh\n" + "\n".join(lines) + "\n```\n\nDone **now**."), LIMIT)
    assert len(parts) >= 3
    shown: list[str] = []
    for part in parts:
        text, marked = parse_html(html(part))
        assert utf16(text) <= LIMIT
        blocks = [entity for entity in marked if entity["type"] == "pre"]
        assert [block["language"] for block in blocks] == ["sh"]
        shown += covered(text, blocks[0]).split("\n")
    assert shown == lines


def test_a_code_block_or_mark_that_fits_is_not_cut_even_if_the_part_becomes_short() -> None:
    block = "\n".join(f"row {n}" for n in range(300))
    parts = split(render("word " * 400 + f"\n\n```\n{block}\n```\n\n" + "word " * 400), LIMIT)
    whole = [covered(text, e) for text, marks in (parse_html(html(p)) for p in parts) for e in marks]
    assert whole == [block]
    bold = "b" * 3000
    parts = split(render(f"{'a' * 1000} **{bold}** {'c' * 3000}"), LIMIT)
    assert [visible(part) for part in parts] == ["a" * 1000, bold, "c" * 3000]


def test_a_part_ends_between_paragraphs_lines_or_words_before_it_ends_anywhere() -> None:
    paragraphs = ["word " * 120] * 12
    for part in split(render("\n\n".join(paragraphs)), LIMIT)[:-1]:
        assert visible(part).endswith("word")
        assert len(visible(part)) % 601 in (599, 600)
    assert [len(visible(part)) for part in split(render("x" * 9000), LIMIT)] == [LIMIT, LIMIT, 9000 - 2 * LIMIT]


def test_what_is_drawn_as_one_is_not_torn() -> None:
    family = "👩\u200d👩\u200d👧\u200d👦"
    parts = split(render(family * 1000), LIMIT)
    assert all(visible(part).startswith("👩") and visible(part).endswith("👦") for part in parts)
    assert "".join(visible(part) for part in parts) == family * 1000


def test_a_message_holds_no_more_entities_or_bytes_than_telegram_reads() -> None:
    parts = split(render(" ".join(f"**w{n}**" for n in range(450))), LIMIT)
    assert all(len(entities(part)) <= MOST_ENTITIES for part in parts)
    assert " ".join(visible(part) for part in parts) == " ".join(f"w{n}" for n in range(450))
    link = "https://x.org/" + "&" * 400
    rich = split(render(" ".join(f"[{n}]({link})" for n in range(90))), LIMIT)
    assert all(len(html(part).encode()) <= LONGEST_HTML for part in rich)


MARKS = "** * _ __ ` `` ``` ~~ [ ]( ](https://x.org/a) ) ! | <b> </b> < > & &amp; &#60; \\ — ' \" http://y.org 漢字"
PIECES = [
    *MARKS.split(),
    *("```py\n", "# ", "> ", "- ", "1. ", "\n", "\n\n", "|-|\n", "    ", "\t", "---\n", "<https://z.org>", "\r\n"),
    *("😀", "👩\u200d🚀", "e\u0301", "\u202e", "\x00", "\ud800"),
]


def hostile_text(chance: random.Random) -> tuple[str, list[str]]:
    """Random pieces of markup around words that can be told apart."""
    words: list[str] = []
    pieces: list[str] = []
    for _ in range(chance.choice((3, 30, 300, 1500))):
        if chance.random() < 0.5:
            words.append(f"w{len(words)}z")
            pieces.append(words[-1] + chance.choice(("", " ", " ", "\n")))
        else:
            pieces.append(chance.choice(PIECES) * chance.choice((1, 1, 1, 2, 40)))
    return "".join(pieces), words


def test_every_part_of_any_text_is_taken_and_no_visible_character_is_lost() -> None:
    for seed in range(40):
        chance = random.Random(seed)
        source, words = hostile_text(chance)
        runs = render(source)
        limit = chance.choice((40, 200, LIMIT))
        shown = []
        for part in split(runs, limit):
            assert units(visible(part)) <= limit, seed
            text, _ = formatted({"text": html(part), "parse_mode": "HTML"})
            assert text in (visible(part).lstrip(), visible(part)), seed
            assert not blank(text), seed
            shown.append(text)
        assert "".join("".join(shown).split()) == "".join(visible(runs).split()), seed
        # No word of the source is lost either: each is seen, or is part of a target.
        kept = "".join(mark.argument for run in runs for mark in run.marks)
        assert [word for word in words if word not in visible(runs) and word not in kept] == [], seed
