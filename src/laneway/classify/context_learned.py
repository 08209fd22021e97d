"""What a message comes to after what was said, learned from conversations, beside the rules of `context`.

A message is taken in one of several ways: as it stands, as the request before, as what was offered, or as plainly
a question, nothing, a look, a change. Which way is likely is learned; what each way comes to is judged by the
message taxonomy. What it comes to is learned straight from the words as well, and the rules have their say, too: on
hands that none of them had seen, all together were right more often than each, and where they differ, being wrong is
likely enough to ask.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from laneway.classify import training, words
from laneway.classify.context import hear, meant
from laneway.classify.context_signs import OUTCOMES, Shares, outcome, readings, signs
from laneway.classify.rows import Matrix, Rows, below
from laneway.classify.softmax import least, softmax
from laneway.classify.taxonomy import load
from laneway.domain.conversation import Author
from laneway.domain.ids import new_id
from laneway.llm.encoders import Encoder, UseEncoder
from laneway.transcript import Turn

CONVERSATIONS = Path(__file__).with_name("conversations.jsonl")
SIGNS_WEIGHT, WORDS_WEIGHT, DECAY = 0.5, 0.5, 0.3
STRAIGHT, RULES = 0.5, 0.15
"""The share of what is learned straight in what is learned, and that of the rules in the judgement.

Chosen on sixteen hands, each judged by weights that had not seen it.
"""
_TOLD, _REST = 0.97, 0.01
"""How sure one may be of what a conversation was said to come to: the people who told it err now and then."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+")
DOUBT = 0.4
"""A command is taken for a change from this probability on: no action without a yes because of a doubt."""
RECIPE = "2"


@dataclass(frozen=True)
class Come:
    """What a message comes to, and how likely that is right."""

    label: str
    confirm: bool
    confidence: float
    top: list[tuple[str, float]]


@dataclass(frozen=True)
class Acts:
    """Weights by which messages are taken in one way or another, and by which they come to something straight."""

    ways: Matrix
    straight: Matrix

    def come_to(self, turns: Sequence[Turn], encoder: Encoder, shares: Shares) -> Come:
        """What the last message comes to, by what was learned and by the rules."""
        found = (1 - RULES) * self.likely(_read(turns, encoder, shares)) + RULES * outcome(meant(turns), shares)
        told = {"question": found[0], "other": found[1], "command": found[2] + found[3]}
        top = sorted(((label, float(share)) for label, share in told.items()), key=lambda pair: -pair[1])
        change = bool(found[3] >= DOUBT * (found[2] + found[3]))
        return Come(top[0][0], change and top[0][0] == "command", top[0][1], top)

    def likely(self, read: _Read) -> Matrix:
        """How likely each outcome is by what was learned alone."""
        by_ways = softmax(read.row.times(self.ways))[0] @ read.ways
        straight = softmax(_with_ways(read.row, read.ways[None]).times(self.straight))[0]
        return np.asarray((1 - STRAIGHT) * by_ways + STRAIGHT * straight, np.float32)


def learned(encoder: Encoder, shares: Shares) -> Acts:
    """Weights from the conversations that come with the program."""
    cases = [json.loads(line) for line in CONVERSATIONS.read_text(encoding="utf-8").splitlines()]
    read = [_read(turns_of(case["turns"]), encoder, shares) for case in cases]
    ends = [OUTCOMES.index("change" if case["needs_confirmation"] else case["label"]) for case in cases]
    return fitted(read, ends)


def fitted(read: Sequence[_Read], ends: Sequence[int]) -> Acts:
    """The weights that explain what the messages came to."""
    rows, ways = below([one.row for one in read]), np.stack([one.ways for one in read])
    by_ways = np.array([way[:, end] for way, end in zip(ways, ends, strict=True)], np.float32)
    straight = np.where(np.eye(len(OUTCOMES))[list(ends)] > 0, _TOLD, _REST).astype(np.float32)
    return Acts(_rounded(_Ways(rows, by_ways)), _rounded(_Ways(_with_ways(rows, ways), straight)))


def turns_of(told: Sequence[dict[str, str]]) -> list[Turn]:
    """A conversation as it is written in a file."""
    return [Turn(new_id(), Author(turn["author"]), turn["text"]) for turn in told]


def file_of() -> str:
    """The name of the file with the weights: the hash of all they come from."""
    told = [
        RECIPE,
        str(SIGNS_WEIGHT),
        str(WORDS_WEIGHT),
        str(DECAY),
        training.file_of(load()["message"], [UseEncoder.name]),
    ]
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
        return Acts(stored["ways"].astype(np.float32), stored["straight"].astype(np.float32))


def ship(encoder: Encoder, shares: Shares) -> None:
    """The weights are among those that come with the program."""
    acts = learned(encoder, shares)
    place = training.SHIPPED / file_of()
    np.savez_compressed(place, ways=acts.ways.astype(np.float16), straight=acts.straight.astype(np.float16))


@dataclass(frozen=True)
class _Read:
    """A message in its place: what it comes to in each way, and the row by which a way is chosen."""

    ways: Matrix
    row: Rows


def _read(turns: Sequence[Turn], encoder: Encoder, shares: Shares) -> _Read:
    heard = hear(turns)
    before = next((turn.text for turn in reversed(turns[:-1]) if turn.author is Author.ASSISTANT), "")
    dense = np.hstack([signs(heard, shares) * SIGNS_WEIGHT, *encoder.encode([heard.text, before or " "])])
    last = _SENTENCES.split(before)[-1]
    said = words.rows([heard.text], WORDS_WEIGHT).beside(words.rows([last], WORDS_WEIGHT))
    return _Read(readings(heard, shares), Rows(dense[None].astype(np.float32), said))


def _with_ways(rows: Rows, ways: Matrix) -> Rows:
    return rows.beside(ways.reshape(len(ways), -1))


def _rounded(loss: _Ways) -> Matrix:
    """The weights as they are stored, so that fresh ones judge exactly as stored ones."""
    return least(loss, loss.start).astype(np.float16).astype(np.float32)


class _Ways:
    """How surprised weights are by what messages came to, whichever way they were taken."""

    def __init__(self, rows: Rows, likely: Matrix) -> None:
        self._rows, self._likely = rows, likely
        self.start = np.zeros((rows.width, likely.shape[1]), np.float32)

    def at(self, weights: Matrix) -> tuple[float, Matrix]:
        count = len(self._rows)
        taken = softmax(self._rows.times(weights))
        met = (taken * self._likely).sum(1, keepdims=True) + 1e-9
        slope = self._rows.back(taken - taken * self._likely / met) / count
        slope[:-1] += DECAY / count * weights[:-1]
        value = float(-np.log(met).mean()) + DECAY / 2 / count * float((weights[:-1] ** 2).sum())
        return value, slope.astype(np.float32)
