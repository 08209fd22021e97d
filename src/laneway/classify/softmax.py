"""Softmax regression in numpy: fitted in a moment, calibrated, reproducible to the last bit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from laneway.classify.rows import Matrix, Rows

Labels = NDArray[np.int64]
ROUNDS, MEMORY = 60, 8
FIRST_STRIDE, ENOUGH = 10.0, 1e-6
FOLDS = 5
FEWEST = 8
"""Right answers that are no luck any more: by tossing a coin they come once in 256 times."""


@dataclass(frozen=True)
class Softmax:
    """Weights of one decision, and the temperature that makes its probabilities honest.

    Where `yes_or_no` holds, the last column is a yes and the others are kinds of no: one row of probabilities is then
    that of no and that of yes.
    """

    weights: Matrix
    temperature: float = 1.0
    yes_or_no: bool = False

    def probabilities(self, rows: Rows) -> Matrix:
        """One row of probabilities for each text."""
        return self.of_scores(rows.times(self.weights))

    def of_scores(self, scores: Matrix) -> Matrix:
        """The probabilities of log-odds that were found elsewhere."""
        return softmax((last_or_rest(scores) if self.yes_or_no else scores) / self.temperature)


def fit(rows: Rows, labels: Labels, classes: int, decay: float) -> Matrix:
    """The weights that explain the labels, every class counting the same whatever its size."""
    return least(_Loss(rows, labels, classes, decay), np.zeros((rows.width, classes), np.float32))


def least(loss: Loss, weights: Matrix) -> Matrix:
    """The weights near which the loss is least (L-BFGS)."""
    value, slope = loss.at(weights)
    steps: deque[tuple[Matrix, Matrix]] = deque(maxlen=MEMORY)
    for _ in range(ROUNDS):
        direction = _direction(slope, steps)
        stride = 1.0 if steps else min(1.0, FIRST_STRIDE / float(np.abs(slope).sum() + 1e-9))
        found, new_value, new_slope = _walk(loss, weights, direction, stride, value, float((slope * direction).sum()))
        if value - new_value <= ENOUGH * abs(new_value):
            return found
        moved, bent = found - weights, new_slope - slope
        if float((moved * bent).sum()) > 1e-10:
            steps.append((moved, bent))
        weights, value, slope = found, new_value, new_slope
    return weights


class Loss(Protocol):
    """What is to be made small: its value and its slope at given weights."""

    def at(self, weights: Matrix) -> tuple[float, Matrix]: ...


class _Loss:
    """How surprised weights are by the labels, and where they should go."""

    def __init__(self, rows: Rows, labels: Labels, classes: int, decay: float) -> None:
        self._rows, self._labels, self._decay = rows, labels, decay / len(rows)
        self._targets = np.eye(classes, dtype=np.float32)[labels]
        sizes = np.bincount(labels, minlength=classes).clip(1)
        self._share = (1 / (classes * sizes))[labels].astype(np.float32)

    def at(self, weights: Matrix) -> tuple[float, Matrix]:
        found = softmax(self._rows.times(weights))
        surprise = -np.log(found[np.arange(len(self._labels)), self._labels] + 1e-12)
        slope = self._rows.back((found - self._targets) * self._share[:, None])
        slope[:-1] += self._decay * weights[:-1]
        value = float((surprise * self._share).sum()) + self._decay / 2 * float((weights[:-1] ** 2).sum())
        return value, slope


def _direction(slope: Matrix, steps: deque[tuple[Matrix, Matrix]]) -> Matrix:
    """Where to go, by the last steps' experience of how the slope bends (L-BFGS)."""
    wanted, shares = slope.copy(), []
    for moved, bent in reversed(steps):
        share = float((moved * wanted).sum() / (moved * bent).sum())
        shares.append(share)
        wanted -= share * bent
    if steps:
        moved, bent = steps[-1]
        wanted *= float((moved * bent).sum() / (bent * bent).sum())
    for (moved, bent), share in zip(steps, reversed(shares), strict=True):
        wanted += moved * (share - float((bent * wanted).sum() / (moved * bent).sum()))
    return -wanted


def _walk(
    loss: Loss, weights: Matrix, direction: Matrix, stride: float, value: float, fall: float
) -> tuple[Matrix, float, Matrix]:
    """As far in that direction as it pays."""
    while True:
        found = (weights + stride * direction).astype(np.float32)
        new_value, slope = loss.at(found)
        if new_value <= value + 1e-4 * stride * fall or stride < 1e-6:
            return found, new_value, slope
        stride /= 2


def out_of_fold(rows: Rows, labels: Labels, classes: int, decay: float, groups: Labels) -> Matrix:
    """Log-odds of every row from weights that never saw its group: what a new text would get."""
    scores = np.zeros((len(rows), classes), np.float32)
    for fold in range(FOLDS):
        held = groups == fold
        if held.any() and not held.all():
            seen = np.flatnonzero(~held)
            scores[held] = rows.take(np.flatnonzero(held)).times(fit(rows.take(seen), labels[seen], classes, decay))
    return scores


def best_temperature(scores: Matrix, labels: Labels) -> float:
    """The temperature under which the true labels are most likely."""
    candidates = np.geomspace(0.2, 4.0, 60)
    return float(min(candidates, key=lambda t: _surprise(scores / t, labels)))


def threshold_for(precision: float, probabilities: Matrix, labels: Labels) -> float:
    """The lowest confidence from which on the answers are right with at least this precision.

    A handful of right answers proves nothing: where no more than that would count, nothing does.
    """
    sure = probabilities.max(1)
    right = probabilities.argmax(1) == labels
    order = np.argsort(-sure)
    kept = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = np.nonzero(kept >= precision)[0]
    return float(sure[order][good[-1]]) if len(good) and good[-1] + 1 >= FEWEST else 1.0


def calibration_error(probabilities: Matrix, labels: Labels, bins: int = 10) -> float:
    """How far confidence and being right lie apart, on average."""
    sure, right = probabilities.max(1), probabilities.argmax(1) == labels
    places = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [
        abs(sure[places == place].mean() - right[places == place].mean()) * (places == place).mean()
        for place in range(bins)
        if (places == place).any()
    ]
    return float(sum(gaps))


def _surprise(scores: Matrix, labels: Labels) -> float:
    return float(-np.log(softmax(scores)[np.arange(len(labels)), labels] + 1e-12).mean())


def softmax(scores: Matrix) -> Matrix:
    raised = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True), np.float32)


def last_or_rest(scores: Matrix) -> Matrix:
    """The log-odds of all columns but the last together, and of the last."""
    rest = np.logaddexp.reduce(scores[:, :-1], axis=1)
    return np.stack([rest, scores[:, -1]], axis=1).astype(np.float32)
