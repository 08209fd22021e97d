"""Pairing codes: read as people type them, never guessed from words, never kept."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4

from laneway.domain.conversation import Role
from laneway.domain.pairing import ALPHABET, Pairing, code_in, hashed, matching, new_code


def stored(code: str) -> Pairing:
    made = uuid4()
    return Pairing(made, hashed(code, made), Role.OWNER, None, "", 5, datetime.now(UTC), None, None)


def test_a_code_has_eight_characters_that_look_like_nothing_else() -> None:
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    for code in codes:
        head, dash, tail = code.partition("-")
        assert (len(head), dash, len(tail)) == (4, "-", 4)
        assert set(head + tail) <= set(ALPHABET)
    assert not set(ALPHABET) & set("01OILZSBGUAEY")


TYPED = (
    "3KC7-RC8W", "3kc7-rc8w", " 3kc7 rc8w\n", "3KC7\u2013RC8W", "3 k c 7 r c 8 w", "/start 3KC7-RC8W",
    "/start@my_bot 3kc7rc8w", "/pair 3KC7 RC8W", "\uff13KC7-RC8W",
)  # fmt: skip
OTHERS = (
    "", "sentence", "question", "3KC7-RC8", "3KC7-RC8WX", "code 3KC7-RC8W", "12345678", "3KC7_RC8W", "-" * 60,
)  # fmt: skip


def test_a_code_is_read_however_it_is_typed_and_other_texts_are_none() -> None:
    assert {typed: code_in(typed) for typed in TYPED} == dict.fromkeys(TYPED, "3KC7RC8W")
    assert {text: code_in(text) for text in OTHERS} == dict.fromkeys(OTHERS)


def test_a_code_matches_its_own_hash_only() -> None:
    pairings = [stored("3KC7-RC8W"), stored("XXXX-2345")]
    assert matching("XXXX2345", pairings) is pairings[1]
    assert matching("XXXX2346", pairings) is None
    assert matching("XXXX2345", []) is None
    assert hashed("3KC7RC8W", UUID(int=1)) != hashed("3KC7RC8W", UUID(int=2))
