"""Concrete models, built from `provider:model` and the keys in the settings. SDKs are imported only when used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr
from pydantic_ai.models import Model

from laneway.errors import SettingsError
from laneway.llm import faults
from laneway.settings import Settings

OAUTH_BETA = "oauth-2025-04-20"
"""The beta the Anthropic API asks for when a request carries an OAuth token."""

_OPENAI_URL = "https://api.openai.com/v1"
_OAUTH_PREFIX = "sk-ant-oat"


@dataclass(frozen=True)
class Concrete:
    """A model as its provider has it, and the setting that holds the key it is called with."""

    model: Model
    key_setting: str = ""


def build(spec: str, settings: Settings, *, small: bool = False) -> Concrete:
    """The model `provider:model` names; as the small model it may have a key of its own."""
    provider, _, name = spec.partition(":")
    if provider == "offline" and not name:
        return Concrete(_offline())
    if provider == "scripted" and not name:
        return Concrete(_scripted())
    if provider == "anthropic" and name:
        return _anthropic(name, settings, small=small)
    if provider == "openai" and name:
        return _openai(name, settings)
    raise SettingsError(
        f"`{spec}` names no model Laneway can call.",
        hint="Write anthropic:MODEL, openai:MODEL (with OPENAI_BASE_URL for any compatible server), offline or "
        "scripted.",
    )


async def list_models(url: str, key: str | None, key_setting: str, seconds: float = 5.0) -> list[str]:
    """What a server that speaks OpenAI's protocol says it has; none if it keeps no list. A ModelFault else."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with faults.Explained(urlsplit(url).netloc.rpartition("@")[2], key_setting=key_setting):
        async with httpx.AsyncClient(headers=headers, timeout=seconds) as http:
            response = await http.get(f"{url.rstrip('/')}/models")
            if response.status_code == 404:
                return []
            listing = response.raise_for_status().json()
    found = listing.get("data") if isinstance(listing, dict) else listing
    named = [one.get("id") for one in found or [] if isinstance(one, dict)] if isinstance(found, list) else []
    return [" ".join(str(name).split()) for name in named if name]


def has_anthropic_key(settings: Settings) -> bool:
    """Whether the strong model of Anthropic can be called."""
    return settings.anthropic_api_key is not None or settings.claude_code_oauth_token is not None


def is_foreign(base_url: str | None) -> bool:
    """Whether the address belongs to another service that speaks OpenAI's protocol."""
    return base_url is not None and urlsplit(base_url).hostname != "api.openai.com"


def takes_temperature(model: Model) -> bool:
    """Whether the model can be told its temperature; the newer ones that think cannot."""
    profile: Mapping[str, Any] = model.profile
    if profile.get("anthropic_disallows_sampling_settings"):
        return False
    efforts = profile.get("openai_reasoning_efforts") or ()
    can_stop_thinking = "none" in efforts if efforts else profile.get("openai_supports_reasoning_effort_none")
    thinks = profile.get("thinking_enabled_by_default") or not can_stop_thinking
    return not (profile.get("openai_supports_reasoning") and thinks)


def _offline() -> Model:
    from laneway.llm.offline import OfflineModel

    return OfflineModel()


def _scripted() -> Model:
    from laneway.llm.scripted import ScriptedModel

    return ScriptedModel()


def _anthropic(name: str, settings: Settings, *, small: bool) -> Concrete:
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    setting, key = _anthropic_key(settings, small=small)
    # The provider makes the HTTP client, so that it renews it when the event loop changes and closes it in the end.
    provider = AnthropicProvider(api_key=key, base_url=settings.anthropic_base_url)
    client: Any = provider.client
    client.max_retries = 0
    # Instructions and tools stay the same from call to call: they are what is worth keeping in the cache.
    own = AnthropicModelSettings(anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True)
    if setting == "CLAUDE_CODE_OAUTH_TOKEN" or key.startswith(_OAUTH_PREFIX):
        client.api_key, client.auth_token = None, key
        own["anthropic_betas"] = [OAUTH_BETA]
    return Concrete(AnthropicModel(name, provider=provider, settings=own), setting)


def _anthropic_key(settings: Settings, *, small: bool) -> tuple[str, str]:
    keys: list[tuple[str, SecretStr | None]] = [
        ("HAIKU_API_KEY", settings.haiku_api_key if small else None),
        ("ANTHROPIC_API_KEY", settings.anthropic_api_key),
        ("CLAUDE_CODE_OAUTH_TOKEN", settings.claude_code_oauth_token),
    ]
    for setting, key in keys:
        if key is not None:
            return setting, key.get_secret_value()
    raise SettingsError(
        "An Anthropic model is to be called, but no key for it is set.",
        hint="Set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN, or choose another DEFAULT_MODEL.",
    )


def _openai(name: str, settings: Settings) -> Concrete:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    address = settings.openai_base_url
    if key is None and address is None:
        raise SettingsError(
            "An OpenAI model is to be called, but neither a key nor an address is set.",
            hint="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
        )
    provider: OpenAIProvider | OpenAICompatibleProvider
    if address is not None and is_foreign(address):
        provider = OpenAICompatibleProvider("openai", base_url=address, api_key=key)
    else:
        provider = OpenAIProvider(base_url=address or _OPENAI_URL, api_key=key)
    provider.client.max_retries = 0
    return Concrete(OpenAIChatModel(name, provider=provider), "OPENAI_API_KEY")
