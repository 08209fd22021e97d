"""Finds the column people mean: by its name, a part of it, an abbreviation, another word for it, or a small slip."""

from __future__ import annotations

from collections.abc import Callable

from laneway.lanes.pipeline.planner.lexicon import (
    CONCEPTS,
    ENTITY_TAILS,
    EVENT_TAILS,
    EVENTS,
    MEASURE_TAILS,
    MEASURES,
    MODIFIERS_THAT_MATTER,
)
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema
from laneway.lanes.pipeline.planner.spelling import name_parts, name_words, near, stem

LONGEST = 5
"""A column is named by at most so many words."""
_MEANT = 5
"""From this level on a column fits by the meaning of its words only."""
Equal = Callable[[str, str], bool]
_PREFIXES = frozenset(("is", "has", "was", "are"))
_NEVER_FUZZY = words(
    """
    rows first last price there where which these those three seven eight every other under
    """
)


def candidates(words: tuple[str, ...], schema: Schema) -> list[Column]:
    """The columns these words fit best; several when they fit equally well."""
    if words not in schema.memo:
        schema.memo[words] = _best(words, schema) if words else []
    found: list[Column] = schema.memo[words]
    return found


def _best(words: tuple[str, ...], schema: Schema) -> list[Column]:
    levels: dict[int, list[Column]] = {}
    for column in schema.columns:
        level = _level(words, column)
        if level is not None:
            levels.setdefault(level, []).append(column)
    if not levels:
        return []
    best = levels[min(levels)]
    if min(levels) >= _MEANT:
        # Another word for it counts only where no column bears the word itself.
        best = best + [column for column in schema.columns if column not in best and set(words) <= set(column.words)]
    return best


def slips(words: tuple[str, ...], schema: Schema) -> list[Column]:
    """The columns whose words these are but for one slip of the finger."""
    if any(word in CONCEPTS or word in _NEVER_FUZZY for word in words):
        return []
    return [column for column in schema.columns if column.words and _slipped(words, column.words)]


def _slipped(words: tuple[str, ...], own: tuple[str, ...]) -> bool:
    return len(words) == len(own) and all(a == b or near(a, b) for a, b in zip(words, own, strict=True))


def _level(words: tuple[str, ...], column: Column) -> int | None:
    """How well the words fit the column, 0 best; None if they do not."""
    own = column.words
    if words in (own, name_parts(column.name)):
        return 0
    if own and own[0] in _PREFIXES and words == own[1:]:
        return 0
    if not own or len(words) > len(own) or words == ("number",):
        return None
    for base, equal in ((1, _same), (_MEANT, _means)):
        level = _fit(words, own, equal)
        if level is not None:
            return base + level
    return None


def _same(word: str, own: str) -> bool:
    return word == own


def _means(word: str, own: str) -> bool:
    return word == own or not CONCEPTS.get(word, frozenset()).isdisjoint(CONCEPTS.get(own, frozenset()))


def _fit(words: tuple[str, ...], own: tuple[str, ...], equal: Equal) -> int | None:
    """0 the same words, 1 its noun with fewer words before it, 2 without the tail that names, dates or measures it."""
    if "per" in own[1:] and "per" not in words:
        # The `price_per_night` is a price.
        short = _fit(words, own[: own.index("per")], equal) if len(words) <= own.index("per") else None
        return None if short is None else max(short, 1)
    if len(words) == len(own) and all(map(equal, words, own)):
        return 0
    extra = [word for word in own if not any(equal(said, word) for said in words)]
    if len(extra) != len(own) - len(words) or MODIFIERS_THAT_MATTER.intersection(extra):
        return None
    if equal(words[-1], own[-1]):
        return 1
    return 2 if _harmless(words, own, extra, equal) else None


def _harmless(words: tuple[str, ...], own: tuple[str, ...], extra: list[str], equal: Equal) -> bool:
    """Whether what the name has more only says that it is a name, a moment or a sum."""
    tail: list[str] = []
    for word in reversed(own):
        if word not in extra:
            break
        tail.insert(0, word)
    head = own[len(own) - len(tail) - 1]
    if not equal(words[-1], head):
        return False
    if all(word in EVENT_TAILS for word in tail):
        return head in EVENTS or any(word in EVENTS for word in words)
    if all(word in MEASURE_TAILS for word in tail):
        return head in MEASURES
    return all(word in ENTITY_TAILS for word in tail) and head not in MEASURES and head not in EVENTS | EVENT_TAILS


def words_at(reader: Reader, size: int, ahead: int = 0) -> tuple[str, ...] | None:
    """The next tokens as the words of a name; None if they cannot be one."""
    found: list[str] = []
    for place in range(size):
        token = reader.token(ahead + place)
        if token is None or token.kind not in ("word", "quote"):
            return None
        if token.kind == "word" and token.raw.isidentifier() and token.raw.isupper():
            found.append(stem(token.text))
        elif token.kind == "word" or " " not in token.text:
            found.extend(name_words(token.raw)[0] if "_" in token.raw or not token.raw.islower() else _said(token.text))
        else:
            found.extend(stem(part) for part in name_parts(token.text))
    return tuple(found)


def _said(word: str) -> tuple[str, ...]:
    return name_words(word)[0] or (stem(word),)


def column_at(reader: Reader, schema: Schema, ahead: int = 0) -> tuple[list[Column], int]:
    """The columns the longest run of next words names, and how many tokens it is; ([], 0) if none."""
    place = ("column", reader.at + ahead, id(schema))
    if place not in reader.memo:
        # The schema is kept with the answer, so that its id belongs to no other meanwhile.
        reader.memo[place] = (schema, _longest(reader, schema, ahead))
    found: tuple[list[Column], int] = reader.memo[place][1]
    return found


def _longest(reader: Reader, schema: Schema, ahead: int) -> tuple[list[Column], int]:
    exact = _exact(reader, schema, ahead)
    if exact:
        return exact
    for size in range(LONGEST, 0, -1):
        words = words_at(reader, size, ahead)
        if words is None or not words:
            continue
        found = candidates(words, schema)
        if found:
            return found, size
    for size in range(3, 0, -1):
        words = words_at(reader, size, ahead)
        found = slips(words, schema) if words else []
        if found:
            return found, size
    return [], 0


def _exact(reader: Reader, schema: Schema, ahead: int) -> tuple[list[Column], int] | None:
    """A column written exactly as it is called, in one token; units and all."""
    token = reader.token(ahead)
    if token is None or token.kind not in ("word", "quote"):
        return None
    if "_" not in token.raw and token.kind != "quote" and token.raw.islower():
        return None
    found = [column for column in schema.columns if column.name == token.raw] or [
        column for column in schema.columns if column.name.lower() == token.raw.lower()
    ]
    return (found, 1) if len(found) == 1 else None


def takes_column(reader: Reader, schema: Schema, what: str = "column") -> Column:
    """The one column named next, now read; Refused if none or several are."""
    found, size = column_at(reader, schema)
    if not found:
        said = reader.rest(1) or "the end of the request"
        raise Refused(f"No {what} is called `{said}`.", f"The columns are: {listed(schema.columns)}.")
    reader.at += size
    return only(found, " ".join(token.raw for token in reader.tokens[reader.at - size : reader.at]))


def only(found: list[Column], said: str) -> Column:
    """The one column; Refused if there are several."""
    if len(found) > 1:
        raise Refused(f"`{said}` may be {listed(found, ' or ')}.", f"Name the column: {found[0].name}, for example.")
    return found[0]


def listed(columns: tuple[Column, ...] | list[Column], between: str = ", ") -> str:
    """Their names, so that a person can pick one."""
    names = [column.name for column in columns[:12]]
    return between.join(names) + (" …" if len(columns) > 12 else "")
