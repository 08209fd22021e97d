"""Which texts are examples, word for word: looked up by the hash of their one spelling, so that few bytes are kept."""

from __future__ import annotations

import hashlib

import numpy as np

from laneway.classify.rules import normalise
from laneway.classify.taxonomy import Taxonomy

Told = tuple[str, dict[str, bool]]
"""A label, and as many of its flags as are told."""


class Exact:
    """The examples of a taxonomy, each in its one spelling, with what is told of it."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        table = {_hash(text): (label, None) for text, label in taxonomy.examples()}
        answers: dict[int, tuple[tuple[str, bool], ...]] = {}
        for flag in taxonomy.flags:
            for texts, answer in ((flag.no, False), (flag.yes, True)):
                answers |= {key: (*answers.get(key, ()), (flag.name, answer)) for key in map(_hash, texts)}
        told = {key: (label, answers.get(key, ())) for key, (label, _) in table.items()}
        self._kinds = sorted(set(told.values()))
        places = {kind: place for place, kind in enumerate(self._kinds)}
        keys = sorted(told)
        self._keys = np.array(keys, np.uint64)
        self._kind = np.array([places[told[key]] for key in keys], np.uint16)
        self._others = {
            label: {flag.name: False for flag in taxonomy.flags if flag.applies_to != label} for label in taxonomy.names
        }

    def of(self, text: str) -> Told | None:
        """What is told of a text; None if it is no example."""
        key = np.uint64(_hash(text))
        place = int(np.searchsorted(self._keys, key))
        if place == len(self._keys) or self._keys[place] != key:
            return None
        label, flags = self._kinds[self._kind[place]]
        return label, {**self._others[label], **dict(flags)}


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(normalise(text).encode(), digest_size=8).digest())
