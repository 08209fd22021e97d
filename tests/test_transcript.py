"""What a model sees of a conversation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from laneway.domain.conversation import Attachment, Author
from laneway.domain.ids import new_id
from laneway.transcript import Turn, describe, tokens, trim


def turn(text: str) -> Turn:
    return Turn(new_id(), Author.USER, text)


def attachment(kind: str, preview: str = "", **meta: Any) -> Attachment:
    return Attachment(
        new_id(), new_id(), kind, "a.bin", "x/y", 2048, "artifact://x", preview, meta, datetime(2026, 1, 1, tzinfo=UTC)
    )


def test_the_oldest_turns_are_dropped_first_and_order_is_kept() -> None:
    turns = [turn(f"{number} " + "word " * 50) for number in range(10)]
    kept = trim(turns, token_budget=tokens(turns[0].text) * 3)
    assert [t.text[0] for t in kept] == ["7", "8", "9"]


def test_the_trigger_stays_even_when_it_alone_is_over_the_budget() -> None:
    turns = [turn("before"), turn("x" * 10_000)]
    assert trim(turns, token_budget=10) == turns[-1:]


def test_attachments_are_described_in_words() -> None:
    assert describe(attachment("voice", "call me back", seconds=12.5)) == "[voice note, 12.5 s: call me back]"
    assert describe(attachment("voice")) == "[voice note, unknown length: not transcribed]"
    assert describe(attachment("image", "a red door", width=640, height=480)) == "[image, 640×480: a red door]"
    assert describe(attachment("image", ocr="EXIT")) == "[image, 2048 bytes: not described; text in it: EXIT]"
    assert describe(attachment("file", "a,b\n1,2")) == "[file a.bin, 2048 bytes, x/y]\na,b\n1,2"
    assert describe(attachment("video", seconds=8, width=640, height=360)) == "[video, 8 s, 640×360: not watched]"
    assert describe(attachment("sticker", width=512, height=512)) == "[sticker, 512×512]"


def test_a_long_preview_is_cut() -> None:
    assert len(describe(attachment("file", "z" * 5000))) < 4100
    assert describe(attachment("file", "z" * 5000)).endswith("zzz\n[only its beginning is shown]")
    assert len(describe(attachment("voice", "z" * 9000))) < 6100
    assert len(describe(attachment("image", "z" * 9000, ocr="x" * 9000))) < 3100


def test_what_could_not_be_read_says_why() -> None:
    assert describe(attachment("voice", seconds=3, note="no transcription server is set")) == (
        "[voice note, 3 s: not transcribed (no transcription server is set)]"
    )
    assert describe(attachment("image", note="no model looks at images")) == (
        "[image, 2048 bytes: not described (no model looks at images)]"
    )
    assert describe(attachment("file", "could not be read: it is empty", note="it is empty")) == (
        "[file a.bin, 2048 bytes, x/y; could not be read: it is empty]"
    )
    assert describe(attachment("file", pages=12, note="there is no text in it")) == (
        "[file a.bin, 2048 bytes, x/y, 12 pages; there is no text in it]"
    )
