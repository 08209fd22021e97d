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
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import load

HELDOUT = Path(__file__).parent / "heldout" / "turns.jsonl"
LEAST_RIGHT = {CONVERSATIONS: 0.90, HELDOUT: 0.82}


@pytest.fixture(scope="module")
def cascade() -> Cascade:
    taxonomies = load()
    local = LocalClassifier(taxonomies)
    local.warm(["message"], 2)
    return Cascade(local=local, taxonomies=taxonomies)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("file", LEAST_RIGHT, ids=lambda file: file.stem)
async def test_the_last_turns_of_conversations_are_judged_right(cascade: Cascade, file: Path) -> None:
    cases = read(file)
    wrong = []
    for number, case in enumerate(cases, 1):
        judged = await cascade.judge(turns_of(case["turns"]))
        if (judged.intent, judged.needs_confirmation) != (case["label"], case["needs_confirmation"]):
            wrong.append(number)
    share = 1 - len(wrong) / len(cases)
    print(f"{file.name}: {len(cases)} conversations, right {share:.1%}, wrong in lines {wrong}")
    assert len(cases) >= 60
    assert share >= LEAST_RIGHT[file]


@pytest.mark.parametrize(
    ("said", "intent", "confirm"),
    [
        (("restart nginx on web1", "Done.", "and web2 too"), "command", True),
        (("is nginx up on web1?", "Yes, for 12 days.", "and web2?"), "question", False),
        (("nginx hangs", "Shall I restart nginx on web1?", "do it"), "command", True),
        (("what is wrong?", "1. the disk is full 2. nginx hangs. Shall I 1. clear /tmp or 2. restart nginx?",
          "yes, the second one"), "command", True),
        (("nginx hangs", "Shall I restart nginx on web1?", "no, leave it"), "other", False),
        (("the log?", "Shall I show the last 50 lines of the log?", "yes please"), "command", False),
    ],
)  # fmt: skip
async def test_what_a_short_message_refers_to_decides(
    cascade: Cascade, said: tuple[str, ...], intent: str, confirm: bool
) -> None:
    authors = ["user", "assistant"] * len(said)
    turns = [{"author": author, "text": text} for author, text in zip(authors, said, strict=False)]
    judged = await cascade.judge(turns_of(turns))
    assert (judged.intent, judged.needs_confirmation) == (intent, confirm)
