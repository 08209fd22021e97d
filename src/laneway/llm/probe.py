"""Whether the keys work: the cheapest question a provider answers, asked once for each key."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.wrapper import WrapperModel

from laneway.errors import ModelFault
from laneway.llm import faults
from laneway.llm.choice import Models
from laneway.llm.prices import IN_PROCESS
from laneway.llm.providers import OAUTH_BETA
from laneway.llm.retry import RetryingModel

SECONDS = 10.0


async def probe(models: Models) -> str | None:
    """None if every provider takes our keys, else a sentence about the first that does not."""
    asked = {(model.system, key): model for model, key in _concretes(models) if model.system not in IN_PROCESS}
    for (_, key), model in asked.items():
        try:
            await _ask(model, key)
        except ModelFault as fault:
            return str(fault)
    return None


async def _ask(model: Model, key_setting: str) -> None:
    client: Any = getattr(model, "client", None)
    if client is None:
        return
    headers = {"anthropic-beta": OAUTH_BETA} if getattr(client, "auth_token", None) else {}
    try:
        with faults.Explained(model.model_name, key_setting=key_setting):
            async with asyncio.timeout(SECONDS):
                await client.models.list(extra_headers=headers)
    except ModelFault as fault:
        # A server of one's own need not have a list of models; that it answered is enough.
        if faults.status_of(fault.__cause__) != 404:
            raise


def _concretes(models: Models) -> Iterator[tuple[Model, str]]:
    for role in (models.execute, models.classify):
        for model in role.models if isinstance(role, FallbackModel) else [role]:
            key_setting = model.key_setting if isinstance(model, RetryingModel) else ""
            while isinstance(model, WrapperModel):
                model = model.wrapped
            if model is not None:
                yield model, key_setting
