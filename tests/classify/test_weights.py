"""The weights that come with the program are those of its taxonomies, and training gives the same again."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from laneway.classify.local import LocalClassifier
from laneway.classify.ship import wanted
from laneway.classify.softmax import FEWEST, threshold_for
from laneway.classify.taxonomy import Label, Taxonomy, load
from laneway.classify.training import SHIPPED, at_hand, folds, trained
from laneway.llm.encoders import EncoderMissing, UseEncoder

ASK = ("how full is the disk?", "is it up?", "who is logged in?", "why is it slow?", "what is the load?", "since when?")
TELL = ("restart it", "delete the old logs", "show the last lines", "list all users", "stop the job", "print the plan")
SMALL = Taxonomy("small", (Label("ask", examples=ASK), Label("tell", examples=TELL)), fallback="ask")


def test_the_shipped_weights_are_those_of_the_taxonomies_as_they_are() -> None:
    assert {path.name for path in SHIPPED.glob("*.npz")} == wanted(), "run `make weights`"


def test_training_twice_gives_the_same_to_the_last_bit_and_is_found_again_until_an_example_changes(
    tmp_path: Path,
) -> None:
    assert at_hand(SMALL, [], tmp_path / "one") is None
    first, second = (trained(SMALL, [], tmp_path / name)["label"] for name in ("one", "two"))
    assert np.array_equal(first.model.weights, second.model.weights)
    assert (first.sure, first.guard, first.model.temperature) == (second.sure, second.guard, second.model.temperature)
    assert at_hand(SMALL, [], tmp_path / "one") is not None
    other = Taxonomy("small", (Label("ask", examples=ASK[1:]), Label("tell", examples=TELL)), fallback="ask")
    assert at_hand(other, [], tmp_path / "one") is None


def test_neighbours_are_never_judged_by_each_other() -> None:
    labels = np.array([0] * 400 + [1] * 60)
    found = folds(labels)
    assert len({*found[:50]}) == 1
    assert {*found[:400]} == {*found[400:]} == {0, 1, 2, 3, 4}
    assert np.array_equal(folds(np.append(labels[:400], 0))[:400], found[:400]), "one more changes nothing for others"


def missing() -> UseEncoder:
    raise EncoderMissing("The package of the first encoder is not installed.")


def test_without_encoders_words_and_grammar_judge_and_it_is_said() -> None:
    classifier = LocalClassifier(load(), None, [missing])
    for text, label in (("restart nginx on web1", "command"), ("what is the uptime of web1?", "question")):
        found = classifier.judge("message", text)
        assert (found.label, found.tier) == (label, 0)
    assert classifier.missing == ["The package of the first encoder is not installed."]


def test_a_handful_of_right_answers_makes_nothing_sure() -> None:
    def least_sure(count: int) -> float:
        likely = np.array([[0.9, 0.1]] * count + [[0.6, 0.4]] * 4, np.float32)
        return threshold_for(1.0, likely, np.array([0] * count + [1] * 4))

    assert least_sure(FEWEST - 1) == 1.0
    assert least_sure(FEWEST) > 0.89
