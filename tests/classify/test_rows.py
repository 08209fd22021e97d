"""Rows of numbers, dense and sparse: what is computed with them is what whole matrices would give."""

from __future__ import annotations

import numpy as np
import pytest

from laneway.classify import words
from laneway.classify.rows import Matrix, Rows, Sparse, below
from laneway.classify.softmax import FEWEST, Softmax, last_or_rest, softmax, threshold_for

CHANCE = np.random.default_rng(7)
WIDTH = 40


def some_sparse(count: int) -> Sparse:
    sizes = CHANCE.integers(1, 9, count)
    places = [np.sort(CHANCE.choice(WIDTH, size, replace=False)).astype(np.int32) for size in sizes]
    return Sparse.of([(place, CHANCE.normal(size=len(place)).astype(np.float32)) for place in places], WIDTH)


def some_rows(count: int) -> Rows:
    return Rows(CHANCE.normal(size=(count, 6)).astype(np.float32), some_sparse(count))


def whole(rows: Rows) -> Matrix:
    """The same rows as one matrix, with the column of ones at its end."""
    return np.hstack([rows.dense, spread(rows.sparse), np.ones((len(rows), 1), np.float32)])


def spread(sparse: Sparse) -> Matrix:
    found = np.zeros((len(sparse), sparse.width), np.float32)
    for row in range(len(sparse)):
        inside = slice(sparse.starts[row], sparse.starts[row + 1])
        found[row, sparse.places[inside]] = sparse.numbers[inside]
    return found


@pytest.mark.parametrize("count", [1, 7, 700])
def test_rows_times_weights_and_back_are_those_of_the_whole_matrix(count: int) -> None:
    rows = some_rows(count)
    weights = CHANCE.normal(size=(rows.width, 3)).astype(np.float32)
    errors = CHANCE.normal(size=(count, 3)).astype(np.float32)
    assert rows.times(weights) == pytest.approx(whole(rows) @ weights, abs=1e-4)
    assert rows.back(errors) == pytest.approx(whole(rows).T @ errors, abs=1e-3)


def test_rows_are_taken_put_below_and_beside_each_other() -> None:
    first, second = some_rows(5), some_rows(3)
    assert np.array_equal(whole(first.take(np.array([3, 0, 3]))), whole(first)[[3, 0, 3]])
    assert np.array_equal(whole(below([first, second])), np.vstack([whole(first), whole(second)]))
    more = CHANCE.normal(size=(5, 2)).astype(np.float32)
    assert np.array_equal(first.beside(more).dense, np.hstack([first.dense, more]))
    other = some_sparse(5)
    assert np.array_equal(spread(first.sparse.beside(other)), np.hstack([spread(first.sparse), spread(other)]))


@pytest.mark.parametrize("text", ["", "?", "restart nginx on web1", "重启 web1", "a" * 5_000])
def test_every_text_has_words_that_weigh_what_they_may(text: str) -> None:
    found = words.rows([text, "something else"], 0.5)
    first = found.take(np.array([0]))
    assert len(found) == 2
    assert len(first.places) >= 1
    assert first.places.max() < found.width == words.WIDTH
    most = np.sqrt(sum((weight * 0.5) ** 2 for weight in words.WEIGHTS.values()))
    assert 0 < float(np.linalg.norm(first.numbers)) <= most + 1e-4


def test_what_is_rare_counts_more() -> None:
    rare = words.rarity(["restart nginx"] * 9 + ["restart postgres"])
    common, seldom = (words.places_of([word])[0] for word in ("restart", "postgres"))
    assert rare[0][seldom] > rare[0][common] == pytest.approx(0.0)


def test_a_yes_is_told_from_all_kinds_of_no_together() -> None:
    scores = np.array([[1.0, 1.0, 1.5], [0.0, -9.0, 3.0]], np.float32)
    model = Softmax(np.zeros((1, 3), np.float32), 1.0, yes_or_no=True)
    assert model.of_scores(scores)[:, 1] == pytest.approx(softmax(scores)[:, 2], abs=1e-6)
    assert last_or_rest(scores).shape == (2, 2)


def test_a_handful_of_right_answers_makes_nothing_sure() -> None:
    def least_sure(count: int) -> float:
        likely = np.array([[0.9, 0.1]] * count + [[0.6, 0.4]] * 4, np.float32)
        return threshold_for(1.0, likely, np.array([0] * count + [1] * 4))

    assert least_sure(FEWEST - 1) == 1.0
    assert least_sure(FEWEST) == pytest.approx(0.9)
