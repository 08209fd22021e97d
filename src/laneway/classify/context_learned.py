"""What a message comes to after what was said, learned from conversations, beside the rules of `context`.

A message is taken in one of several ways: as it stands, as the request before, as what was offered, or as plainly
a question, nothing, a look, a change. Which way is likely is learned; what each way comes to is judged by the
message taxonomy. The rules have their say, too: on hands that neither had seen, both together were right more often
than either, and where they differ, being wrong is likely enough to ask.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from laneway.classify import training
from laneway.classify.context import hear, meant
from laneway.classify.context_signs import OUTCOMES, Shares, outcome, readings, signs
from laneway.classify.softmax import Matrix, least, softmax, with_one
from laneway.classify.taxonomy import load
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.llm.encoders import Encoder, UseEncoder
from laneway.transcript import Turn

CONVERSATIONS = Path(__file__).with_name("conversations.jsonl")
SIGNS_WEIGHT, DECAY = 0.5, 0.3
RULES = 0.4
"""The share of the rules in the judgement; chosen on one hand that neither rules nor weights had seen."""
DOUBT = 0.4
"""A command is taken for a change from this probability on: no action without a yes because of a doubt."""
RECIPE = "1"


@dataclass(frozen=True)
class Come:
    """What a message comes to, and how likely that is right."""

    label: str
    confirm: bool
    confidence: float
    top: list[tuple[str, float]]


@dataclass(frozen=True)
class Acts:
    """Weights by which messages are taken in one way or another."""

    weights: Matrix

    def come_to(self, turns: Sequence[Turn], encoder: Encoder, shares: Shares) -> Come:
        """What the last message comes to, by what was learned and by the rules."""
        ways, row = _read(turns, encoder, shares)
        learned = softmax(with_one(row[None]) @ self.weights)[0] @ ways
        found = (1 - RULES) * learned + RULES * outcome(meant(turns), shares)
        told = {"question": found[0], "other": found[1], "command": found[2] + found[3]}
        top = sorted(((label, float(share)) for label, share in told.items()), key=lambda pair: -pair[1])
        change = bool(found[3] >= DOUBT * (found[2] + found[3]))
        return Come(top[0][0], change and top[0][0] == "command", top[0][1], top)


def learned(encoder: Encoder, shares: Shares) -> Acts:
    """Weights from the conversations that come with the program."""
    cases = [json.loads(line) for line in CONVERSATIONS.read_text(encoding="utf-8").splitlines()]
    read = [_read(turns_of(case["turns"]), encoder, shares) for case in cases]
    ends = [OUTCOMES.index("change" if case["needs_confirmation"] else case["label"]) for case in cases]
    likely = np.array([ways[:, end] for (ways, _), end in zip(read, ends, strict=True)], np.float32)
    rows = with_one(np.array([row for _, row in read], np.float32))
    start = np.zeros((rows.shape[1], likely.shape[1]), np.float32)
    return Acts(least(_Ways(rows, likely), start).astype(np.float16).astype(np.float32))


def turns_of(told: Sequence[dict[str, str]]) -> list[Turn]:
    """A conversation as it is written in a file."""
    return [Turn(new_id(), Author(turn["author"]), turn["text"]) for turn in told]


def file_of() -> str:
    """The name of the file with the weights: the hash of all they come from."""
    told = [RECIPE, str(SIGNS_WEIGHT), str(DECAY), training.file_of(load()["message"], [UseEncoder.name])]
    mixed = hashlib.sha256("|".join(told).encode())
    folder = Path(__file__).parent
    for path in sorted([*folder.glob("context_[!l]*.*"), folder / "context.py", CONVERSATIONS]):
        mixed.update(path.read_bytes())
    return f"turns-1-{mixed.hexdigest()[:24]}.npz"


def shipped() -> Acts | None:
    """The weights that come with the program; None where they are stale, and the rules judge alone."""
    place = training.SHIPPED / file_of()
    if not place.exists():
        return None
    with np.load(place, allow_pickle=False) as stored:
        return Acts(stored["weights"].astype(np.float32))


def ship(encoder: Encoder, shares: Shares) -> None:
    """The weights are among those that come with the program."""
    np.savez_compressed(training.SHIPPED / file_of(), weights=learned(encoder, shares).weights.astype(np.float16))


def _read(turns: Sequence[Turn], encoder: Encoder, shares: Shares) -> tuple[Matrix, Matrix]:
    """What the last message comes to in each way, and the row by which a way is chosen."""
    heard = hear(turns)
    row = np.hstack([signs(heard, shares) * SIGNS_WEIGHT, encoder.encode([heard.text])[0]])
    return readings(heard, shares), row.astype(np.float32)


class _Ways:
    """How surprised weights are by what messages came to, whichever way they were taken."""

    def __init__(self, rows: Matrix, likely: Matrix) -> None:
        self._rows, self._likely = rows, likely

    def at(self, weights: Matrix) -> tuple[float, Matrix]:
        count = len(self._rows)
        taken = softmax(self._rows @ weights)
        met = (taken * self._likely).sum(1, keepdims=True) + 1e-9
        slope = self._rows.T @ (taken - taken * self._likely / met) / count
        slope[:-1] += DECAY / count * weights[:-1]
        value = float(-np.log(met).mean()) + DECAY / 2 / count * float((weights[:-1] ** 2).sum())
        return value, slope.astype(np.float32)
