"""A plan: which table, and what is done to it, step by step. The one thing planner, model, engine and lane share.

{"from": "flights", "steps": [{"do": "filter", "where": {…}}, {"do": "top_k", "k": 10, "by": "price"}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laneway.errors import BadInput
from laneway.lanes.pipeline.fields import LONGEST_NAME, Fields, nearest
from laneway.lanes.pipeline.primitives import primitives
from laneway.lanes.pipeline.primitives.http_request import HttpRequest
from laneway.lanes.pipeline.spellings import ours
from laneway.lanes.pipeline.step import Step

MOST_STEPS = 100
FETCHED = HttpRequest.DO
"""The primitive that brings rows from elsewhere, and what the first table of it is called."""
OTHER_NAME = 'Give what is fetched a name of its own, like "table": "cities".'


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked chain of steps over one of the given tables."""

    source: str | None
    """Which table; None when there is one only, or when it is the one that the first step fetches."""
    steps: tuple[Step, ...]

    def document(self) -> dict[str, Any]:
        """The plan as JSON, in our own spelling: what is stored, shown, and read again."""
        steps = [{"do": step.DO, **step.document()} for step in self.steps]
        return ({"from": self.source} if self.source is not None else {}) | {"steps": steps}

    @property
    def fetches(self) -> dict[str, dict[str, Any]]:
        """Each of its requests to a web server, by the table that it brings."""
        return {
            step.name_of(number): {"do": FETCHED, **step.document()}
            for number, step in enumerate(self.steps, 1)
            if isinstance(step, HttpRequest)
        }

    def fetches_beside(self, tables: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The same, none of which may have the name of a table that is there."""
        fetches = self.fetches
        if taken := fetches.keys() & set(tables):
            raise BadInput(f"There is a table {min(taken)} already.", hint=OTHER_NAME)
        return fetches


def plan_of(document: Mapping[str, Any] | Sequence[Any]) -> Plan:
    """The plan this document says; what is wrong with it is named by step, primitive, field and repair."""
    if not isinstance(document, Mapping | list):
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
    steps = tuple(_step(number, one) for number, one in enumerate(given, 1))
    names: list[str] = []
    for number, step in enumerate(steps, 1):
        if isinstance(step, HttpRequest):
            if len(names) < number - 1:
                raise BadInput(f"Step {number} ({FETCHED}): it must come first.", hint="Begin `steps` with it.")
            if (name := step.name_of(number)) in names:
                raise BadInput(f"Step {number} ({FETCHED}): there is a table {name} already.", hint=OTHER_NAME)
            names.append(name)
    return steps


def _step(number: int, given: Any) -> Step:
    known = primitives()
    if not isinstance(given, Mapping):
        raise BadInput(f"Step {number} must be an object.", hint='Write {"do": "sort", …}.')
    do = given.get("do")
    if not isinstance(do, str) or do not in known:
        said = "says no `do`" if do is None else f"asks for {do!r:.60}, which is no primitive"
        raise BadInput(f"Step {number} {said}.", hint=nearest(str(do), sorted(known)))
    fields = Fields(number, do, given)
    step = known[do].read(fields)
    fields.finished(known[do].SCHEMA)
    return step


def sentence(plan: Plan) -> str:
    """The plan in one plain sentence."""
    fetched = {name: step.phrase() for name, step in zip(plan.fetches, plan.steps, strict=False)}
    said = ", then ".join(step.phrase() for step in plan.steps[len(fetched) :]) or "every row as it is"
    name = plan.source or next(iter(fetched), "the table")
    source = fetched.pop(name, f"from {name}")
    beside = "".join(f", with {other} {phrase}" for other, phrase in fetched.items())
    return f"{source[0].upper()}{source[1:]}{beside}: {said}."


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
