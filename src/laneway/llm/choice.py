"""Which models are asked: what the settings name, else what the keys present allow, else the offline model.

Every concrete model is called as Retrying(Metered(concrete)); with fallback models, a chain stands around them, and
where a budget may step down, the cheaper model stands beside that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.clock import Clock
from laneway.domain.conversation import PULLED
from laneway.errors import SettingsError
from laneway.llm.fallback import FallbackChain
from laneway.llm.meter import Caps, Meter, MeteredModel
from laneway.llm.prices import IN_PROCESS
from laneway.llm.providers import Concrete, build, has_anthropic_key, is_foreign, takes_temperature
from laneway.llm.retry import RetryingModel, Sleep
from laneway.llm.step_down import StepDownModel
from laneway.settings import Settings
from laneway.store.database import Database

OPENAI_MODELS = ("gpt-5.4", "gpt-5.4-mini")
"""The strong and the small model of OpenAI, when none is named."""


@dataclass(frozen=True)
class Models:
    """The models of both roles and how they are to be asked; without `classify` no model classifies."""

    execute: Model
    classify: Model | None
    execute_settings: ModelSettings
    classify_settings: ModelSettings
    description: str
    cheaper: Model | None = None
    named: Mapping[str, Model] = field(default_factory=dict)
    """Every configured model by its `provider:model`, for work that names one."""

    async def close(self) -> None:
        """Connections kept open for the next call are closed."""
        for model in (self.execute, self.classify, self.cheaper):
            if model is not None:
                # Leaving a model closes the HTTP client of its provider; the next run would make a new one.
                async with model:
                    pass


@dataclass(frozen=True)
class _Roles:
    execute: str
    classify: str | None
    why: str = ""


def choose(
    settings: Settings,
    db: Database,
    *,
    clock: Clock | None = None,
    sleep: Sleep = asyncio.sleep,
    chance: Callable[[], float] = random.random,
    pulled: Collection[str] = PULLED,
) -> Models:
    """The models the settings ask for, or a SettingsError that says what is missing."""
    roles = _roles(settings)
    judges = tuple(spec for spec in settings.fallback_models if spec not in IN_PROCESS)
    execute = [build(spec, settings) for spec in (roles.execute, *settings.fallback_models)]
    classify = [build(spec, settings, small=True) for spec in (roles.classify, *judges)] if roles.classify else []
    cheaper = _cheaper(settings, roles)
    known = dict(zip((str(roles.classify), *judges), classify, strict=False))
    known |= dict(zip((roles.execute, *settings.fallback_models), execute, strict=True))
    known |= {settings.cheaper_model: cheaper} if cheaper and settings.cheaper_model else {}
    meter = Meter(db, caps_of(settings), settings.allow_unknown_price, pulled)

    def chained(concretes: list[Concrete]) -> Model:
        models = [
            RetryingModel(MeteredModel(c.model, meter), key_setting=c.key_setting, sleep=sleep, chance=chance)
            for c in concretes
        ]
        if len(models) == 1:
            return models[0]
        return FallbackChain(models, cooldown_seconds=settings.cooldown_seconds, clock=clock)

    strong, spare = chained(execute), chained([cheaper]) if cheaper else None
    return Models(
        execute=strong if spare is None else StepDownModel(strong, spare),
        classify=chained(classify) if classify else None,
        execute_settings=_settings(
            [*execute, *([cheaper] if cheaper else [])],
            settings.claude_max_tokens,
            settings.claude_timeout_seconds,
            settings.claude_temperature,
        ),
        classify_settings=_settings(
            classify, settings.haiku_max_tokens, settings.haiku_timeout_seconds, settings.haiku_temperature
        ),
        description=_description(roles, settings.fallback_models),
        cheaper=spare,
        named={spec: chained([concrete]) for spec, concrete in known.items()},
    )


def small_spec(settings: Settings) -> str | None:
    """`provider:model` of the small model; None if there is none."""
    return _roles(settings).classify


def caps_of(settings: Settings) -> Caps:
    """The caps the settings name."""
    return Caps(**{field.name: getattr(settings, f"budget_{field.name}") for field in fields(Caps)})


def _cheaper(settings: Settings, roles: _Roles) -> Concrete | None:
    """The model that answers when the strong one no longer fits a budget, if there is to be one."""
    spec = settings.cheaper_model or roles.classify
    if settings.budget_at_cap != "step_down" or spec in (None, roles.execute) or roles.execute in IN_PROCESS:
        return None
    return build(str(spec), settings, small=settings.cheaper_model is None)


def _roles(settings: Settings) -> _Roles:
    named = settings.default_model
    if named is not None:
        return _Roles(named, None if named in IN_PROCESS else named, "chosen by DEFAULT_MODEL")
    haiku = f"anthropic:{settings.haiku_model}"
    if has_anthropic_key(settings):
        return _Roles(f"anthropic:{settings.claude_model}", haiku)
    if settings.openai_api_key is not None or settings.openai_base_url is not None:
        strong, small = _openai_names(settings)
        return _Roles(f"openai:{strong}", f"openai:{small}")
    if settings.haiku_api_key is not None:
        return _Roles("offline", haiku, "no key for a strong model set")
    return _Roles("offline", None, "no model key set")


def _openai_names(settings: Settings) -> tuple[str, str]:
    """The model names in the settings, where somebody changed them, else OpenAI's."""
    ours = Settings.model_fields
    strong = None if settings.claude_model == ours["claude_model"].default else settings.claude_model
    small = None if settings.haiku_model == ours["haiku_model"].default else settings.haiku_model
    if strong is None and is_foreign(settings.openai_base_url):
        raise SettingsError(
            "OPENAI_BASE_URL names a server, but nothing names the model it shall answer with.",
            hint="Set DEFAULT_MODEL=openai:MODEL, as the server calls it.",
        )
    return strong or OPENAI_MODELS[0], small or strong or OPENAI_MODELS[1]


def _settings(concretes: list[Concrete], max_tokens: int, timeout: float, temperature: float | None) -> ModelSettings:
    settings = ModelSettings(max_tokens=max_tokens, timeout=timeout)
    # One set for the whole chain: what a model of it would reject is left out.
    if temperature is not None and all(takes_temperature(concrete.model) for concrete in concretes):
        settings["temperature"] = temperature
    return settings


def _description(roles: _Roles, fallbacks: tuple[str, ...]) -> str:
    provider, _, name = roles.execute.partition(":")
    text = f"{provider}: {name}" if name else f"{provider} ({roles.why})"
    if roles.classify not in (None, roles.execute):
        text += f", small model {str(roles.classify).partition(':')[2]}"
    return text + "".join(f", then {spec}" for spec in fallbacks)
