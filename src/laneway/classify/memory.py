"""Remembers what the small model judged: the same text again, or one that means nearly the same.

A judgement belongs to one trust world and one version of taxonomy and prompt. Likeness is enough only at a cosine of
0.90 or more, and never for actions: two orders may be alike in every word but the one that matters.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace

import numpy as np

from laneway.classify.model import Said, defined
from laneway.classify.rules import normalise
from laneway.classify.taxonomy import Taxonomy
from laneway.domain.conversation import World
from laneway.llm.encoders import Vectors
from laneway.store import judgements
from laneway.store.database import Database
from laneway.store.judgements import Judgement

ALIKE = 0.90
COMPARED = 500
"""So many of the newest judgements are compared with a new text."""


class Memory:
    """What was judged before, in the database: shared by all workers, kept over restarts."""

    def __init__(self, db: Database, prompt_version: str) -> None:
        self._db, self._prompt_version = db, prompt_version

    async def recall(
        self, taxonomy: Taxonomy, text: str, meaning: Vectors | None, *, likely: str, world: World = World.OWNER
    ) -> Said | None:
        """What was judged of this text, or of one that means the same; None if that is not known.

        `likely` is what cheaper tiers take it for: what may be an action is recalled exactly or not at all.
        """
        version = self._version(taxonomy, world)
        async with self._db.transaction() as tx:
            found = await judgements.exactly(tx, taxonomy.name, version, normalise(text))
            if found is not None:
                return Said(**found.judgement)
            if meaning is None or likely in taxonomy.actions:
                return None
            known = await judgements.latest(tx, taxonomy.name, version, COMPARED)
        return _alike(taxonomy, known, meaning)

    async def keep(
        self, taxonomy: Taxonomy, text: str, meaning: Vectors | None, said: Said, world: World = World.OWNER
    ) -> None:
        """The judgement is there for the next one who says the same."""
        vector = None if meaning is None else meaning.astype(np.float16).tobytes()
        async with self._db.transaction() as tx:
            kept = Judgement(normalise(text), asdict(said), vector)
            await judgements.keep(tx, taxonomy.name, self._version(taxonomy, world), kept)

    def _version(self, taxonomy: Taxonomy, world: World) -> str:
        # The definitions train nothing and are no part of the digest, but the model judges by them.
        told = "\n".join([taxonomy.digest(), *defined(taxonomy)])
        return f"{world}|{hashlib.sha256(told.encode()).hexdigest()[:16]}|{self._prompt_version}"


def _alike(taxonomy: Taxonomy, known: list[Judgement], meaning: Vectors) -> Said | None:
    vectors = [np.frombuffer(one.vector or b"", np.float16) for one in known]
    # An encoder of before may have made longer or shorter vectors.
    like = [(one, vector) for one, vector in zip(known, vectors, strict=True) if vector.shape == meaning.shape]
    if not like:
        return None
    nearness = np.array([vector for _, vector in like], np.float32) @ meaning
    nearest = int(nearness.argmax())
    said = Said(**like[nearest][0].judgement)
    if nearness[nearest] < ALIKE or said.label in taxonomy.actions:
        return None
    # The words are about somebody else's text; only the judgement carries over.
    return replace(said, summary="", plan="")
