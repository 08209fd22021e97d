"""Asks a model for its report on a session, and is content with the rules where that does not work."""

from __future__ import annotations

import asyncio

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings, merge_model_settings

from laneway.domain.budget import Account
from laneway.domain.job import Scope
from laneway.domain.keepable import keepable
from laneway.errors import BudgetBusy, BudgetExceeded, ModelFault
from laneway.llm.meter import charged_to, prompted_by
from laneway.llm.prompts import Prompts
from laneway.reactors.ai_reviewer import Digest, Report, by_rules, material

LONGEST = 2_500
"""Characters of a report."""
_SECONDS = 60.0
_MOST_TOKENS = 600


class Reviews:
    """Writes reports with the model that executes; each is paid for like any other call."""

    def __init__(self, model: Model, settings: ModelSettings, prompts: Prompts) -> None:
        self._prompts, self._offline = prompts, model.system == "offline"
        self._agent: Agent[None, str] = Agent(
            model, name="review", output_type=str, instructions=prompts.text("review"),
            model_settings=merge_model_settings(settings, ModelSettings(max_tokens=_MOST_TOKENS)),
        )  # fmt: skip

    async def report(self, digest: Digest) -> Report:
        """A model's report, or that of the rules with why there is none."""
        if self._offline:
            return by_rules(digest, "no model key is set")
        try:
            with charged_to(Account(Scope.REACTIVE, lane="review")), prompted_by(self._prompts.version("review")):
                async with asyncio.timeout(_SECONDS):
                    ran = await self._agent.run(material(digest))
        except (BudgetBusy, BudgetExceeded):
            return by_rules(digest, "the budget has no room for it")
        except (ModelFault, AgentRunError, TimeoutError):
            return by_rules(digest, "the model did not answer")
        text = str(keepable(ran.output)).strip()[:LONGEST]
        return (
            Report(text, str(ran.response.model_name or "model"))
            if text
            else by_rules(digest, "the model said nothing")
        )
