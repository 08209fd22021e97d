"""`python -m laneway.classify.ship`: trains the built-in taxonomies and keeps the weights with the program.

Whoever changes a taxonomy or the code that reads texts runs it (`make weights`); a test says when that was forgotten.
"""

from __future__ import annotations

import time

from laneway.classify import context_learned
from laneway.classify.local import LocalClassifier
from laneway.classify.taxonomy import load
from laneway.classify.training import SHIPPED, file_of, ship
from laneway.llm.encoders import Encoder, MiniLmEncoder, Remembering, UseEncoder

NAMES = (UseEncoder.name, MiniLmEncoder.name)
TEXTS = 50_000


def wanted() -> set[str]:
    """The files that belong to the taxonomies as they are: one for each tier, and that of conversations."""
    tiers = {file_of(taxonomy, NAMES[:tier]) for taxonomy in load().values() for tier in (0, 1, 2)}
    return tiers | {context_learned.file_of()}


def main() -> None:
    """Each built-in taxonomy has its weights for every tier, and nothing else is kept."""
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
