"""What an image shows, said by a model that can see; in the ledger like every other model call."""

from __future__ import annotations

from pydantic_ai import Agent, BinaryContent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.errors import PermanentFault
from laneway.llm.choice import small_spec
from laneway.llm.meter import Meter, MeteredModel, prompted_by
from laneway.llm.prices import IN_PROCESS
from laneway.llm.prompts import Prompts
from laneway.llm.providers import build, is_foreign
from laneway.llm.retry import RetryingModel
from laneway.settings import Settings

LONGEST_ANSWER = 400
"""Tokens."""
LONGEST_SIDE = 1568
"""Pixels; providers make larger ones smaller, and count them all the same."""


class Describer:
    """Looks at one image at a time; it has no tools, so nothing written in an image can make it do anything."""

    def __init__(self, model: Model, prompts: Prompts, seconds: float) -> None:
        self.model = model
        self._version = prompts.version("vision")
        self._agent = Agent(
            model,
            output_type=str,
            instructions=prompts.text("vision"),
            model_settings=ModelSettings(max_tokens=LONGEST_ANSWER, timeout=seconds),
            name="vision",
            retries=0,
        )

    async def describe(self, picture: bytes, mime: str) -> str:
        """What the picture shows, in a few sentences; a fault says why nobody looked."""
        try:
            with prompted_by(self._version):
                run = await self._agent.run(["The image:", BinaryContent(picture, media_type=mime)])
        except AgentRunError as error:
            raise PermanentFault(f"{self.model.model_name} gave no description.") from error
        return run.output.strip()

    async def close(self) -> None:
        # Leaving a model closes the HTTP client of its provider.
        async with self.model:
            pass


def vision_spec(settings: Settings) -> str | None:
    """The model that looks at images; None if none is to, or none is known to be able to."""
    if not settings.describe_images:
        return None
    if settings.vision_model is not None:
        return settings.vision_model
    spec = small_spec(settings)
    if spec is None or spec in IN_PROCESS:
        return None
    # What another server serves under OpenAI's protocol may well be blind.
    blind = spec.startswith("openai:") and is_foreign(settings.openai_base_url)
    return None if blind else spec


def describer_of(settings: Settings, meter: Meter, prompts: Prompts) -> Describer | None:
    """Who looks at images, if anybody does."""
    spec = vision_spec(settings)
    if spec is None:
        return None
    concrete = build(spec, settings, small=settings.vision_model is None)
    model = RetryingModel(MeteredModel(concrete.model, meter), key_setting=concrete.key_setting)
    return Describer(model, prompts, settings.haiku_timeout_seconds)
