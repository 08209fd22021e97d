"""Trains a taxonomy's decisions from its examples in seconds, and keeps them under the hash of what they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from laneway.classify import vectors
from laneway.classify.rows import Matrix, Rows
from laneway.classify.softmax import (
    FOLDS,
    Labels,
    Softmax,
    best_temperature,
    fit,
    last_or_rest,
    out_of_fold,
    softmax,
    threshold_for,
)
from laneway.classify.taxonomy import Flag, Guard, Taxonomy
from laneway.llm.encoders import Encoder

DECAY = 0.1
RUN = 50
FEWER = 3
"""A tier decides alone, though a better one could be asked, where errors are so many times fewer than allowed."""
SHIPPED = Path(__file__).parent / "weights"
"""What `make weights` trained from the built-in taxonomies; each file bears the hash of all it came from."""
READS = ("grammar.py", "lexicon.*", "rows.py", "rules.py", "vectors.py", "words.py", "words_rarity.npz")
_ORDERS = ("confirm*.*", "effects*.*", "programs*.*")
READS_FOR = {"lane": ("lane_*.*",), "confirmation": _ORDERS, "request": (*_ORDERS, "lane_*.*")}
"""The files that make rows of texts, for every taxonomy and for those with a special analysis."""
RECIPE = "8"
"""Raised whenever training itself changes, so that no old weights are taken for new ones."""


@dataclass(frozen=True)
class Decision:
    """One trained decision at one tier: probabilities, how sure is sure, and where its guard stands.

    From `certain` on, errors are so rare that no better tier need look. A label that the guard chose against the odds
    is right as often as `forced` says. `right` is 1 for each example that was judged right by weights that had never
    seen it.
    """

    model: Softmax
    sure: float
    guard: float
    certain: float = 1.0
    forced: float = 0.0
    right: Matrix = field(default_factory=lambda: np.zeros(0, np.float32))

    def arrays(self) -> dict[str, Any]:
        model = self.model
        numbers = [model.temperature, self.sure, self.guard, self.certain, self.forced, float(model.yes_or_no)]
        weights = model.weights.astype(np.float16)
        return {"weights": weights, "numbers": np.array(numbers, np.float32), "right": self.right}

    @classmethod
    def of(cls, arrays: dict[str, Any]) -> Decision:
        temperature, sure, guard, certain, forced, yes_or_no = (float(number) for number in arrays["numbers"])
        model = Softmax(arrays["weights"].astype(np.float32), temperature, bool(yes_or_no))
        return cls(model, sure, guard, certain, forced, arrays["right"])


def trained(taxonomy: Taxonomy, encoders: Sequence[Encoder], cache: Path | None) -> dict[str, Decision]:
    """The taxonomy's decisions by name ("label", then its flags): as shipped, from the cache, or trained now."""
    names = [encoder.name for encoder in encoders]
    found = at_hand(taxonomy, names, cache)
    if found is not None:
        return _read(found)
    decisions = _train(taxonomy, encoders)
    if cache is not None:
        _write(cache / file_of(taxonomy, names), decisions)
    return decisions


def at_hand(taxonomy: Taxonomy, encoders: Sequence[str], cache: Path | None) -> Path | None:
    """Where the weights are for these encoders; None if they have to be trained."""
    name = file_of(taxonomy, encoders)
    return next((folder / name for folder in (SHIPPED, cache) if folder and (folder / name).exists()), None)


def ship(taxonomy: Taxonomy, encoders: Sequence[Encoder]) -> None:
    """The weights are among those that come with the program."""
    _write(SHIPPED / file_of(taxonomy, [encoder.name for encoder in encoders]), _train(taxonomy, encoders))


def _train(taxonomy: Taxonomy, encoders: Sequence[Encoder]) -> dict[str, Decision]:
    pairs = taxonomy.examples()
    texts = [text for text, _ in pairs]
    rows = vectors.rows(texts, encoders, taxonomy.structure, taxonomy.keywords, taxonomy.plenty)
    labels = np.array([taxonomy.names.index(label) for _, label in pairs])
    guard = taxonomy.guard
    place = taxonomy.names.index(guard.label) if guard else 0
    decisions = {"label": _decide(rows, labels, len(taxonomy.names), taxonomy.precision, guard, place)}
    place_of = {text: place for place, text in enumerate(texts)}
    for flag in taxonomy.flags:
        yes, no = taxonomy.flag_examples(flag)
        told = [*yes, *no]
        places = np.array([place_of[text] for text in told])
        # A question, a remark and an order that only looks are different kinds of no, and easier to tell apart.
        kinds = labels[places]
        kinds[: len(yes)] = len(taxonomy.names)
        judged = flag_rows(flag, rows.take(places), told)
        decisions[flag.name] = _decide(judged, kinds, len(taxonomy.names) + 1, taxonomy.precision, flag.guard)
    return decisions


def flag_rows(flag: Flag, rows: Rows, texts: Sequence[str]) -> Rows:
    """The rows by which a flag is judged: those of the label, and its own analysis if it has one."""
    return rows.beside(vectors.analysed(texts, flag.structure)) if flag.structure else rows


def _decide(
    rows: Rows, labels: Labels, classes: int, precision: float, guard: Guard | None, place: int | None = None
) -> Decision:
    """The decision between the classes; without a guarded `place`, between the last, a yes, and the rest."""
    scores = out_of_fold(rows, labels, classes, DECAY, folds(labels))
    # Rounded as they are stored, so that fresh weights judge exactly as stored ones.
    weights = fit(rows, labels, classes, DECAY).astype(np.float16).astype(np.float32)
    flag = place is None
    place = 1 if place is None else place
    if flag:
        scores, labels = last_or_rest(scores), (labels == classes - 1).astype(np.int64)
    temperature = best_temperature(scores, labels)
    unseen = softmax(scores / temperature)
    stands = _guard_place(guard, unseen[:, place], labels == place) if guard else 0.0
    return Decision(
        Softmax(weights, temperature, flag),
        threshold_for(precision, unseen, labels),
        stands,
        threshold_for(1 - (1 - precision) / FEWER, unseen, labels),
        _right_when_forced(guard, stands, unseen, labels, place) if guard else 0.0,
        (unseen.argmax(1) == labels).astype(np.float32),
    )


def folds(labels: Labels) -> Labels:
    """The fold of each example: runs of neighbours with the same label stay together.

    Neighbours in a file are often by one hand, and often variations of each other. Apart, they would vouch for each
    other, and what is unseen would look easier than it is.
    """
    found = np.zeros(len(labels), np.int64)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        run = min(RUN, -(-len(places) // FOLDS))
        found[places] = np.arange(len(places)) // run % FOLDS
    return found


def _guard_place(guard: Guard, probability: Matrix, truth: np.ndarray) -> float:
    """The probability from which on the guarded label is given, so that its error stays within bounds."""
    if guard.most_missed is not None:
        return float(np.quantile(probability[truth], guard.most_missed))
    assert guard.most_false is not None
    return float(np.quantile(probability[~truth], 1 - guard.most_false))


def _right_when_forced(guard: Guard, stands: float, unseen: Matrix, labels: Labels, place: int) -> float:
    """How often a label was right that the guard put in place of the likeliest one."""
    found = [guarded(guard, stands, row, place) for row in unseen]
    forced = [best == label for best, row, label in zip(found, unseen, labels, strict=True) if best != row.argmax()]
    return float(np.mean(forced)) if forced else 0.0


def guarded(guard: Guard, stands: float, probabilities: Matrix, place: int) -> int:
    """The likeliest label, unless the guard, who stands at this probability, says otherwise."""
    best, allowed = int(probabilities.argmax()), bool(probabilities[place] >= stands)
    if guard.most_missed is not None and allowed:
        return place
    if guard.most_false is not None and best == place and not allowed:
        return int(probabilities.argsort()[-2])
    return best


def file_of(taxonomy: Taxonomy, encoders: Sequence[str]) -> str:
    """The name of the file with its weights: the hash of all they come from, examples, encoders and our own code."""
    told = [RECIPE, taxonomy.digest(), *encoders]
    mixed = hashlib.sha256("|".join(told).encode())
    special = {taxonomy.structure, *(flag.structure for flag in taxonomy.flags)} - {None}
    patterns = [*READS, *(pattern for name in sorted(map(str, special)) for pattern in READS_FOR.get(name, ()))]
    for path in sorted({path for pattern in patterns for path in Path(__file__).parent.glob(pattern)}):
        mixed.update(path.read_bytes())
    return f"{taxonomy.name}-{len(encoders)}-{mixed.hexdigest()[:24]}.npz"


def _write(place: Path, decisions: dict[str, Decision]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{name}/{key}": value for name, d in decisions.items() for key, value in d.arrays().items()}
    unfinished = place.with_suffix(".unfinished.npz")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(place)


def _read(place: Path) -> dict[str, Decision]:
    with np.load(place, allow_pickle=False) as stored:
        names = {key.partition("/")[0] for key in stored.files}
        return {
            name: Decision.of({part: stored[f"{name}/{part}"] for part in ("weights", "numbers", "right")})
            for name in names
        }
