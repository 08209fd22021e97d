"""One model for everything, metered like any other: for tests, demonstrations and self-tests."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from laneway.llm.choice import Models
from laneway.llm.meter import Caps, Meter, MeteredModel
from laneway.llm.retry import RetryingModel
from laneway.store.database import Database


def only(
    model: Model, db: Database, *, classify: Model | None = None, caps: Caps | None = None,
    named: Mapping[str, Model] | None = None,
) -> Models:  # fmt: skip
    """The given model executes, and classifies only if one is given for it; `named` answer where they are named."""
    meter = Meter(db, caps or Caps())

    def called(concrete: Model) -> Model:
        return RetryingModel(MeteredModel(concrete, meter))

    return Models(
        called(model), called(classify) if classify else None, ModelSettings(), ModelSettings(), model.model_name,
        named={name: called(one) for name, one in (named or {}).items()},
    )  # fmt: skip
