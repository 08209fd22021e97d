"""Classification: how quick it is and what it takes, and how the method does on public data.

The public data is not part of the project: LANEWAY_TEST_DATA names a folder that holds intents/clinc150 and
intents/banking77. Nothing of it is kept.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.report import percentile, show
from laneway.classify import vectors
from laneway.classify.evaluation import text_in
from laneway.classify.local import Judged, LocalClassifier
from laneway.classify.rows import Matrix, Rows, below
from laneway.classify.softmax import Labels, Softmax, fit
from laneway.classify.taxonomy import MANY, load
from laneway.classify.training import DECAY
from laneway.llm.encoders import Encoder, MiniLmEncoder, Remembering, UseEncoder

HELDOUT = Path(__file__).parents[1] / "tests" / "classify" / "heldout"
SHOTS, DRAWS, CHUNK, TEXTS = 10, 3, 500, 40_000

COLD = """
import json, sys, time
from pathlib import Path
import psutil
here = psutil.Process()
before, began = here.memory_info().rss, time.perf_counter()
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import MANY, load
classifier = LocalClassifier(load(), Path(sys.argv[1]))
classifier.warm([sys.argv[2]], 1)
classifier.judge(sys.argv[2], "is the backup through yet, or shall I look after lunch")
first = time.perf_counter() - began
classifier.warm(sys.argv[2:], 1)
print(json.dumps([first, (here.memory_info().rss - before) / 2**20]))
"""
"""Measured in a process of its own, where nothing else has loaded what classification needs."""


def measure(cache: Path) -> None:
    """What a message costs is printed, and what the method reaches where the public data is there."""
    use, mini = UseEncoder(), MiniLmEncoder()
    taxonomies = load()
    first = LocalClassifier(taxonomies, cache, [lambda: use])
    both = LocalClassifier(taxonomies, cache, [lambda: use, lambda: mini])
    both.warm(list(taxonomies), 1)
    both.warm(list(taxonomies), 2)
    first.warm(list(taxonomies), 1)
    _latency(first, both)
    _cold(cache, ["message", *taxonomies])
    _without_model(both, list(taxonomies))
    folder = os.environ.get("LANEWAY_TEST_DATA")
    if folder is None:
        print("Public data sets are not measured: LANEWAY_TEST_DATA is not set.")
        return
    public(Path(folder) / "intents", [use, mini])


def public(folder: Path, encoders: Sequence[Encoder]) -> None:
    """What the method reaches on public data is printed."""
    encoders = [Remembering(encoder, TEXTS) for encoder in encoders]
    _clinc(folder / "clinc150" / "data_full.json", encoders)
    _banking(folder / "banking77", encoders)


def _texts(name: str) -> list[str]:
    files = [HELDOUT / f"{name}.jsonl", *sorted(HELDOUT.glob(f"{name}-*.jsonl"))]
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [text_in(json.loads(line)) for line in lines if line.strip()]


def _latency(first: LocalClassifier, both: LocalClassifier) -> None:
    texts = _texts("message")
    for text in texts[:20]:
        both.judge("message", text)
    _times("tiers 0–1", [first.judge("message", text) for text in texts], (6, 10))
    judged = [both.judge("message", text) for text in texts]
    _times("tiers 0–2", judged, (12, 20))
    _times("those that tier 2 decided", [one for one in judged if one.tier == 2], (12, 20))


def _times(what: str, judged: Sequence[Judged], goals: tuple[float, float]) -> None:
    times = [one.milliseconds for one in judged]
    for name, share, goal in (("p50", 0.5, goals[0]), ("p95", 0.95, goals[1])):
        if len(times) > 1:
            show(f"judging a message, {what}, {name}", percentile(times, share), "ms", goal)


def _cold(cache: Path, names: Sequence[str]) -> None:
    ended = subprocess.run([sys.executable, "-c", COLD, str(cache), *names], capture_output=True, text=True, check=True)
    seconds, added = json.loads(ended.stdout)
    show("first judgement of a fresh process, weights cached", seconds, "s")
    show("memory added by tiers 0–1, five taxonomies", added, "MB", 150)


def _without_model(both: LocalClassifier, names: Sequence[str]) -> None:
    total = sure = 0
    for name in names:
        judged = [both.judge(name, text) for text in _texts(name)]
        own = sum(not one.unsure for one in judged)
        show(f"held-out texts that need no model: {name}", 100 * own / len(judged), "%")
        total, sure = total + len(judged), sure + own
    show("held-out texts that need no model: all", 100 * sure / total, "%")


@dataclass(frozen=True)
class Texts:
    """Texts as rows, with the number of each one's label."""

    rows: Rows
    labels: Labels


def _rows(texts: Sequence[str], encoders: Sequence[Encoder], shots: int) -> Rows:
    """The rows of many texts for learning from so many examples a label.

    Texts of like length are encoded together, since each waits for the longest.
    """
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    parts = [
        vectors.rows([texts[place] for place in order[start : start + CHUNK]], encoders, plenty=min(1.0, shots / MANY))
        for start in range(0, len(order), CHUNK)
    ]
    return below(parts).take(np.argsort(order))


def _of(pairs: Sequence[tuple[str, str]], names: Sequence[str], encoders: Sequence[Encoder], shots: int) -> Texts:
    rows = _rows([text for text, _ in pairs], encoders, shots)
    return Texts(rows, np.array([names.index(label) for _, label in pairs], np.int64))


def _share_right(model: Softmax, texts: Texts) -> float:
    return float((model.probabilities(texts.rows).argmax(1) == texts.labels).mean())


def _drawn(labels: Labels, seed: int) -> Labels:
    """Ten places of each label, the same in every run."""
    chance = np.random.default_rng(seed)
    return np.concatenate(
        [chance.choice(np.flatnonzero(labels == label), SHOTS, replace=False) for label in np.unique(labels)]
    )


def _few(
    train: Sequence[tuple[str, str]], test: Sequence[tuple[str, str]], names: Sequence[str], encoders: Sequence[Encoder]
) -> float:
    """The share judged right from ten examples a label, on average over some draws."""
    labels = np.array([names.index(label) for _, label in train], np.int64)
    asked, found = _of(test, names, encoders, SHOTS), []
    for seed in range(DRAWS):
        told = _of([train[place] for place in _drawn(labels, seed)], names, encoders, SHOTS)
        found.append(_share_right(Softmax(fit(told.rows, told.labels, len(names), DECAY)), asked))
    return float(np.mean(found))


def _clinc(file: Path, encoders: Sequence[Encoder]) -> None:
    told = json.loads(file.read_text(encoding="utf-8"))
    names = sorted({label for _, label in told["train"]})
    few = _few(told["train"], told["test"], names, encoders)
    show(f"CLINC150 with ten examples a label, {DRAWS} draws", 100 * few, "%", 91, at_least=True)
    shots = len(told["train"]) // len(names)
    train, test = (_of(told[part], names, encoders, shots) for part in ("train", "test"))
    model = Softmax(fit(train.rows, train.labels, len(names), DECAY))
    show("CLINC150, all examples", 100 * _share_right(model, test), "%", 95.5, at_least=True)
    strange = _rows([text for text, _ in told["oos_test"]], encoders, shots)
    recall = _strange_found(model.probabilities(test.rows), test.labels, model.probabilities(strange))
    show("CLINC150, out of scope found at 3 points lost in scope", 100 * recall, "%", 80, at_least=True)


def _strange_found(known: Matrix, labels: Labels, strange: Matrix) -> float:
    """The share of out-of-scope texts below the confidence that costs three points of right answers."""
    right = np.sort(known.max(1)[known.argmax(1) == labels])
    threshold = right[int(0.03 * len(labels))]
    return float((strange.max(1) < threshold).mean())


def _banking(folder: Path, encoders: Sequence[Encoder]) -> None:
    train, test = (_read(folder / f"{part}.csv") for part in ("train", "test"))
    names = sorted({label for _, label in train})
    few = _few(train, test, names, encoders)
    show(f"Banking77 with ten examples a label, {DRAWS} draws", 100 * few, "%", 85, at_least=True)


def _read(file: Path) -> list[tuple[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return [(row["text"], row["category"]) for row in csv.DictReader(lines)]
