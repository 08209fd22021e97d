"""What an event cost: as its log says, else by the price list."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from genai_prices import Usage, calc_price

from laneway.domain.session import SessionEvent, Tokens

_VENDORS = {"claude-code": "anthropic", "codex": "openai", "gemini-cli": "google", "gemini": "google"}
FREE = {"offline", "scripted", "test"}


def cost_of(event: SessionEvent, model: str = "") -> Decimal | None:
    """Its cost in US dollars; nothing for what used no tokens, None if nobody knows the model's price."""
    if event.cost is not None or not event.tokens:
        return event.cost or Decimal(0)
    return price_of(event.tokens, event.model or model, event.provider)


def priced(event: SessionEvent, model: str = "") -> SessionEvent:
    """The event with what it cost, if that is known; `model` is the session's, for what names none."""
    cost = cost_of(event, model) if event.tokens else None
    return event if cost is None else replace(event, cost=cost)


def price_of(tokens: Tokens, model: str, provider: str = "") -> Decimal | None:
    """What these tokens cost; a part that was counted too high before is given back at its price."""
    if model in FREE or tokens == Tokens():
        return Decimal(0)
    parts = {
        "input": tokens.input + tokens.tool_prompt,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }
    whole = _priced(model, _VENDORS.get(provider), tuple(max(0, count) for count in parts.values()))
    back = tuple(max(0, -count) for count in parts.values())
    if whole is None or not any(back):
        return whole
    return whole - (_priced(model, _VENDORS.get(provider), back) or Decimal(0))


@lru_cache(maxsize=1_000)
def _priced(model: str, vendor: str | None, counts: tuple[int, ...]) -> Decimal | None:
    fresh, output, read, written = counts
    usage = Usage(
        input_tokens=fresh + read + written, output_tokens=output, cache_read_tokens=read, cache_write_tokens=written
    )
    for provider_id in dict.fromkeys((vendor, None)):
        with suppress(LookupError, ValueError):
            return calc_price(usage, model, provider_id=provider_id).total_price
    return None
