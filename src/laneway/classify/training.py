"""Trains a taxonomy's decisions from its examples in seconds, and keeps them under the hash of what they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from laneway.classify import grammar, lane_signs, lane_structure, lane_tags, lexicon, vectors
from laneway.classify.softmax import (
    Labels,
    Matrix,
    Softmax,
    best_temperature,
    compact,
    expand,
    fit,
    out_of_fold,
    threshold_for,
)
from laneway.classify.taxonomy import Guard, Taxonomy
from laneway.llm.encoders import Encoder

DECAY = 0.1
RECIPE = "2"
"""Raised whenever training itself changes, so that no old weights are taken for new ones."""


@dataclass(frozen=True)
class Decision:
    """One trained decision at one tier: probabilities, how sure is sure, and where its guard stands.

    `right` is 1 for each example that was judged right by weights that had never seen it.
    """

    model: Softmax
    sure: float
    guard: float
    right: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))

    def arrays(self) -> dict[str, Matrix]:
        numbers = np.array([self.model.temperature, self.sure, self.guard], np.float32)
        return {"weights": self.model.weights, "numbers": numbers, "right": self.right}

    @classmethod
    def of(cls, arrays: dict[str, Matrix]) -> Decision:
        temperature, sure, guard = (float(number) for number in arrays["numbers"])
        return cls(Softmax(arrays["weights"], temperature), sure, guard, arrays["right"])


def trained(taxonomy: Taxonomy, encoders: Sequence[Encoder], cache: Path | None) -> dict[str, Decision]:
    """The taxonomy's decisions by name ("label", then its flags), from the cache if nothing has changed."""
    place = cache / f"{taxonomy.name}-{_fingerprint(taxonomy, encoders)}.npz" if cache else None
    if place is not None and place.exists():
        return _read(place)
    decisions = _train(taxonomy, encoders)
    if place is not None:
        _write(place, decisions)
    return decisions


def _train(taxonomy: Taxonomy, encoders: Sequence[Encoder]) -> dict[str, Decision]:
    pairs = taxonomy.examples()
    texts = [text for text, _ in pairs]
    rows = vectors.rows(texts, encoders, taxonomy.structure)
    labels = np.array([taxonomy.names.index(label) for _, label in pairs])
    guard = taxonomy.guard
    place = taxonomy.names.index(guard.label) if guard else 0
    decisions = {
        "label": _decide(rows, labels, len(taxonomy.names), texts, taxonomy.precision, guard, place),
    }
    known = dict(zip(texts, rows, strict=True))
    for flag in taxonomy.flags:
        yes, no = taxonomy.flag_examples(flag)
        told = [*yes, *no]
        answers = np.array([1] * len(yes) + [0] * len(no))
        matrix = np.array([known[text] for text in told], np.float32)
        decisions[flag.name] = _decide(matrix, answers, 2, told, taxonomy.precision, flag.guard, 1)
    return decisions


def _decide(
    rows: Matrix, labels: Labels, classes: int, texts: Sequence[str], precision: float, guard: Guard | None, place: int
) -> Decision:
    groups = np.array([fold_of(text) for text in texts])
    rows, back = compact(rows)
    scores = out_of_fold(rows, labels, classes, DECAY, groups)
    temperature = best_temperature(scores, labels)
    unseen = Softmax(np.zeros((1, classes), np.float32), temperature).of_scores(scores)
    return Decision(
        Softmax(expand(fit(rows, labels, classes, DECAY), back), temperature),
        threshold_for(precision, unseen, labels),
        _guard_place(guard, unseen[:, place], labels == place) if guard else 0.0,
        (unseen.argmax(1) == labels).astype(np.float32),
    )


def _guard_place(guard: Guard, probability: Matrix, truth: np.ndarray) -> float:
    """The probability from which on the guarded label is given, so that its error stays within bounds."""
    if guard.most_missed is not None:
        return float(np.quantile(probability[truth], guard.most_missed))
    assert guard.most_false is not None
    return float(np.quantile(probability[~truth], 1 - guard.most_false))


def fold_of(text: str) -> int:
    """Which fold a text belongs to; the same on every machine and in every run."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)


def _fingerprint(taxonomy: Taxonomy, encoders: Sequence[Encoder]) -> str:
    code = [
        Path(module.__file__ or "").read_bytes() for module in (grammar, vectors, lane_signs, lane_structure, lane_tags)
    ]
    told = [RECIPE, taxonomy.digest(), *(encoder.name for encoder in encoders)]
    mixed = hashlib.sha256("|".join(told).encode())
    for content in (*code, lexicon.FILE.read_bytes(), lane_tags.FILE.read_bytes()):
        mixed.update(content)
    return mixed.hexdigest()[:24]


def _write(place: Path, decisions: dict[str, Decision]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{name}/{key}": value for name, d in decisions.items() for key, value in d.arrays().items()}
    unfinished = place.with_suffix(".unfinished.npz")
    np.savez(unfinished, **arrays)  # type: ignore[arg-type]
    unfinished.replace(place)


def _read(place: Path) -> dict[str, Decision]:
    with np.load(place, allow_pickle=False) as stored:
        names = {key.partition("/")[0] for key in stored.files}
        return {
            name: Decision.of({part: stored[f"{name}/{part}"] for part in ("weights", "numbers", "right")})
            for name in names
        }
