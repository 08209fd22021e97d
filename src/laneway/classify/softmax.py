"""Softmax regression in numpy: fitted in a moment, calibrated, reproducible to the last bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Labels = NDArray[np.int64]
ROUNDS = 200
RATE = 0.1
FOLDS = 5


@dataclass(frozen=True)
class Softmax:
    """Weights of one decision, and the temperature that makes its probabilities honest."""

    weights: Matrix
    temperature: float = 1.0

    def probabilities(self, rows: Matrix) -> Matrix:
        """One row of probabilities for each row of features."""
        return self.of_scores(_with_one(rows) @ self.weights)

    def of_scores(self, scores: Matrix) -> Matrix:
        """The probabilities of log-odds that were found elsewhere."""
        return _softmax(scores / self.temperature)


def compact(rows: Matrix) -> tuple[Matrix, Matrix]:
    """The rows in as many columns as there are rows, and the way back: what is fitted on them is the same.

    A few hundred examples span no more than a few hundred directions of several thousand columns, so training in
    those directions only gives the same weights in a fraction of the time.
    """
    values, directions = np.linalg.eigh((rows @ rows.T).astype(np.float64))
    kept = values > 1e-8 * values[-1]
    scale = np.sqrt(values[kept])
    short = (directions[:, kept] * scale).astype(np.float32)
    back = (rows.T @ (directions[:, kept] / scale)).astype(np.float32)
    return short, back


def fit(rows: Matrix, labels: Labels, classes: int, decay: float) -> Matrix:
    """The weights that explain the labels, every class counting the same whatever its size."""
    inputs, targets = _with_one(rows), np.eye(classes, dtype=np.float32)[labels]
    count = len(rows)
    sizes = np.bincount(labels, minlength=classes).clip(1)
    share = (count / (classes * sizes))[labels][:, None].astype(np.float32)
    weights = np.zeros((inputs.shape[1], classes), np.float32)
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, ROUNDS + 1):
        slope = inputs.T @ ((_softmax(inputs @ weights) - targets) * share) / count
        slope[:-1] += decay * weights[:-1] / count
        first = (0.9 * first + 0.1 * slope).astype(np.float32)
        second = (0.999 * second + 0.001 * slope * slope).astype(np.float32)
        pace = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weights -= (RATE * pace).astype(np.float32)
    return weights


def expand(weights: Matrix, back: Matrix) -> Matrix:
    """Weights fitted on compacted rows, for rows as they come."""
    return np.vstack([back @ weights[:-1], weights[-1:]]).astype(np.float32)


def out_of_fold(rows: Matrix, labels: Labels, classes: int, decay: float, groups: Labels) -> Matrix:
    """Log-odds of every row from weights that never saw its group: what a new text would get."""
    scores = np.zeros((len(rows), classes), np.float32)
    for fold in range(FOLDS):
        held = groups % FOLDS == fold
        if held.any():
            scores[held] = _with_one(rows[held]) @ fit(rows[~held], labels[~held], classes, decay)
    return scores


def best_temperature(scores: Matrix, labels: Labels) -> float:
    """The temperature under which the true labels are most likely."""
    candidates = np.geomspace(0.2, 4.0, 60)
    return float(min(candidates, key=lambda t: _surprise(scores / t, labels)))


def threshold_for(precision: float, probabilities: Matrix, labels: Labels) -> float:
    """The lowest confidence from which on the answers are right with at least this precision."""
    sure = probabilities.max(1)
    right = probabilities.argmax(1) == labels
    order = np.argsort(-sure)
    kept = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = np.nonzero(kept >= precision)[0]
    return float(sure[order][good[-1]]) if len(good) else 1.0


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
    return float(-np.log(_softmax(scores)[np.arange(len(labels)), labels] + 1e-12).mean())


def _softmax(scores: Matrix) -> Matrix:
    raised = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(raised / raised.sum(1, keepdims=True), np.float32)


def _with_one(rows: Matrix) -> Matrix:
    return np.hstack([rows, np.ones((len(rows), 1), np.float32)])
