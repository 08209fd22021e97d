"""What a taxonomy's examples mean, kept beside its weights: a model that is asked is shown the nearest of them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from laneway.classify.taxonomy import Taxonomy
from laneway.llm.encoders import Encoder, Vectors


def prepare(taxonomy: Taxonomy, encoder: Encoder, cache: Path) -> None:
    """The meanings are in the cache."""
    place = _place(taxonomy, cache)
    if not place.exists():
        found = encoder.encode([text for text, _ in taxonomy.examples()]).astype(np.float16)
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = place.with_suffix(".unfinished.npz")
        np.savez(unfinished, meanings=found)
        unfinished.replace(place)


def read(taxonomy: Taxonomy, cache: Path | None) -> Vectors | None:
    """One row for each example, in their order; None if nobody prepared them."""
    place = _place(taxonomy, cache) if cache else None
    if place is None or not place.exists():
        return None
    with np.load(place, allow_pickle=False) as stored:
        return np.asarray(stored["meanings"], np.float32)


def _place(taxonomy: Taxonomy, cache: Path) -> Path:
    texts = json.dumps([text for text, _ in taxonomy.examples()], ensure_ascii=False)
    return cache / f"{taxonomy.name}-meanings-{hashlib.sha256(texts.encode()).hexdigest()[:24]}.npz"
