"""The primitives: one file each. A file that is put here is a primitive; docs/adding-a-primitive.md adds one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from laneway.lanes.pipeline.step import Step


@cache
def primitives() -> dict[str, type[Step]]:
    """Every primitive by what it is called in a plan."""
    found: dict[str, type[Step]] = {}
    for module in iter_modules(__path__, f"{__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, type) and issubclass(one, Step) and one.__module__ == module.name:
                found[one.DO] = one
    return found
