"""Decides whether a correction may be learnt: what is learnt must make nothing worse that was right.

`python -m laneway.classify.learning HOME` reads a correction and those accepted before it as JSON, trains with it
in a process of its own, and prints the verdict. The weights are in the cache afterwards.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from laneway.classify import vectors
from laneway.classify.local import ENCODERS, chosen
from laneway.classify.prepare import cache_of
from laneway.classify.rules import normalise
from laneway.classify.taxonomy import Taxonomy, load
from laneway.classify.training import Decision, flag_rows, trained
from laneway.llm.encoders import Encoder, EncoderMissing, Remembering

NEARLY_THE_SAME = 0.97
REMEMBERED = 20_000
"""The same examples are trained with several times over, and encoded once."""
MOST_LOST = 0.005
"""The share of built-in examples that corrections, all together, may cost."""


@dataclass(frozen=True)
class Case:
    """A text and what it is; `flag` is None where nobody said."""

    text: str
    label: str
    flag: bool | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether a correction is learnt, and a sentence that says why."""

    accepted: bool
    reason: str


@dataclass(frozen=True)
class Tier:
    """A taxonomy as it was trained at one tier, and how its texts become rows there."""

    taxonomy: Taxonomy
    encoders: Sequence[Encoder]
    decisions: dict[str, Decision]

    def accuracy(self, decision: str, texts: Sequence[str]) -> float:
        """The share of these texts that weights which had never seen them judged right."""
        right = dict(zip(_texts(self.taxonomy, decision), self.decisions[decision].right.tolist(), strict=True))
        return float(np.mean([right[text] for text in texts]))

    def right(self, cases: Sequence[Case]) -> list[bool]:
        """Which cases the trained weights judge as they should; exact matches do not count as judgement."""
        if not cases:
            return []
        texts = [case.text for case in cases]
        told = self.taxonomy
        rows = vectors.rows(texts, self.encoders, told.structure, told.keywords, told.plenty)
        decision = self.decisions["label"]
        likely = decision.model.probabilities(rows)
        found = [chosen(self.taxonomy, decision, row)[0] == case.label for row, case in zip(likely, cases, strict=True)]
        for flag in self.taxonomy.flags:
            decision = self.decisions[flag.name]
            answers = decision.model.probabilities(flag_rows(flag, rows, texts))[:, 1] >= decision.guard
            for place, case in enumerate(cases):
                if case.label == flag.applies_to and case.flag is not None:
                    found[place] &= bool(answers[place]) == case.flag
        return found


def composed(taxonomy: Taxonomy, cases: Sequence[Case]) -> Taxonomy:
    """The taxonomy with the cases as further examples."""
    flags = {case.text: case.flag for case in cases if case.flag is not None}
    return taxonomy.with_examples([(case.text, case.label) for case in cases], flags)


def learn(
    taxonomy: Taxonomy, accepted: Sequence[Case], new: Case, encoders: Sequence[Encoder], cache: Path | None
) -> Verdict:
    """The verdict on `new`, from the taxonomy as it came, with what was accepted, and with `new` on top."""
    known = [*_built_in(taxonomy), *accepted]
    if any(_same(case, new) and case.label == new.label and new.flag in (None, case.flag) for case in known):
        return Verdict(True, "It is an example already.")
    against = _contradicted(known, new, encoders)
    if against is not None:
        return Verdict(
            False, f"It is nearly the same as “{_short(against.text)}”, which is {_told(taxonomy, against)}."
        )
    after: Tier | None = None
    for count in range(min(1, len(encoders)), len(encoders) + 1):
        versions = [taxonomy, composed(taxonomy, accepted), composed(taxonomy, [*accepted, new])]
        first, before, after = (Tier(one, encoders[:count], trained(one, encoders[:count], cache)) for one in versions)
        worse = _forgotten(before, after, accepted) or _lost(first, after)
        if worse is not None:
            return Verdict(False, worse)
    assert after is not None
    share = after.accuracy("label", _texts(taxonomy, "label"))
    return Verdict(True, f"Learnt; {share:.1%} of the built-in examples are judged right unseen.")


def _contradicted(known: Sequence[Case], new: Case, encoders: Sequence[Encoder]) -> Case | None:
    """A known case that is the same text, or nearly, and something else."""
    others = [case for case in known if case.label != new.label or _opposed(case.flag, new.flag)]
    same = next((case for case in others if _same(case, new)), None)
    if same is not None or not others or not encoders:
        return same
    meanings = encoders[0].encode([new.text, *(case.text for case in others)])
    nearness = meanings[1:] @ meanings[0]
    nearest = int(nearness.argmax())
    return others[nearest] if nearness[nearest] >= NEARLY_THE_SAME else None


def _forgotten(before: Tier, after: Tier, accepted: Sequence[Case]) -> str | None:
    """Says which text that was corrected before would be judged wrong again, if one would."""
    pairs = zip(accepted, before.right(accepted), after.right(accepted), strict=True)
    for case, was, remains in pairs:
        if was and not remains:
            return f"“{_short(case.text)}”, corrected before, would be judged wrong again."
    return None


def _lost(first: Tier, after: Tier) -> str | None:
    """Says which decision would get worse on the built-in examples, if one would."""
    for decision in first.decisions:
        texts = _texts(first.taxonomy, decision)
        had, has = first.accuracy(decision, texts), after.accuracy(decision, texts)
        # One example of a small taxonomy is more than the share, and no sign of anything.
        if had - has > max(MOST_LOST, 1 / len(texts)) + 1e-9:
            what = "labels" if decision == "label" else decision
            return f"Only {has:.1%} of the built-in examples would be judged right ({what}), and not {had:.1%}."
    return None


def _built_in(taxonomy: Taxonomy) -> Iterator[Case]:
    for label in taxonomy.labels:
        yield from (Case(text, label.name) for text in label.examples)
    for flag in taxonomy.flags:
        yield from (Case(text, flag.applies_to, True) for text in flag.yes)
        yield from (Case(text, flag.applies_to, False) for text in flag.no)


def _texts(taxonomy: Taxonomy, decision: str) -> list[str]:
    """The examples of one decision, in the order it was trained with."""
    if decision == "label":
        return [text for text, _ in taxonomy.examples()]
    yes, no = next(taxonomy.flag_examples(flag) for flag in taxonomy.flags if flag.name == decision)
    return [*yes, *no]


def _same(case: Case, new: Case) -> bool:
    return normalise(case.text) == normalise(new.text)


def _opposed(one: bool | None, other: bool | None) -> bool:
    return one is not None and other is not None and one is not other


def _told(taxonomy: Taxonomy, case: Case) -> str:
    flag = next((flag.name for flag in taxonomy.flags if flag.applies_to == case.label), None)
    answer = {True: f" ({flag})", False: f" (not {flag})"}.get(case.flag) if case.flag is not None else None
    return f"{case.label}{answer or ''}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"


def _encoders() -> list[Encoder]:
    """The encoders that can be had here, up to the first that cannot."""
    found: list[Encoder] = []
    for make in ENCODERS:
        try:
            found.append(Remembering(make(), REMEMBERED))
        except EncoderMissing:
            break
    return found


def main(home: Path) -> None:
    """The verdict on the correction read from standard input is printed as JSON."""
    os.nice(10)
    told = json.load(sys.stdin)
    taxonomy = load(home)[told["taxonomy"]]
    accepted = [Case(**case) for case in told["accepted"]]
    verdict = learn(taxonomy, accepted, Case(**told["new"]), _encoders(), cache_of(home))
    json.dump(asdict(verdict), sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
