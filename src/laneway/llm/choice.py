"""Which models are asked: what the settings name, else what the keys present allow, else the offline model.

Every concrete model is called as Retrying(Metered(concrete)); with fallback models, a chain stands around them, and
where a budget may step down, the cheaper model stands beside that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import ROUND_UP, Decimal

from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.settings import ModelSettings

from laneway.clock import Clock
from laneway.domain.conversation import PULLED
from laneway.errors import ModelFault
from laneway.llm.fallback import FallbackChain
from laneway.llm.meter import OUTPUT_UNSAID, Caps, Meter, MeteredModel
from laneway.llm.prices import IN_PROCESS, RULES, worst_cost
from laneway.llm.providers import Concrete, build, has_anthropic_key, is_foreign, list_models, takes_temperature
from laneway.llm.retry import RetryingModel, Sleep
from laneway.llm.step_down import StepDownModel
from laneway.settings import Settings
from laneway.store.database import Database

OPENAI_MODELS = ("gpt-5.4", "gpt-5.4-mini")
"""The strong and the small model of OpenAI, when none is named."""
MOST_SHOWN = 20
_CHOOSE = "set DEFAULT_MODEL=openai:MODEL"


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

    def worst_case(self, tokens_input: int) -> tuple[Decimal, int]:
        """What one call with so much input may cost at most, in dollars and tokens, at the cheapest that may answer."""
        first = chain_of(self.execute)[0]
        most = 0 if first.system == RULES else tokens_input + self.execute_settings.get("max_tokens", OUTPUT_UNSAID)
        models = [first] if self.cheaper is None else [first, self.cheaper]
        dollars = min(worst_cost(one, tokens_input, most - tokens_input) or Decimal(0) for one in models)
        return dollars.quantize(Decimal("0.0001"), ROUND_UP), most

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
    unserved: str = "",
) -> Models:
    """The models the settings ask for, or a SettingsError that says what is missing.

    `unserved` is why the server at OPENAI_BASE_URL is not asked, if it is not.
    """
    roles = _roles(settings, unserved)
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


def chain_of(model: Model) -> Sequence[Model]:
    """The models that are asked in turn; one that only a budget puts in their place is none of them."""
    model = model.wrapped if isinstance(model, StepDownModel) else model
    return model.models if isinstance(model, FallbackModel) else [model]


async def with_served_model(settings: Settings) -> tuple[Settings, str]:
    """Where only the address of a server is given, its one model is the default; else why it is not asked."""
    if not _is_unnamed(settings):
        return settings, ""
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    try:
        names = await list_models(str(settings.openai_base_url), key, "OPENAI_API_KEY")
    except ModelFault as fault:
        return settings, f"OPENAI_BASE_URL lists no models: {fault} Start again then, or {_CHOOSE}"
    if len(names) == 1:
        return settings.model_copy(update={"default_model": f"openai:{names[0]}"}), ""
    shown = ", ".join(names[:MOST_SHOWN]) + (", …" if names[MOST_SHOWN:] else "")
    return settings, f"OPENAI_BASE_URL has {len(names)} models{shown and f': {shown}'}; {_CHOOSE}"


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


def _is_unnamed(settings: Settings) -> bool:
    """Whether there is the address of a server and nothing that says what to ask there."""
    named = settings.default_model or settings.claude_model != Settings.model_fields["claude_model"].default
    return not named and not has_anthropic_key(settings) and is_foreign(settings.openai_base_url)


def _roles(settings: Settings, unserved: str = "") -> _Roles:
    named = settings.default_model
    if named is not None:
        return _Roles(named, None if named in IN_PROCESS else named, "chosen by DEFAULT_MODEL")
    haiku = f"anthropic:{settings.haiku_model}"
    if has_anthropic_key(settings):
        return _Roles(f"anthropic:{settings.claude_model}", haiku)
    if not _is_unnamed(settings) and (settings.openai_api_key is not None or settings.openai_base_url is not None):
        strong, small = _openai_names(settings)
        return _Roles(f"openai:{strong}", f"openai:{small}")
    if settings.haiku_api_key is not None:
        return _Roles("offline", haiku, unserved or "no key for a strong model set")
    return _Roles("offline", None, unserved or "no model key set")


def _openai_names(settings: Settings) -> tuple[str, str]:
    """The model names in the settings, where somebody changed them, else OpenAI's."""
    ours = Settings.model_fields
    strong = None if settings.claude_model == ours["claude_model"].default else settings.claude_model
    small = None if settings.haiku_model == ours["haiku_model"].default else settings.haiku_model
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
