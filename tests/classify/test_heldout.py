"""Texts that were never used to choose or fit anything: what a stranger's message would meet, without a model.

Failures name lines of the files and never their texts: whoever repairs a failure must not repair it for these texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from laneway.classify.evaluation import Evaluation, case_of, evaluate, text_in
from laneway.classify.rules import normalise
from laneway.classify.taxonomy import load
from tests.classify.encoders import classifier

FOLDER = Path(__file__).parent / "heldout"
HANDS = ("", "-2", "-3", "-4", "-5", "-6", "-7")
"""Seven writers who saw neither the examples nor each other: the first writes far more obliquely than the others."""
LEAST_RIGHT = {"message": 0.96, "route": 0.90, "function": 0.87, "secretary": 0.91, "lane": 0.88}
LEAST_RIGHT_WHEN_SURE = {"message": (0.98, 0.80), "secretary": (0.98, 0.80)}
"""How many of the answers above the threshold are right, and how many answers are above it."""
MOST_MISCALIBRATED = 0.04
MOST_OF = {
    "message": {"needs_confirmation missed": 0.02, "needs_confirmation": 0.08},
    "lane": {"execute taken as patch": 0.02},
    "function": {"human routed elsewhere": 0.02},
}
"""Dangerous errors, and needless questions."""
LEAST_ROWS = 150

pytestmark = pytest.mark.slow


def rows_of(name: str) -> list[dict[str, Any]]:
    files = [FOLDER / f"{name}{hand}.jsonl" for hand in HANDS]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", LEAST_RIGHT)
def test_a_taxonomy_is_right_and_honest_on_texts_it_has_never_seen(name: str) -> None:
    taxonomy = load()[name]
    classifier().warm([name], 2)
    cases = [case_of(taxonomy, row) for row in rows_of(name)]
    found = evaluate(taxonomy, cases, lambda text: classifier().judge(name, text))
    print(summary(found))
    right_when_sure, sure = LEAST_RIGHT_WHEN_SURE.get(name, (0.0, 0.0))
    assert found.accuracy >= LEAST_RIGHT[name]
    assert found.calibration_error <= MOST_MISCALIBRATED
    assert found.accuracy_when_sure >= right_when_sure
    assert found.coverage >= sure
    for rate, most in MOST_OF.get(name, {}).items():
        counted = (found.dangerous | found.false_alarms)[rate]
        assert counted.count <= most * counted.of, f"{rate}: {counted.count} of {counted.of}"


def summary(found: Evaluation) -> str:
    """The figures without a text."""
    classes = ", ".join(f"{name} {one.recall:.0%} found {one.coverage:.0%} sure" for name, one in found.classes.items())
    rates = ", ".join(f"{name} {rate.count}/{rate.of}" for name, rate in (found.dangerous | found.false_alarms).items())
    return (
        f"{found.taxonomy}: {found.rows} texts, right {found.accuracy:.1%}, sure {found.coverage:.1%}, "
        f"right when sure {found.accuracy_when_sure:.1%}, calibration {found.calibration_error:.1%}, "
        f"tiers {found.tiers}\n  {classes}\n  {rates}"
    )


def test_no_heldout_text_repeats_four_words_or_the_whole_of_an_example() -> None:
    repeats = []
    for name in LEAST_RIGHT:
        examples = [text for text, _ in load()[name].examples()]
        grams, wholes = four_words(examples), {normalise(text) for text in examples}
        texts = [text_in(row) for row in rows_of(name)]
        found = [four_words([text]) & grams or normalise(text) in wholes for text in texts]
        repeats += [f"{name}, line {line} of all hands" for line, repeated in enumerate(found, 1) if repeated]
    assert not repeats, "\n".join(repeats)


def four_words(texts: Iterable[str]) -> set[tuple[str, ...]]:
    """All runs of four words in these texts."""
    found = [re.findall(r"\w+", text.casefold()) for text in texts]
    return {tuple(words[start : start + 4]) for words in found for start in range(len(words) - 3)}


def test_the_heldout_texts_are_many_and_hard_enough() -> None:
    for name in LEAST_RIGHT:
        rows, taxonomy = rows_of(name), load()[name]
        assert len(rows) >= LEAST_ROWS, name
        assert len({normalise(text_in(row)) for row in rows}) == len(rows), name
        assert sum(row["boundary"] for row in rows) >= 0.30 * len(rows), name
        assert sum(row["lang"] != "en" for row in rows) >= 0.10 * len(rows), name
        assert {case_of(taxonomy, row).label for row in rows} == set(taxonomy.names), name
