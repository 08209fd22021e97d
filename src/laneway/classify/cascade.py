"""Rules, the local classifier, the small model: the cheapest that is sure decides. No tier can make a job fail."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from laneway.classify import rules
from laneway.classify.context import meant
from laneway.classify.local import Judged, LocalClassifier
from laneway.classify.model import SmallModel
from laneway.domain.judgement import Classification, Intent
from laneway.errors import LanewayError, LeaseLost
from laneway.transcript import Turn

SURE = 0.6
TAXONOMY, FLAG = "message", "needs_confirmation"
_log = logging.getLogger("laneway.classify")


class Cascade:
    """Judges messages with the cheapest tier that is sure."""

    def __init__(self, small_model: SmallModel | None = None, local: LocalClassifier | None = None) -> None:
        self._small_model, self._local = small_model, local

    async def judge(self, turns: Sequence[Turn]) -> Classification:
        """The judgement on the last turn, with who made it and how long it took."""
        began = time.perf_counter()
        judged, sure = await self._cheaply(turns)
        if not sure and self._small_model is not None:
            judged = await self._by_model(self._small_model, turns, judged)
        return replace(judged, milliseconds=round((time.perf_counter() - began) * 1000, 3))

    async def _cheaply(self, turns: Sequence[Turn]) -> tuple[Classification, bool]:
        """What rules and the local classifier say, and whether that will do."""
        meaning = meant(turns)
        if self._local is None or not self._local.ready(TAXONOMY):
            judged = rules.judge(meaning.text)
            return judged, judged.confidence >= SURE
        label = "command" if meaning.order else None
        found = await asyncio.to_thread(self._local.judge, TAXONOMY, meaning.text, label)
        return _classification(turns[-1].text, found), not found.unsure

    async def _by_model(self, model: SmallModel, turns: Sequence[Turn], cheap: Classification) -> Classification:
        try:
            judged = await model.judge(turns)
        except LeaseLost:
            raise
        except LanewayError as error:
            # A judgement we are unsure of is better than a message without an answer.
            _log.warning("The small model did not judge, the %s judgement stands: %s", cheap.decided_by, error)
            return cheap
        return replace(judged, runner_up=cheap.intent)


def _classification(text: str, found: Judged) -> Classification:
    """The local judgement in the shape every judgement has, with a summary and a plan from the label."""
    others = [label for label, _ in found.top if label != found.label]
    return replace(
        rules.worded(text, Intent(found.label), confirm=found.flags.get(FLAG, False)),
        confidence=round(found.confidence, 4),
        decided_by="rules" if found.tier == 0 else f"local tier {found.tier}",
        runner_up=others[0] if others else None,
    )
