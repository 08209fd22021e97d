"""The local classifier: exact matches, then words and grammar, then the first encoder, then both.

The cheapest tier that is sure decides. An encoder that is missing is named and passed over. The second one is
loaded only when the first was not sure of something.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from laneway.classify import confirmation, meanings, training, vectors, wording
from laneway.classify.exact import Exact
from laneway.classify.freed import give_back
from laneway.classify.rows import Matrix, Rows
from laneway.classify.rules import small_talk
from laneway.classify.taxonomy import Flag, Taxonomy
from laneway.classify.training import Decision, flag_rows, guarded, trained
from laneway.domain.bounded_text import bounded
from laneway.llm.encoders import Encoder, EncoderMissing, MiniLmEncoder, Remembering, UseEncoder, Vectors

if TYPE_CHECKING:
    from laneway.classify.context_learned import Acts, Come
    from laneway.transcript import Turn

_log = logging.getLogger("laneway.classify")
EXACT = 0.99
SAMPLE = "Which of the two disks of the web server is nearly full, and please restart nginx after that."
TALK = (
    ("user", "How full is the disk?"),
    ("assistant", "90 %. Shall I remove 1. the old logs or 2. the cache?"),
    ("user", "the second one, please"),
)
REMEMBERED = 256
"""So many texts are kept encoded: a text is judged by several tiers and taxonomies, one after the other."""
POSSIBLE = 0.03
"""From this probability of its label on, a flag is judged even where another label won."""
SETTLED: dict[str, Callable[[str], bool | None]] = {"needs_confirmation": confirmation.settled}
"""Flags that grammar can raise."""
ENCODERS: tuple[Callable[[], Encoder], ...] = (functools.cache(UseEncoder), functools.cache(MiniLmEncoder))
"""What makes them; a process has each of them once, however many classifiers it has."""


@dataclass(frozen=True)
class Judged:
    """One judgement: the label, how sure, by which tier, and what else it might have been."""

    label: str
    confidence: float
    tier: int
    unsure: bool
    top: list[tuple[str, float]]
    flags: dict[str, bool] = field(default_factory=dict)
    milliseconds: float = 0.0


class LocalClassifier:
    """Judges texts by any of its taxonomies without a model call."""

    def __init__(
        self,
        taxonomies: Mapping[str, Taxonomy],
        cache: Path | None = None,
        encoders: Sequence[Callable[[], Encoder]] = ENCODERS,
    ) -> None:
        self._taxonomies, self._cache, self._makers = dict(taxonomies), cache, list(encoders)
        self._encoders: list[Encoder] = []
        self._decisions: dict[tuple[str, int], dict[str, Decision]] = {}
        self._exact = {name: Exact(taxonomy) for name, taxonomy in taxonomies.items()}
        self._meanings: dict[str, Vectors | None] = {}
        self._acts: Acts | None = None
        self._acts_read = False
        self._lock = threading.RLock()
        self.missing: list[str] = []

    def judge(self, name: str, text: str, known: str | None = None, tiers: int = 2) -> Judged:
        """The judgement on `text` by the first `tiers`; unsure means that somebody better should be asked.

        Where the label is `known` already, only what else there is to judge is judged.
        """
        began, text = time.perf_counter(), bounded(text)
        taxonomy = self._taxonomies[name]
        exact = self._exactly(taxonomy, text) if known is None else None
        if exact is not None and len(exact.flags) < len(taxonomy.flags):
            # Somebody said what it is and not whether it needs a flag: that is still to be judged.
            known, exact = exact.label, None
        judged = exact or self._by_tiers(taxonomy, text, known, tiers)
        return Judged(
            judged.label, judged.confidence, judged.tier, judged.unsure, judged.top, judged.flags,
            round((time.perf_counter() - began) * 1000, 3),
        )  # fmt: skip

    def shares(self, name: str, text: str) -> dict[str, float]:
        """How likely each label and each flag of a text is, by the first tier alone."""
        taxonomy, tier = self._taxonomies[name], self._reach(1)
        decisions, row = self._decided(taxonomy, tier), self._row(taxonomy, text, tier)
        labels = decisions["label"].model.probabilities(row)[0].tolist()
        flags = {
            flag.name: float(decisions[flag.name].model.probabilities(flag_rows(flag, row, [text]))[0][1])
            for flag in taxonomy.flags
        }
        return dict(zip(taxonomy.names, labels, strict=True)) | flags

    def come_to(self, turns: Sequence[Turn]) -> Come | None:
        """What the last of these turns comes to; None where no encoder or no weights are at hand."""
        if not self._acts_read:
            # Who judges single texts only does not pay for conversations.
            from laneway.classify import context_learned

            self._acts, self._acts_read = context_learned.shipped() if self._reach(1) else None, True
        if self._acts is None:
            return None
        return self._acts.come_to(turns, self._encoders[0], lambda text: self.shares("message", text))

    def taxonomy(self, name: str) -> Taxonomy:
        """The taxonomy as it is judged by: with what was learnt."""
        return self._taxonomies[name]

    def meaning(self, text: str) -> Vectors | None:
        """What the first encoder makes of a text; None where there is no encoder."""
        return self._encoders[0].encode([text])[0] if self._reach(1) else None

    def nearest(self, name: str, text: str, count: int) -> list[tuple[str, str]]:
        """The examples that mean most nearly the same, with their labels; none before they were prepared."""
        taxonomy, meaning = self._taxonomies[name], self.meaning(text)
        if self._meanings.get(name) is None:
            self._meanings[name] = meanings.read(taxonomy, self._cache)
        known = self._meanings[name]
        if known is None or meaning is None:
            return []
        pairs = taxonomy.examples()
        return [pairs[place] for place in (-(known @ meaning)).argsort()[:count]]

    def remember(self, name: str) -> None:
        """What the examples of a taxonomy mean is in the cache, for `nearest`."""
        if self._cache is not None and self._reach(1):
            meanings.prepare(self._taxonomies[name], self._encoders[0], self._cache)

    def at_hand(self, name: str) -> bool:
        """Whether the first tier of a taxonomy is trained already."""
        names = [UseEncoder.name]
        return training.at_hand(self._taxonomies[name], names, self._cache) is not None

    def ready(self, name: str) -> bool:
        """Whether `name` can be judged at once; otherwise somebody else should, while `warm` is at work."""
        return any((name, tier) in self._decisions for tier in (0, 1, 2))

    def warm(self, names: Sequence[str], tiers: int = 1) -> None:
        """The first tiers of these taxonomies are loaded and trained; the next text is judged without delay."""
        # Encoders read their weights when they first encode, and that should not be somebody's message.
        for encoder in self._encoders[: self._reach(tiers)]:
            encoder.encode(["ready"])
        for name in names:
            self._decided(self._taxonomies[name], min(tiers, self._reach(tiers)))
            # Word lists and patterns are read when they are first used.
            wording.summary(name, self.judge(name, SAMPLE, tiers=min(tiers, 1)).label, SAMPLE)
        give_back()

    def listen(self) -> None:
        """What conversations are judged by is read: the first short answer to something is judged without delay."""
        from laneway.classify.context_learned import turns_of

        self.come_to(turns_of([{"author": author, "text": text} for author, text in TALK]))

    def replace(self, taxonomy: Taxonomy) -> None:
        """Judgements follow this taxonomy from now on; what the one of the same name had trained is gone."""
        tiers = [tier for name, tier in list(self._decisions) if name == taxonomy.name]
        fresh = {(taxonomy.name, tier): trained(taxonomy, self._encoders[:tier], self._cache) for tier in tiers}
        with self._lock:
            self._taxonomies[taxonomy.name] = taxonomy
            self._exact[taxonomy.name] = Exact(taxonomy)
            self._meanings.pop(taxonomy.name, None)
            kept = {key: value for key, value in self._decisions.items() if key[0] != taxonomy.name}
            self._decisions = kept | fresh

    def _exactly(self, taxonomy: Taxonomy, text: str) -> Judged | None:
        found = self._exact[taxonomy.name].of(text)
        if found is None and taxonomy.name == "message" and small_talk(text) is not None:
            found = ("other", {flag.name: False for flag in taxonomy.flags})
        if found is None:
            return None
        label, flags = found
        return Judged(label, EXACT, 0, False, [(label, EXACT)], flags)

    def _by_tiers(self, taxonomy: Taxonomy, text: str, known: str | None, tiers: int) -> Judged:
        judged = None
        for tier in range(1, tiers + 1):
            if self._reach(tier) < tier and judged is not None:
                break
            judged, certain = self._at(taxonomy, text, self._reach(tier), known)
            if certain:
                break
        assert judged is not None
        return judged

    def _at(self, taxonomy: Taxonomy, text: str, tier: int, known: str | None) -> tuple[Judged, bool]:
        """The judgement of one tier, and whether no better one need look at it."""
        decisions = self._decided(taxonomy, tier)
        row = self._row(taxonomy, text, tier)
        probabilities = decisions["label"].model.probabilities(row)[0]
        label, confidence = (known, EXACT) if known else chosen(taxonomy, decisions["label"], probabilities)
        told = dict(zip(taxonomy.names, probabilities.tolist(), strict=True))
        # A flag is judged where its label won, and where it may still be the right one.
        asked = [flag for flag in taxonomy.flags if label == flag.applies_to or told[flag.applies_to] >= POSSIBLE]
        found = {flag.name: self._flag(flag, decisions[flag.name], row, text) for flag in asked}
        flags = {flag.name: False for flag in taxonomy.flags} | {name: raised for name, (raised, _) in found.items()}
        certain = (known is not None or confidence >= decisions["label"].certain) and all(c for _, c in found.values())
        unsure = known is None and confidence < decisions["label"].sure
        top = sorted(told.items(), key=lambda pair: -pair[1])
        return Judged(label, confidence, tier, unsure, top, flags), certain

    def _row(self, taxonomy: Taxonomy, text: str, tier: int) -> Rows:
        encoders = self._encoders[:tier]
        return vectors.rows([text], encoders, taxonomy.structure, taxonomy.keywords, taxonomy.plenty)

    def _flag(self, flag: Flag, decision: Decision, row: Rows, text: str) -> tuple[bool, bool]:
        """Whether a flag is raised, and whether that is certain.

        Grammar raises it where it is certain; elsewhere the examples decide, and doubt raises it. Grammar alone never
        lowers one: in unseen wording its "no" is wrong once in thirty, too often for an action.
        """
        if flag.name in SETTLED and SETTLED[flag.name](text):
            return True, True
        yes = float(decision.model.probabilities(flag_rows(flag, row, [text]))[0][1])
        return yes >= decision.guard, max(yes, 1 - yes) >= decision.certain

    def _decided(self, taxonomy: Taxonomy, tier: int) -> dict[str, Decision]:
        key = (taxonomy.name, tier)
        if key not in self._decisions:
            with self._lock:
                if key not in self._decisions:
                    # By name: the taxonomy may have been replaced since the caller took it.
                    now = self._taxonomies[taxonomy.name]
                    self._decisions[key] = trained(now, self._encoders[:tier], self._cache)
        return self._decisions[key]

    def _reach(self, tier: int) -> int:
        """The highest tier up to `tier` that can be had here; encoders are loaded on the way."""
        with self._lock:
            while len(self._encoders) < tier and self._makers:
                try:
                    self._encoders.append(Remembering(self._makers.pop(0)(), REMEMBERED))
                except EncoderMissing as error:
                    self._makers.clear()
                    self.missing.append(str(error))
                    _log.warning("Classification goes on without an encoder: %s", error)
        return min(tier, len(self._encoders))


def chosen(taxonomy: Taxonomy, decision: Decision, probabilities: Matrix) -> tuple[str, float]:
    """The likeliest label, unless the guard says otherwise, and how likely it is to be right."""
    best = int(probabilities.argmax())
    if taxonomy.guard is not None:
        place = taxonomy.names.index(taxonomy.guard.label)
        found = guarded(taxonomy.guard, decision.guard, probabilities, place)
        if found != best:
            return taxonomy.names[found], decision.forced
    return taxonomy.names[best], float(probabilities[best])
