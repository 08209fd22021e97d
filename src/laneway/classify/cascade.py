"""Rules first; the small model only when they are unsure. No tier can make a job fail."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from laneway.classify import rules
from laneway.classify.model import SmallModel
from laneway.domain.judgement import Classification
from laneway.errors import LanewayError, LeaseLost
from laneway.transcript import Turn

SURE = 0.6
_log = logging.getLogger("laneway.classify")


class Cascade:
    """Judges messages with the cheapest tier that is sure."""

    def __init__(self, small_model: SmallModel | None = None) -> None:
        self._small_model = small_model

    async def judge(self, turns: Sequence[Turn]) -> Classification:
        """The judgement on the last turn, with who made it and how long it took."""
        began = time.perf_counter()
        judged = rules.judge(turns[-1].text)
        if judged.confidence < SURE and self._small_model is not None:
            try:
                judged = replace(await self._small_model.judge(turns), runner_up=judged.intent)
            except LeaseLost:
                raise
            except LanewayError as error:
                # A judgement we are unsure of is better than a message without an answer.
                _log.warning("The small model did not judge, the rules' judgement stands: %s", error)
        return replace(judged, milliseconds=round((time.perf_counter() - began) * 1000, 3))
