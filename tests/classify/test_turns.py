"""Short messages after what was said before: the last turn of each conversation is judged by what it refers to.

The conversations that come with the program were learned from, and most of them were in sight when the words and acts
of the rules were written; those in `heldout` never.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laneway.classify.cascade import Cascade
from laneway.classify.context_learned import CONVERSATIONS, turns_of
from laneway.classify.taxonomy import load
from tests.classify.asking import turns
from tests.classify.encoders import classifier

HANDS = sorted((Path(__file__).parent / "heldout").glob("turns*.jsonl"))
LEAST_RIGHT, LEAST_RIGHT_OF_A_HAND = 0.90, 0.78


@pytest.fixture
def cascade() -> Cascade:
    classifier().warm(["message"], 2)
    return Cascade(local=classifier(), taxonomies=load())


@pytest.mark.timeout(300)
async def test_the_last_turns_of_conversations_that_nobody_learned_from_are_judged_right(cascade: Cascade) -> None:
    found = [await right(cascade, file) for file in HANDS]
    assert len(HANDS) == 6
    assert min(map(len, found)) >= 60
    assert min(sum(hand) / len(hand) for hand in found) >= LEAST_RIGHT_OF_A_HAND
    assert sum(map(sum, found)) / sum(map(len, found)) >= LEAST_RIGHT


@pytest.mark.timeout(300)
async def test_what_was_learned_from_conversations_is_not_forgotten(cascade: Cascade) -> None:
    learned = await right(cascade, CONVERSATIONS, every=20)
    assert sum(learned) / len(learned) >= 0.95


def cases_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


async def right(cascade: Cascade, file: Path, every: int = 1) -> list[bool]:
    """Which conversations of a file are judged right; the figures are printed without a text."""
    found = []
    for case in cases_of(file)[::every]:
        judged = await cascade.judge(turns_of(case["turns"]))
        found.append((judged.intent, judged.needs_confirmation) == (case["label"], case["needs_confirmation"]))
    wrong = [place * every + 1 for place, one in enumerate(found) if not one]
    print(f"{file.name}: {len(found)} conversations, right {sum(found) / len(found):.1%}, wrong in lines {wrong}")
    return found


CHOICES = "1. the disk is full 2. nginx hangs. Shall I 1. clear /tmp or 2. restart nginx?"
SAID = {
    ("restart nginx on web1", "Done.", "and web2 too"): ("command", True),
    ("is nginx up on web1?", "Yes, for 12 days.", "and web2?"): ("question", False),
    ("nginx hangs", "Shall I restart nginx on web1?", "do it"): ("command", True),
    ("what is wrong?", CHOICES, "yes, the second one"): ("command", True),
    ("nginx hangs", "Shall I restart nginx on web1?", "no, leave it"): ("other", False),
    ("the log?", "Shall I show the last 50 lines of the log?", "yes please"): ("command", False),
}


async def test_what_a_short_message_refers_to_decides(cascade: Cascade) -> None:
    judged = {said: await cascade.judge(turns(*said)) for said in SAID}
    assert {said: (one.intent, one.needs_confirmation) for said, one in judged.items()} == SAID
