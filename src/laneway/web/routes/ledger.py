"""The ledger, added up, and beside what it would have been had the strong model done everything."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai.models import Model
from pydantic_ai.usage import RequestUsage

from laneway.errors import SettingsError
from laneway.llm import prices
from laneway.llm.choice import chain_of
from laneway.llm.prices import Priced
from laneway.store import ledger, savings
from laneway.web.gateway import Here
from laneway.web.shapes import Page, Shape, SpendingShape, shaped

router = APIRouter(tags=["ledger"])


class Window(BaseModel):
    model_config = ConfigDict(extra="forbid")

    since: datetime | None = Field(None, description="Only calls made since then; UTC if no zone is given.")

    def begin(self) -> datetime | None:
        """The moment it begins, with its zone."""
        since = self.since
        return since.replace(tzinfo=UTC) if since is not None and since.tzinfo is None else since


class Summing(Window):
    by: ledger.By = Field("day", description="What the lines are about.")


class SavingsShape(Shape):
    spent: float
    calls: int
    all_strong: float
    judged_locally: int
    avoided: float
    saved: float
    share: float | None
    compared_with: str
    instead_of: str | None
    judgement_basis: Literal["median", "assumed"]
    judgement_tokens_input: int
    judgement_tokens_output: int
    unsettled: int
    unpriced: int


@router.get("/ledger", summary="Tokens and money spent")
async def summed(here: Here, which: Annotated[Summing, Query()]) -> Page[SpendingShape]:
    async with here.app.db.transaction() as tx:
        return Page(items=shaped(SpendingShape, await ledger.summary(tx, by=which.by, since=which.begin())))


@router.get("/ledger/saved", summary="Money saved by not asking the strong model for everything")
async def saved(here: Here, which: Annotated[Window, Query()]) -> SavingsShape:
    """All amounts are US dollars: `saved` = `all_strong` + `avoided` - `spent`, `share` is its part of the first two.

    `all_strong` is the price of the same tokens at the model `compared_with`. That is the one that executes or, where
    that one has no price and stands in `instead_of`, the strong model of the settings. `avoided` is the price, at the
    same model, of the messages `judged_locally`, without a model call: each counts as the median judgement of a model
    in the ledger or, as long as there is none (`judgement_basis` is `assumed`), as 400 tokens in and 80 out. Calls
    `unsettled`, whose end nobody knows, count their worst case on both sides; calls being made are left out. Calls
    `unpriced` were made at a price nobody knows and count as free in `spent`. Without anything spent or judged,
    `share` is null.
    """
    model, unpriced = _strong(chain_of(here.app.models.execute)[0], here.app.settings.claude_model)
    async with here.app.db.transaction() as tx:
        record = await savings.read(tx, since=which.begin())

    def price(tokens: savings.Tokens) -> Decimal:
        cost = _cost(model, tokens)
        assert cost is not None
        return cost

    # Long calls are priced one by one, which takes a while if there are thousands.
    found = await asyncio.to_thread(savings.compare, record, price)
    compared = {"compared_with": _name(model), "instead_of": unpriced}
    return SavingsShape.model_validate({name: getattr(found, name) for name in found.__slots__} | compared)


@dataclass(frozen=True)
class _Named:
    """A model known by its name alone, which is enough to price it."""

    system: str
    model_name: str
    base_url: str | None = None


def _strong(used: Model, default: str) -> tuple[Priced, str | None]:
    """The model to compare with, and the name of the one that executes if it could not be that."""
    # A server of one's own is free: there would be nothing to save.
    if used.system not in prices.IN_PROCESS and _cost(used, savings.ASSUMED):
        return used, None
    named = _Named("anthropic", default)
    if _cost(named, savings.ASSUMED) is None:
        raise SettingsError(
            f"Nobody knows a price for `{_name(used)}`, which executes, nor for `{_name(named)}`, the strong model of "
            "the settings: there is nothing to compare with.",
            hint="Set CLAUDE_MODEL to a model with a known price; DEFAULT_MODEL can name another one to be called.",
        )
    return named, _name(used)


def _cost(model: Priced, tokens: savings.Tokens) -> Decimal | None:
    usage = RequestUsage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.written,
    )
    return prices.cost_of(model, usage)


def _name(model: Priced) -> str:
    return model.system if model.system in prices.IN_PROCESS else f"{model.system}:{model.model_name}"
