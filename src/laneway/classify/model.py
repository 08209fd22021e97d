"""The small model's judgement, in the shape of seed 000: intent, summary, plan, needs_confirmation, confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.domain.judgement import Classification, Intent
from laneway.errors import PermanentFault
from laneway.llm.meter import prompted_by
from laneway.transcript import Turn

CONTEXT_TURNS = 6


class Judgement(BaseModel):
    """What the small model must answer."""

    intent: Literal["question", "command", "other"]
    summary: str = Field(description="One sentence: what the user wants.")
    plan: str = Field(description="One sentence: how to respond.")
    needs_confirmation: bool
    confidence: float = Field(ge=0, le=1)


class SmallModel:
    """Asks the small model for one judgement."""

    def __init__(self, model: Model, settings: ModelSettings, prompt: str, prompt_version: str = "") -> None:
        self._prompt_version = prompt_version
        self._agent = Agent(
            model, output_type=Judgement, instructions=prompt, model_settings=settings, name="classify", retries=1
        )

    async def judge(self, turns: Sequence[Turn]) -> Classification:
        """The model's judgement on the last turn; a LanewayError if it gave none."""
        earlier = [f"{turn.author}: {turn.text[:300]}" for turn in turns[-CONTEXT_TURNS:-1]]
        context = "\n".join(["<conversation>", *earlier, "</conversation>"]) if earlier else ""
        asked = f"{context}\n<message>\n{turns[-1].text[:4000]}\n</message>".strip()
        try:
            with prompted_by(self._prompt_version):
                said = (await self._agent.run(asked)).output
        except AgentRunError as error:
            raise PermanentFault(f"The small model gave no usable judgement: {error}") from error
        intent = Intent(said.intent)
        return Classification(
            intent,
            said.summary,
            said.plan,
            said.needs_confirmation and intent is Intent.COMMAND,
            said.confidence,
            lane="answer" if intent is Intent.OTHER else "tools",
            decided_by="model",
        )
