"""`python -m laneway.classify.prepare HOME NAME…`: trains what is not trained yet, in a process of its own.

Training takes a core for some seconds; a server that answers people should not be the one to give it. What was
learnt from corrections is read from standard input: for each taxonomy a list of cases, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any


def cache_of(home: Path) -> Path:
    """Where trained weights are kept."""
    return home / "cache" / "classify"


def main(home: Path, names: list[str], learnt: dict[str, list[dict[str, Any]]]) -> None:
    """Every tier of the named taxonomies is trained, with what was learnt, and in the cache; so are their meanings."""
    os.nice(10)
    from laneway.classify.learning import Case, composed
    from laneway.classify.local import LocalClassifier
    from laneway.classify.taxonomy import load

    taxonomies = load(home)
    for name, cases in learnt.items():
        taxonomies[name] = composed(taxonomies[name], [Case(**case) for case in cases])
    classifier = LocalClassifier(taxonomies, cache_of(home))
    for tier in (1, 2):
        classifier.warm(names, tier)
    for name in names:
        classifier.remember(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:], json.loads(sys.stdin.read() or "{}"))
