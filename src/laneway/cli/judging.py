"""Who judges for `laneway classify`: the server, which knows what was learnt and may ask a model, or this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from laneway.cli.connection import connect
from laneway.cli.home import home_of
from laneway.cli.printing import one_line
from laneway.errors import BadInput, LanewayError, NotFound, Unauthorized, Unavailable

if TYPE_CHECKING:
    from laneway.classify.local import Judged, LocalClassifier
    from laneway.classify.taxonomy import Taxonomy
    from laneway.client import Client
    from laneway.llm.encoders import Encoder
    from laneway.transcript import Turn

Line = dict[str, Any]
"""A judgement as programs read it: label, each flag, confidence, tier, unsure, top, ms."""

MESSAGE, FLAG = "message", "needs_confirmation"
TURNS = 'Turns are {"turns": [{"author": "user" or "assistant", "text": …}, …]}, and the last one is a user\'s.'


@dataclass(frozen=True)
class Asked:
    """A text to judge, or a conversation whose last turn is judged."""

    text: str
    turns: tuple[dict[str, str], ...] = ()


def asked_in(taxonomy: str, row: Any) -> Asked:
    """What a line asks about; BadInput if that is nothing this taxonomy judges."""
    from laneway.classify.evaluation import text_in

    if not isinstance(row, Mapping) or "turns" not in row:
        return Asked(text_in(row))
    if taxonomy != MESSAGE:
        raise BadInput(f"Turns are judged by the taxonomy {MESSAGE} only.", hint='Give {"text": …}.')
    turns = row["turns"] if isinstance(row["turns"], list) else []
    told = tuple({"author": _author(turn), "text": text_in({"text": turn.get("text")})} for turn in turns)
    if not told or told[-1]["author"] != "user":
        raise BadInput("The line has no turns that end with a user's.", hint=TURNS)
    return Asked(told[-1]["text"], told)


def _author(turn: Any) -> str:
    if not isinstance(turn, Mapping) or turn.get("author") not in ("user", "assistant"):
        raise BadInput("A turn has no known author.", hint=TURNS)
    return str(turn["author"])


class InProcess:
    """Judges here, by the taxonomies and the weights in the data directory; asks nobody."""

    def __init__(self, taxonomy: Taxonomy, classifier: LocalClassifier) -> None:
        self.taxonomy, self._classifier = taxonomy, classifier

    def judged(self, asked: Asked) -> Judged:
        """The judgement; turns are first understood as the journey understands them."""
        return self._in_context(asked) if asked.turns else self._classifier.judge(self.taxonomy.name, asked.text)

    def _in_context(self, asked: Asked) -> Judged:
        from laneway.classify.context import meant
        from laneway.transcript import bounded_turns

        meaning = meant(bounded_turns(_turns(asked.turns)))
        known = meaning.label or ("command" if meaning.order else None)
        found = self._classifier.judge(self.taxonomy.name, meaning.text, known)
        confirm = found.flags.get(FLAG, False) if meaning.confirm is None else meaning.confirm
        return replace(found, flags={**found.flags, FLAG: confirm and found.label == "command"})

    def judge(self, asked: Asked) -> Line:
        return line_of(self.taxonomy, self.judged(asked))

    def tell_missing(self) -> None:
        """Whoever looks at standard error knows which encoder was not there."""
        for sentence in self._classifier.missing:
            print(f"Judged without an encoder: {sentence}", file=sys.stderr)


def in_process(taxonomy: Taxonomy, tiers: int, makers: Sequence[Callable[[], Encoder]] | None = None) -> InProcess:
    """A judge in this process, so far warmed up that a judgement takes what a judgement takes."""
    from laneway.classify.local import ENCODERS, LocalClassifier
    from laneway.classify.prepare import cache_of

    classifier = LocalClassifier({taxonomy.name: taxonomy}, cache_of(home_of(os.environ)), makers or ENCODERS)
    for tier in range(1, tiers + 1):
        classifier.warm([taxonomy.name], tier)
    # An encoder reads its weights when it is first asked for a meaning.
    classifier.meaning("")
    return InProcess(taxonomy, classifier)


def taxonomy_of(name: str) -> Taxonomy:
    """The taxonomy of this name in the data directory or the program; BadInput if there is none."""
    from laneway.classify.taxonomy import load

    taxonomies = load(home_of(os.environ))
    if name not in taxonomies:
        raise BadInput(f"There is no taxonomy `{one_line(name)}`.", hint=f"There are {', '.join(sorted(taxonomies))}.")
    return taxonomies[name]


class Judging:
    """Asks the server as long as it answers; from then on this process judges, which is said once."""

    def __init__(self, name: str, tiers: int, client: Client | None, here: InProcess | None) -> None:
        self._name, self._tiers, self._client, self._here = name, tiers, client, here

    def judge(self, asked: Asked) -> Line:
        if self._client is not None and self._here is None:
            try:
                return self._by_server(self._client, asked)
            except (Unavailable, NotFound) as error:
                # Whoever does not know the way there is no Laneway that can judge.
                self._here = instead_of_server(self._name, self._tiers, error)
        assert self._here is not None
        return self._here.judge(asked)

    def _by_server(self, client: Client, asked: Asked) -> Line:
        turns = list(asked.turns)
        return line_from(client.classify(self._name, None if turns else asked.text, turns=turns or None))

    def tell_missing(self) -> None:
        if self._here is not None:
            self._here.tell_missing()


@contextmanager
def judging(name: str, *, model: bool, tiers: int) -> Iterator[Judging]:
    """Who judges while the block lasts: without `model` this process, else the server if there is one."""
    if not model:
        yield Judging(name, tiers, None, in_process(taxonomy_of(name), tiers))
        return
    try:
        client = connect()
    except (Unauthorized, Unavailable) as error:
        # Without a key nobody was asked yet: a server that refuses a key says so later.
        yield Judging(name, tiers, None, instead_of_server(name, tiers, error))
        return
    with client:
        yield Judging(name, tiers, client, None)


def instead_of_server(name: str, tiers: int, error: LanewayError) -> InProcess:
    """A judge in this process, and standard error says why."""
    try:
        known = taxonomy_of(name)
    except BadInput as unknown:
        raise BadInput(unknown.message, hint=f"{unknown.hint} No server was asked: {error.message}") from None
    told = "Judged in this process, without a model and without what a server has learnt"
    print(f"{told}: {one_line(error, 300)}", file=sys.stderr)
    return in_process(known, tiers)


def line_of(taxonomy: Taxonomy, judged: Judged) -> Line:
    """A judgement of this process."""
    return {
        "label": judged.label,
        **{flag.name: bool(judged.flags.get(flag.name)) for flag in taxonomy.flags},
        "confidence": round(judged.confidence, 4),
        "tier": judged.tier,
        "unsure": judged.unsure,
        "top": [[label, round(share, 4)] for label, share in judged.top],
        "ms": judged.milliseconds,
    }


def line_from(answer: Mapping[str, Any]) -> Line:
    """A judgement of the server, in the same words."""
    label, confidence = answer["label"], answer["confidence"]
    return {
        "label": label,
        **answer["flags"],
        "confidence": confidence,
        "tier": _tier(answer["decided_by"]),
        "unsure": answer["unsure"],
        "top": answer["top"] or [[label, confidence]],
        "ms": answer["ms"],
    }


def _tier(decided_by: str) -> int | str:
    number = {"rules": "0"}.get(decided_by, decided_by.removeprefix("local tier "))
    return int(number) if number.isdecimal() else decided_by


def _turns(told: Sequence[Mapping[str, str]]) -> list[Turn]:
    from laneway.domain.conversation import Author
    from laneway.transcript import Turn

    return [Turn(UUID(int=place), Author(turn["author"]), turn["text"]) for place, turn in enumerate(told)]
