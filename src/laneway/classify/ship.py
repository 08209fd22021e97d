"""`python -m laneway.classify.ship`: trains the built-in taxonomies and keeps the weights with the program.

Whoever changes a taxonomy or the code that reads texts runs it (`make weights`); a test says when that was forgotten.
"""

from __future__ import annotations

import hashlib
import time

import numpy as np

from laneway.classify import context_learned, words
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import load
from laneway.classify.training import SHIPPED, file_of, ship
from laneway.llm.encoders import SCALE, Encoder, MiniLmEncoder, Remembering, UseEncoder

NAMES = (UseEncoder.name, MiniLmEncoder.name)
TEXTS = 50_000


def wanted() -> set[str]:
    """The files that belong to the taxonomies as they are: one for each tier, and that of conversations."""
    tiers = {file_of(taxonomy, NAMES[:tier]) for taxonomy in load().values() for tier in (0, 1, 2)}
    return tiers | {context_learned.file_of()}


def measure_layers() -> None:
    """The mean and the spread of the layers' numbers over all built-in examples are in their file."""
    encoder = MiniLmEncoder(scale=None)
    texts = sorted({text for taxonomy in load().values() for text, _ in taxonomy.examples()}, key=len)
    parts = [np.stack(encoder.means(texts[start : start + 8])[1:], axis=1) for start in range(0, len(texts), 8)]
    layers = np.concatenate(parts)
    np.savez(SCALE, mean=layers.mean(0), spread=layers.std(0))


def measure_words() -> None:
    """How rare words, pairs and runs of letters are over all built-in examples is in its file."""
    texts = sorted({text for taxonomy in load().values() for text, _ in taxonomy.examples()})
    np.savez_compressed(words.RARITY, rarity=words.rarity(texts).astype(np.float16))


def main() -> None:
    """Each built-in taxonomy has its weights for every tier, and nothing else is kept."""
    if not SCALE.exists():
        measure_layers()
        digest = hashlib.sha256(SCALE.read_bytes()).hexdigest()
        raise SystemExit(f"{SCALE.name} is made anew. Put its hash into llm/encoders.py and start again: {digest}")
    if not words.RARITY.exists():
        measure_words()
    encoders: list[Encoder] = [Remembering(UseEncoder(), TEXTS), Remembering(MiniLmEncoder(), TEXTS)]
    SHIPPED.mkdir(exist_ok=True)
    for taxonomy in load().values():
        for tier in (0, 1, 2):
            began = time.perf_counter()
            if not (SHIPPED / file_of(taxonomy, NAMES[:tier])).exists():
                ship(taxonomy, encoders[:tier])
                print(f"{taxonomy.name}, tier {tier}: {time.perf_counter() - began:.1f} s")  # noqa: T201  a command
    if not (SHIPPED / context_learned.file_of()).exists():
        local = LocalClassifier(load(), None, [lambda: encoders[0]])
        context_learned.ship(encoders[0], lambda text: local.shares("message", text))
    for path in SHIPPED.glob("*.npz"):
        if path.name not in wanted():
            path.unlink()


if __name__ == "__main__":
    main()
