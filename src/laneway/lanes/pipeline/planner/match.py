"""Patterns over the tokens of a request, and the slots that columns, values, numbers and days are read into.

A pattern is words and slots: `end~top|first <number> &<rows>`. `a|b` are alternatives (`_` for a blank within one),
`$links` is a list of phrases of words.py, `?` makes a part optional, `[…]` a group of parts, `&` only looks ahead, and
`name~` or `<name=slot>` names what is found. Articles are passed over. Every way to match is tried, the longest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any, Final

from laneway.lanes.pipeline.planner import words as say
from laneway.lanes.pipeline.planner.schema import UNITS, Column, Schema
from laneway.language.numbers import Number, read_number
from laneway.language.periods import read_period
from laneway.language.refusal import NotUnderstood
from laneway.language.tokens import Token, singular

LONGEST_NAME, LONGEST_VALUE, MOST_STEPS = 6, 10, 40_000
Found = dict[str, Any]
Phrases = tuple[tuple[str, ...], ...]
Reading = Iterator[tuple[Any, int]]
_NO_EDGES: Final = say.ARTICLES | {"of", "for", "in", "and"}
_END: Final = Token("", "", "", 0, 0)
Slot = Callable[["Request", int, Found, int], Reading]


@dataclass(frozen=True)
class Part:
    phrases: Phrases = ()
    slot: str = ""
    name: str = ""
    limit: int = 4
    group: tuple[Part, ...] = ()
    optional: bool = False
    ahead: bool = False


@lru_cache(maxsize=2048)
def read_phrases(text: str) -> Phrases:
    return tuple(sorted((tuple(one.split()) for one in text.split("|")), key=len, reverse=True))


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> tuple[Part, ...]:
    stack: list[list[Part]] = [[]]
    for word in re.findall(r"\[|\]|[^\s\[\]]+", text):
        piece, optional = word.removesuffix("?") or word, len(word) > 1 and word.endswith("?")
        if piece == "[":
            stack.append([])
        elif piece == "]":
            stack[-2].append(Part(group=tuple(stack.pop()), optional=True))
        elif piece.lstrip("&")[0] == "<" and piece[-1] == ">":
            name, _, kind = piece.strip("&<>").rpartition("=")
            slot, _, limit = kind.partition(":")
            part = Part(slot=slot, name=name or slot, limit=int(limit or 4), optional=optional, ahead=piece[0] == "&")
            stack[-1].append(part)
        elif piece[0] == "$":
            key = piece[1:].replace("_", " ")
            stack[-1].append(Part(read_phrases(say.PHRASES[key]), name=key, optional=optional))
        else:
            name, _, words = piece.rpartition("~")
            stack[-1].append(Part(read_phrases(words.replace("_", " ")), name=name, optional=optional))
    return tuple(stack[0])


@dataclass
class Request:
    """The tokens of one request over one table; what the rows are called and what the last condition was about."""

    text: str
    tokens: Sequence[Token]
    schema: Schema
    tables: Sequence[str]
    today: date | None
    furthest: int = 0
    subject: Column | None = None
    noun: str = ""
    doubt: tuple[int, NotUnderstood] | None = None
    _steps: int = 0
    _names: dict[tuple[int, int], tuple[Column, int] | None] = field(default_factory=dict)

    def match(self, pattern: str, at: int, column: Column | None = None) -> Iterator[tuple[int, Found]]:
        return self._parts(compile_pattern(pattern), 0, at, {} if column is None else {"column": column})

    def _parts(self, parts: tuple[Part, ...], number: int, at: int, found: Found) -> Iterator[tuple[int, Found]]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise NotUnderstood("The request is too tangled to be read.", "Ask for one thing at a time.")
        if number == len(parts):
            yield at, found
            return
        for end, more in self._part(parts[number], at, found):
            self.furthest = max(self.furthest, self.skip(end))
            yield from self._parts(parts, number + 1, end, more)
        if parts[number].optional:
            yield from self._parts(parts, number + 1, at, found)

    def _part(self, part: Part, at: int, found: Found) -> Iterator[tuple[int, Found]]:
        if part.group:
            yield from self._parts(part.group, 0, at, found)
        elif part.slot:
            for value, end in SLOTS[part.slot](self, at, found, part.limit):
                yield (at if part.ahead else end), {**found, part.name: value}
        else:
            phrase, end = self.phrase(part.phrases, at)
            if end:
                yield end, {**found, part.name: phrase} if part.name else found

    def one(self, pattern: str, at: int, column: Column | None = None) -> tuple[int, Found]:
        return next(self.match(pattern, at, column), (at, {}))

    def read_list(self, slot: str, at: int, joiners: str, limit: int = 4, of: Column | None = None) -> tuple[Any, int]:
        found: list[Any] = []
        end, known = at, {"column": of} if of else {}
        while (one := next(SLOTS[slot](self, at, known, limit), None)) is not None:
            found.append(one[0])
            end = one[1]
            at = self.one(joiners, end)[0]
            if at == end:
                break
        return found, end

    def skip(self, at: int) -> int:
        while at < len(self.tokens) - 1 and self.tokens[at].word in say.ARTICLES and self.tokens[at].kind != "quoted":
            at += 1
        return at

    def token(self, at: int) -> Token:
        at = self.skip(at)
        return self.tokens[at] if at < len(self.tokens) else _END

    def phrase(self, phrases: Phrases, at: int) -> tuple[str, int]:
        """The longest of the phrases that stands here, and where it ends; 0 if none does."""
        for phrase in phrases:
            end = at
            for word in phrase:
                if (here := self.token(end)).word != word or here.kind == "quoted":
                    break
                end = self.skip(end) + 1
            else:
                return " ".join(phrase), end
        return "", 0

    def is_other_table(self, word: str) -> bool:
        return any(singular(word) == singular(name.lower()) for name in self.tables if name != self.schema.name)

    def names_rows(self, at: int) -> bool:
        """Whether the word here names the rows by a column such as `parcel_id`, and is no column in a list of them."""
        at = self.skip(at)
        word, after, before = self.token(at).word, self.token(at + 1).word, self.tokens[at - 1].word if at else ""
        if self.is_other_table(word) or {after, before} & {",", "and"} or not self.schema.is_entity(word):
            return False
        far, found = self.schema.find_column([word, after]) if after and after not in say.GRAMMAR else (1, [])
        return bool(far or not found)

    def counts_rows(self, column: Column) -> bool:
        """Whether the column only numbers the rows under their noun: "flights over 150" is not about it."""
        return column.is_running or (column.is_unique and column.kind == "number" and column.words == self.schema.noun)

    def name_lost_word(self, at: int) -> NotUnderstood:
        at = max(self.furthest, self.skip(at))
        if self.doubt is not None and self.doubt[0] >= at:
            return self.doubt[1]
        columns = ", ".join(one.name for one in self.schema.columns if not one.table)[:300] or "none: there is no table"
        word = self.tokens[min(at, len(self.tokens) - 1)].text
        return NotUnderstood(f"I do not understand `{word}`.", f"The columns are: {columns}.")

    def _only(self, columns: list[Column], question: str, at: int = 0) -> Column | None:
        if len(columns) > 1:
            names = ", ".join(f"`{one.name}`" for one in columns[:5])
            self.doubt = at or self.furthest, NotUnderstood(f"{question}: {names}?", "Say the name of the column.")
        return columns[0] if len(columns) == 1 else None

    def choose_date(self, by_year: bool = True) -> Column | None:
        kinds = ("date", "day", "number") if by_year else ("date", "day")
        own = [one for one in self.schema.columns if not one.table and one.kind in kinds]
        return self._only([one for one in own if one.kind != "number" or "year" in one.words], "Which date is meant")

    def choose_amount(self) -> Column | None:
        if say.PERSONS & {singular(word) for word in (*self.schema.noun, *(one.word for one in self.tokens))}:
            return None  # It may be an age.
        numbers = [one for one in self.schema.columns if one.kind == "number" and not one.table and not one.is_label]
        money = [one for one in numbers if say.MONEY & set(one.words)]
        plain = len(money) == 1 and bool(say.AMOUNTS & set(money[0].words))
        return self._only(money if plain else numbers, "What is the number about")

    def choose_measure(self, names: str) -> Column | None:
        words = set(names.split())
        own = [one for one in self.schema.columns if one.kind == "number" and not one.table]
        found = [one for one in own if words & set(one.words) and (words != {"size"} or one.own == ("size",))]
        return self._only(found, "Which column is measured") if words else self.choose_date()

    def read_column(self, at: int, _: Found, far: int) -> Reading:
        key = self.skip(at), far
        if key not in self._names:
            self._names[key] = self._find_column(*key)
        yield from [found] if (found := self._names[key]) else []

    def _find_column(self, start: int, far: int) -> tuple[Column, int] | None:
        for end in range(min(len(self.tokens), start + LONGEST_NAME), start, -1):
            first, last = self.tokens[start].word, self.tokens[end - 1].word
            tokens = [one for one in self.tokens[start:end] if one.word not in say.ARTICLES or end - start == 1]
            strange = {one.kind for one in tokens} - {"word", "number"}
            if strange or ({first, last} & _NO_EDGES and end < len(self.tokens)):
                continue
            level, found = self.schema.find_column(words := [one.word for one in tokens])
            if not found or level > far or (level and self._is_taken(words, start)):
                continue
            rows = self.schema.is_noun([last]) and not any(singular(last) in one.words for one in found)
            rows = rows or (self.schema.is_noun([first]) and first != singular(first))
            if len(words) > 1 and (rows or (last in say.ORIGINS and len(found[0].words) < len(words))):
                continue  # "flights to Bee": the noun and a preposition, no column.
            after = self.token(end).word
            if level and after in say.GRAMMAR and any(after in one.words for one in found):
                raise NotUnderstood(f"`{after}` may be a part of `{found[0].name}`.", "Say the whole name.")
            chosen = self._only(found, f"What is `{' '.join(words)}`", end)
            return (chosen, end) if chosen else None
        return None

    def _is_taken(self, words: Sequence[str], start: int) -> bool:
        """Whether words that are only a part of a column's name mean something else."""
        noun = [one.word for one in self.tokens[start : start + len(self.schema.noun)]]
        if (len(words) < len(noun) or len(words) == 1) and self.schema.is_noun(noun):
            return True
        ends = {words[0], words[-1]} - (set() if len(words) == 1 else {"number", "total", "first", "last", "up"})
        return bool(ends & say.GRAMMAR) or any(self.is_other_table(word) for word in words)

    def read_rows(self, at: int, _: Found, __: int) -> Reading:
        start = self.skip(at)
        named = next(self.read_column(start, {}, 0), (None, 0))[1]
        for end in range(min(len(self.tokens), start + 4), start, -1):
            words = [one.word for one in self.tokens[start:end] if one.kind == "word"]
            if len(words) == end - start and self.schema.is_noun(words) and named <= end:
                places = self.schema.find_values(" ".join(words))
                if places and not self.noun:
                    other = f"those whose {places[0][0].name} is that"
                    raise NotUnderstood(f"`{words[-1]}` may be all rows, or {other}.", "Name the column.")
                yield words[-1], end
                return
        word = self.token(start).word if self.token(start).kind == "word" else ""
        far, found = self.schema.find_column([word])
        if word and (not found or far > 2 or self.names_rows(start)):
            generic, end = self.phrase(read_phrases(say.PHRASES["rows"]), start)
            if generic == "one" and (start == at == 0 or self.tokens[start - 1].word not in ("the", "which", "what")):
                return  # A number.
            if end or self._may_be_noun(word, start):
                yield generic or word, end or start + 1

    def _may_be_noun(self, word: str, at: int) -> bool:
        """Rows of a table without a telling name may be called by the plural of a word in its columns' names."""
        if self.names_rows(at):
            return True
        before = [one.word for one in self.tokens[max(0, at - 2) : at]]
        known = any(singular(word) in one.words for one in self.schema.columns) or (
            bool(before) and (self.tokens[at - 1].kind == "number" or before[-1][-3:] == "est" or "most" in before)
        )
        if self.schema.noun or singular(word) == word or not known or {word, singular(word)} & say.GRAMMAR:
            return False
        asked = at > 0 and self.tokens[at - 1].word in ("which", "what", "whose")
        return self.noun in ("", word) and not self.schema.find_values(word) and not asked

    def read_values(self, at: int, found: Found, _: int) -> Reading:
        """The longest value that stands here: the columns that hold it (of the one before it, if any), and how."""
        column: Column | None = found.get("column")
        for start in dict.fromkeys((at, self.skip(at))):
            for end in range(min(len(self.tokens), start + LONGEST_VALUE), start, -1):
                first, last = self.tokens[start], self.tokens[end - 1]
                if first.kind == "sign" or (first is not last and {first.kind, last.word} & {"quoted", ",", "or"}):
                    continue
                said = first.text if first is last else self.text[first.start : last.end]
                places = [one for one in self.schema.find_values(said) if column in (None, one[0])]
                if first is last and first.kind == "word" and first.word in say.GRAMMAR:
                    places = [one for one in places if one[1] == said]
                shouted = first.text.isupper() and len(first.text) > 1 and not self.text.isupper()
                if places and (column or first.kind == "quoted" or shouted or _may_be_value(self.tokens[start:end])):
                    exact = [one for one in places if one[1].strip().casefold() == said.casefold()]
                    if exact or len({one for _, one in places}) == len({one for one, _ in places}):
                        yield [one for one in exact if one[1] == said] or exact or places, end
                    return

    def read_number(self, at: int, _: Found, __: int) -> Reading:
        found = read_number(self.tokens, self.skip(at))
        if found is not None:
            yield found, self.skip(at) + found.used

    def read_period(self, at: int, _: Found, __: int) -> Reading:
        found = read_period(self.tokens, self.skip(at), self.today)
        if found is not None:
            yield found, self.skip(at) + found.used

    def read_amount(self, at: int, found: Found, _: int) -> Reading:
        for number, end in self.read_number(at, found, 0):
            unit = singular(self.token(end).word)
            units = UNITS & set(found["column"].words)
            led = self.tokens[self.skip(at) - 1].word in ("in", "since", "before", "after", "during", "until")
            if led and number.value in range(1900, 2100) and "year" not in found["column"].words:
                raise NotUnderstood(f"`{number.value}` may be a year.", f"Say `{found['column'].name} = …`.")
            fits = any(unit == one or (len(one) > 1 and unit.startswith(one)) for one in units)
            yield check_unit(found["column"], number), self.skip(end) + 1 if fits else end

    def read_text(self, at: int, _: Found, __: int) -> Reading:
        token = self.token(at)
        if token.kind == "quoted" or (token.kind and token.word not in say.GRAMMAR):
            yield token.text, self.skip(at) + 1

    def read_adjective(self, at: int, _: Found, superlative: int) -> Reading:
        """`cheaper`, `more expensive` (1: `cheapest`, `most recent`): which columns it measures, and which end."""
        word, after = self.token(at).word, self.token(self.skip(at) + 1).word
        up = {"most", "highest", "best"} if superlative == 1 else {"more"}
        down = {"least", "lowest", "worst"} if superlative == 1 else {"less"}
        if word in up | down and after in say.ADJECTIVES:
            names, end = say.ADJECTIVES[after]
            yield (names, end if word in up else {"asc": "desc", "desc": "asc"}[end]), self.skip(at) + 2
        stem = word.removesuffix("est" if superlative == 1 else "er")
        bases = [base for base in (stem, f"{stem}e", stem[:-1], f"{stem[:-1]}y") if base in say.ADJECTIVES]
        if stem != word and bases:
            yield say.ADJECTIVES[bases[0]], self.skip(at) + 1


def read_table(table: dict[str, str]) -> Slot:

    def read(request: Request, at: int, _: Found, __: int) -> Reading:
        ends = ((request.phrase(read_phrases(phrases), at)[1], sign) for sign, phrases in table.items())
        yield from ((sign, end) for end, sign in sorted(ends, reverse=True) if end)

    return read


def _may_be_value(tokens: Sequence[Token]) -> bool:
    words = [one.word for one in tokens if one.kind != "sign"]
    single = len(words) > 1 or (len(words) == 1 and len(words[0]) > 1 and tokens[0].kind == "word")
    return single and any(word not in say.GRAMMAR for word in words)


def check_unit(column: Column, number: Number) -> int | float:
    words = set(column.words)
    signs = {sign for word, sign in (("usd", "$"), ("eur", "€"), ("euro", "€"), ("gbp", "£")) if word in words}
    money = number.unit in ("$", "€", "£") and bool(say.MONEY & words) and signs <= {number.unit}
    percent = number.unit == "%" and bool({"percent", "pct", "percentage"} & words)
    if number.unit and not money and not percent:
        raise NotUnderstood(f"`{column.name}` is not counted so.", "Say the number as the column has it.")
    return number.value


_READ: Final = ("column", "rows", "values", "number", "period", "amount", "text", "adjective")
SLOTS: dict[str, Slot] = {name: getattr(Request, f"read_{name}") for name in _READ}
_FIGURES: Final = {do: "|".join(w for w, one in say.FIGURES.items() if one == do) for do in say.FIGURES.values()}
SLOTS.update(operator=read_table(say.OPERATORS), textual=read_table(say.TEXTUAL), direction=read_table(say.DIRECTIONS))
SLOTS.update(figure=read_table(_FIGURES), best=read_table({word: word for word in say.BEST}))
SLOTS.update(distinct=read_table({"distinct": say.DISTINCT}), suffix=read_table(say.SUFFIXES))
SLOTS |= {"measure": read_table(say.MEASURES), "time": read_table(say.TIMES), "not": read_table({"not": say.NOT})}
