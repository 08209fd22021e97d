"""The real encoders, and the classifier by the weights that come with Laneway: loaded once, given back at the end."""

from __future__ import annotations

from functools import _lru_cache_wrapper, cache

from laneway.classify.freed import give_back
from laneway.classify.local import ENCODERS, LocalClassifier
from laneway.classify.ship import wanted
from laneway.classify.taxonomy import load
from laneway.classify.training import SHIPPED

first_encoder = ENCODERS[0]


@cache
def classifier() -> LocalClassifier:
    """Judges by all built-in taxonomies; it would train them for minutes if their weights were missing."""
    assert {path.name for path in SHIPPED.glob("*.npz")} == wanted(), "run `make weights`"
    return LocalClassifier(load())


def release() -> None:
    """What was loaded, 220 MB, is gone from this process; the next test that asks loads it again."""
    caches = [one for one in (classifier, *ENCODERS) if isinstance(one, _lru_cache_wrapper)]
    if any(one.cache_info().currsize for one in caches):
        for one in caches:
            one.cache_clear()
        give_back()
