"""Reading one step of a plan: each fault names the step, the primitive, the field and its repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, TypeVar

from laneway.errors import BadInput

MOST_NAMES = 1000
LONGEST_NAME = 500

T = TypeVar("T")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at what was probably meant, or at what there is."""
    names = [str(one) for one in known]
    close = get_close_matches(name, names, n=1) or [one for one in names if one.lower() == name.lower()]
    if close:
        return f"Did you mean {close[0]}?"
    listed = ", ".join(names[:20]) + (" …" if len(names) > 20 else "")
    return f"There is: {listed}." if names else ""


class Fields:
    """The fields of one step, each taken once; what nobody took is a fault."""

    def __init__(self, number: int, do: str, given: Mapping[str, Any]) -> None:
        self.number, self.do, self._given = number, do, given
        self._taken: set[str] = {"do"}

    def wrong(self, what: str, repair: str) -> BadInput:
        """The fault, to be raised by who found it."""
        return BadInput(f"Step {self.number} ({self.do}): {what}", hint=repair)

    def has(self, field: str) -> bool:
        """Whether the field was given, and is not null."""
        return self._given.get(field) is not None

    def take(self, field: str, default: Any = None) -> Any:
        """The field as it was given."""
        self._taken.add(field)
        value = self._given.get(field)
        return default if value is None else value

    def need(self, field: str, example: str) -> Any:
        """The field, which must be there."""
        if not self.has(field):
            raise self.wrong(f"`{field}` is missing.", f"Write, for example, {example}.")
        return self.take(field)

    def text(self, field: str, example: str) -> str:
        """The field, a text that is not empty."""
        value = self.need(field, example)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(f"`{field}` must be a text.", f"Write, for example, {example}.")
        return self.name(field, value)

    def name(self, field: str, value: Any) -> str:
        """The value, if it can be the name of a column or a table."""
        if not isinstance(value, str) or not value:
            raise self.wrong(f"`{field}` must hold names.", "A name is a text that is not empty.")
        if len(value) > LONGEST_NAME:
            raise self.wrong(f"`{field}` holds a name of {len(value)} letters.", f"At most {LONGEST_NAME}.")
        return value

    def names(self, field: str, example: str, *, least: int = 1) -> tuple[str, ...]:
        """The field, different names in order; one name alone is taken for a list of one."""
        value = self.need(field, example) if least else self.take(field, [])
        given = [value] if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or len(given) < least or len(given) > MOST_NAMES:
            raise self.wrong(f"`{field}` must be a list of names.", f"Write, for example, {example}.")
        names = tuple(self.name(field, one) for one in given)
        twice = {one for one in names if names.count(one) > 1}
        if twice:
            raise self.wrong(f"`{field}` names {sorted(twice)[0]} twice.", "Name it once.")
        return names

    def number_of(self, field: str, example: str, *, least: int, default: int | None = None) -> int:
        """The field, a whole number."""
        value = self.need(field, example) if default is None else self.take(field, default)
        if type(value) is not int or not least <= value <= 1_000_000_000:
            raise self.wrong(
                f"`{field}` must be a whole number of at least {least}.", f"Write, for example, {example}."
            )
        return value

    def choice(self, field: str, choices: Iterable[str], default: str | None = None) -> str:
        """The field, one of a few words."""
        known = list(choices)
        value = self.take(field, default)
        if not isinstance(value, str) or value not in known:
            said = f"`{field}` is missing." if value is None else f"`{field}` cannot be {value!r:.60}."
            raise self.wrong(said, f"Use one of: {', '.join(known)}.")
        return value

    def mapping(self, field: str, example: str) -> Mapping[str, Any]:
        """The field, an object that is not empty."""
        value = self.need(field, example)
        if not isinstance(value, Mapping) or not value or len(value) > MOST_NAMES:
            raise self.wrong(f"`{field}` must be an object.", f"Write, for example, {example}.")
        return value

    def each(self, field: str, given: Any, read: Callable[[Any], T]) -> tuple[T, ...]:
        """One item or a list of them, each read."""
        items = given if isinstance(given, list | tuple) else [given]
        if not items or len(items) > MOST_NAMES:
            raise self.wrong(f"`{field}` must be a list that is not empty.", f"At most {MOST_NAMES} items.")
        return tuple(read(item) for item in items)

    def finished(self, known: Iterable[str]) -> None:
        """Every field given was one that this primitive has."""
        for field in self._given:
            if field not in self._taken:
                raise self.wrong(f"it has no field `{field}`.", nearest(str(field), known))
