"""A plan: which table, and what is done to it, step by step. The one thing planner, model, engine and lane share.

{"from": "flights", "steps": [{"do": "filter", "where": {…}}, {"do": "top_k", "k": 10, "by": "price"}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.fields import LONGEST_NAME, Fields, nearest
from laneway.lanes.pipeline.primitives import primitives
from laneway.lanes.pipeline.spellings import ours
from laneway.lanes.pipeline.step import Step

MOST_STEPS = 100
FETCHED = "http_request"
"""The primitive that brings rows from elsewhere, and the table that they are found in."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked chain of steps over one of the given tables."""

    source: str | None
    """Which table; None when there is one only, or when the first step fetches it."""
    steps: tuple[Step, ...]

    def document(self) -> dict[str, Any]:
        """The plan as JSON, in our own spelling: what is stored, shown, and read again."""
        steps = [{"do": step.DO, **step.document()} for step in self.steps]
        return ({"from": self.source} if self.source is not None else {}) | {"steps": steps}

    @property
    def fetches(self) -> bool:
        """Whether its rows are fetched by its first step."""
        return bool(self.steps) and self.steps[0].DO == FETCHED


def plan_of(document: Mapping[str, Any]) -> Plan:
    """The plan this document says; what is wrong with it is named by step, primitive, field and repair."""
    if not isinstance(document, Mapping):
        raise BadInput("A plan must be an object.", hint='Write {"from": "table", "steps": [{"do": …}]}.')
    document = ours(document)
    unknown = [str(field) for field in document if field not in ("from", "steps")]
    if unknown:
        raise BadInput(f"A plan has no field `{unknown[0]}`.", hint=nearest(unknown[0], ("from", "steps")))
    return Plan(_source(document.get("from")), _steps(document.get("steps")))


def _source(given: Any) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or not given or len(given) > LONGEST_NAME:
        raise BadInput("`from` must name a table.", hint='Write, for example, "from": "flights".')
    return given


def _steps(given: Any) -> tuple[Step, ...]:
    if not isinstance(given, list | tuple):
        raise BadInput("`steps` must be a list.", hint='Write "steps": [{"do": "sort", "by": [{"column": "price"}]}].')
    if len(given) > MOST_STEPS:
        raise BadInput(f"The plan has {len(given)} steps.", hint=f"At most {MOST_STEPS}.")
    return tuple(_step(number, one) for number, one in enumerate(given, 1))


def _step(number: int, given: Any) -> Step:
    known = primitives()
    if not isinstance(given, Mapping):
        raise BadInput(f"Step {number} must be an object.", hint='Write {"do": "sort", …}.')
    do = given.get("do")
    if not isinstance(do, str) or do not in known:
        said = "says no `do`" if do is None else f"asks for {do!r:.60}, which is no primitive"
        raise BadInput(f"Step {number} {said}.", hint=nearest(str(do), sorted(known)))
    if do == FETCHED and number != 1:
        raise BadInput(f"Step {number} ({do}): it must come first.", hint="Put it at the beginning of `steps`.")
    fields = Fields(number, do, given)
    step = known[do].read(fields)
    fields.finished(known[do].SCHEMA)
    return step


def sentence(plan: Plan) -> str:
    """The plan in one plain sentence."""
    steps = plan.steps[1:] if plan.fetches else plan.steps
    source = plan.steps[0].phrase() if plan.fetches else f"from {plan.source or 'the table'}"
    said = ", then ".join(step.phrase() for step in steps) or "every row as it is"
    return f"{source[0].upper()}{source[1:]}: {said}."


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of a plan, as a model is told it."""
    steps = [
        {"type": "object", "description": one.__doc__, "required": ["do"],
         "properties": {"do": {"const": name}, **one.SCHEMA}}
        for name, one in sorted(primitives().items())
    ]  # fmt: skip
    return {
        "type": "object",
        "properties": {
            "from": {"type": "string", "description": "The table to start from."},
            "steps": {"type": "array", "items": {"anyOf": steps}},
        },
        "required": ["steps"],
    }
