"""One of several configured models answers where a piece of work names it; else the usual one does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from pydantic_ai.models import Model
from pydantic_ai.models.wrapper import WrapperModel

_chosen: ContextVar[Model | None] = ContextVar("laneway_chosen_model", default=None)


@contextmanager
def answered_by(model: Model | None) -> Iterator[None]:
    """While the block lasts, this model answers for the usual one; None leaves it to the usual one."""
    token = _chosen.set(model)
    try:
        yield
    finally:
        _chosen.reset(token)


class ChosenModel(WrapperModel):
    """The usual model, or the one that `answered_by` names."""

    def __init__(self, usual: Model) -> None:
        self._usual = usual
        super().__init__(usual)

    @property
    def wrapped(self) -> Model:
        return _chosen.get() or self._usual

    @wrapped.setter
    def wrapped(self, model: Model) -> None:
        self._usual = model


def found(models: Mapping[str, Model], name: str) -> Model | None:
    """The model of this name, written `provider:model` or only `model`; None if none or more than one is called so."""
    exact = models.get(name)
    if exact is not None:
        return exact
    near = [spec for spec in models if spec.partition(":")[2] == name]
    return models[near[0]] if len(near) == 1 else None
