"""Many texts as rows of numbers: what they mean and how they are built is dense, which words they use is sparse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Places = NDArray[np.int32]


@dataclass(frozen=True)
class Sparse:
    """Rows of which most numbers are nought: where the others stand, and what they are. No row is empty."""

    places: Places
    numbers: Matrix
    starts: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, rows: Sequence[tuple[Places, Matrix]], width: int) -> Sparse:
        """The rows one below the other; each has its places and its numbers."""
        sizes = np.fromiter((len(places) for places, _ in rows), np.int64, len(rows))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        if not rows:
            return cls(np.zeros(0, np.int32), np.zeros(0, np.float32), starts, width)
        return cls(np.concatenate([p for p, _ in rows]), np.concatenate([n for _, n in rows]), starts, width)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, chosen: NDArray[np.int64]) -> Sparse:
        sizes = np.diff(self.starts)[chosen]
        ends = np.cumsum(sizes)
        inside = np.arange(int(sizes.sum())) - np.repeat(ends - sizes, sizes) + np.repeat(self.starts[chosen], sizes)
        starts = np.concatenate([np.zeros(1, np.int64), ends])
        return Sparse(self.places[inside], self.numbers[inside], starts, self.width)

    def beside(self, other: Sparse) -> Sparse:
        """The same rows, longer by those of the other."""
        pairs = [
            (
                np.concatenate([self.places[a:b], other.places[c:d] + self.width]).astype(np.int32),
                np.concatenate([self.numbers[a:b], other.numbers[c:d]]),
            )
            for (a, b), (c, d) in zip(pairwise(self.starts), pairwise(other.starts), strict=True)
        ]
        return Sparse.of(pairs, self.width + other.width)

    def times(self, weights: Matrix) -> Matrix:
        """The rows times the weights: for each row the sum of the weights at its places."""
        return _sums(weights, self.places, self.numbers, self.starts[:-1])

    def back(self, errors: Matrix) -> Matrix:
        """The columns times the errors: for each place the sum of the errors of the rows that have it."""
        owners, numbers, places, starts = self._by_place
        found = np.zeros((self.width, errors.shape[1]), np.float32)
        found[places] = _sums(errors, owners, numbers, starts)
        return found

    @cached_property
    def _by_place(self) -> tuple[NDArray[np.int32], Matrix, NDArray[np.int32], NDArray[np.int64]]:
        order = np.argsort(self.places, kind="stable")
        owners = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))[order]
        places, starts = np.unique(self.places[order], return_index=True)
        return owners, self.numbers[order], places, starts


def _sums(weights: Matrix, places: Places, numbers: Matrix, starts: NDArray[np.int64]) -> Matrix:
    """For each stretch that begins at `starts` the sum of its numbers times the weights at its places.

    Column by column: whole rows of weights, picked out here and there, took three times as long. For the few places of
    one text, turning the weights would take longer than that.
    """
    if not len(starts):
        return np.zeros((0, weights.shape[1]), np.float32)
    if len(places) < len(weights):
        return np.add.reduceat(weights[places] * numbers[:, None], starts, axis=0)
    columns = np.ascontiguousarray(weights.T)
    return np.stack([np.add.reduceat(column.take(places) * numbers, starts) for column in columns], axis=1)


@dataclass(frozen=True)
class Rows:
    """One row for each text. Weights come in this order: for the dense numbers, for the sparse ones, and one more."""

    dense: Matrix
    sparse: Sparse

    def __len__(self) -> int:
        return len(self.dense)

    @property
    def width(self) -> int:
        """How many weights a decision about such rows has for each label."""
        return int(self.dense.shape[1]) + self.sparse.width + 1

    def take(self, chosen: NDArray[np.int64]) -> Rows:
        """These rows, in this order."""
        return Rows(self.dense[chosen], self.sparse.take(chosen))

    def beside(self, more: Matrix) -> Rows:
        """The same rows with further dense numbers."""
        return replace(self, dense=np.hstack([self.dense, more]).astype(np.float32))

    def times(self, weights: Matrix) -> Matrix:
        """The log-odds that the weights give each row."""
        end = self.dense.shape[1]
        return np.asarray(self.dense @ weights[:end] + self.sparse.times(weights[end:-1]) + weights[-1], np.float32)

    def back(self, errors: Matrix) -> Matrix:
        """How each weight had a part in these errors."""
        parts = [self.dense.T @ errors, self.sparse.back(errors), errors.sum(0, keepdims=True)]
        return np.vstack(parts).astype(np.float32)


def below(parts: Sequence[Rows]) -> Rows:
    """The rows of all parts, one below the other."""
    sizes = [np.diff(part.sparse.starts) for part in parts]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
    sparse = Sparse(
        np.concatenate([part.sparse.places for part in parts]),
        np.concatenate([part.sparse.numbers for part in parts]),
        starts,
        parts[0].sparse.width,
    )
    return Rows(np.vstack([part.dense for part in parts]), sparse)
