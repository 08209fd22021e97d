"""Whether the models can be called: one short, real request for each key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pydantic_ai.messages import ModelRequest
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from laneway.errors import ModelFault
from laneway.llm import faults
from laneway.llm.choice import Models, chain_of
from laneway.llm.prices import IN_PROCESS
from laneway.llm.retry import RetryingModel

SECONDS = 30.0
"""A server of one's own may have to load the model first."""


async def probe(models: Models) -> str | None:
    """None if every provider answers, else a sentence about the first that does not."""
    asked: dict[tuple[str, str], Model] = {}
    for model, key in _concretes(models):
        asked.setdefault((model.system, key), model)
    messages, short = [ModelRequest.user_text_prompt("Say OK.")], ModelSettings(max_tokens=16)
    for (_, key), model in asked.items():
        try:
            with faults.Explained(model.model_name, key_setting=key):
                async with asyncio.timeout(SECONDS):
                    await model.request([*messages], short, ModelRequestParameters())
        except ModelFault as fault:
            return str(fault)
    return None


def _concretes(models: Models) -> Iterator[tuple[Model, str]]:
    for role in filter(None, (models.execute, models.classify)):
        for model in chain_of(role):
            key_setting = model.key_setting if isinstance(model, RetryingModel) else ""
            while isinstance(model, WrapperModel):
                model = model.wrapped
            if model.system not in IN_PROCESS:
                yield model, key_setting
