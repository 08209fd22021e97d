"""The expressions of `compute`: a small grammar of our own, bounded, that can reach nothing but the row.

    price * quantity            if(stars >= 4, "good", "bad")          upper(left(name, 1))
    `unit price` / 100          "good" if stars >= 4 else "bad"        coalesce(nickname, name)
    city in ("Rome", "Oslo")    round(price / 3, 2)                    year(ordered_at) == 2026 and not is_null(paid)

Reading it gives a tree; `evaluating.py` turns the tree into a function of a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from laneway.lanes.pipeline.fields import nearest
from laneway.lanes.pipeline.values import finite

LONGEST, DEEPEST, MOST_PARTS = 2000, 40, 300


class ExpressionFault(ValueError):
    """The expression cannot be read: what is wrong, where, and how to mend it."""

    def __init__(self, what: str, repair: str) -> None:
        super().__init__(what)
        self.what, self.repair = what, repair


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as it is written."""

    value: Any


@dataclass(frozen=True, slots=True)
class Column:
    """A cell of the row."""

    name: str


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `not x`."""

    op: str
    part: Expression


@dataclass(frozen=True, slots=True)
class Binary:
    """Two parts and a sign between them."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Choice:
    """One of two, by a condition."""

    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, slots=True)
class Among:
    """Whether a part is one of several."""

    part: Expression
    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the list, and what it is given."""

    name: str
    parts: tuple[Expression, ...]


Expression = Literal | Column | Unary | Binary | Choice | Among | Call

_TOKENS: Final = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|"""
    r"""`(?P<quoted>[^`]+)`|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|//|<=|>=|==|!=|<>|[-+*/%<>=(),]))""",
    re.DOTALL,
)
_CONSTANTS: Final = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_SIGNS: Final = {"=": "==", "<>": "!="}
_LEVELS: Final[tuple[tuple[str, ...], ...]] = (
    ("or",), ("and",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "//", "%"),
)  # fmt: skip
_COMPARING = 2
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def parsed(text: str, functions: dict[str, tuple[int, int]]) -> Expression:
    """The tree of an expression; `functions` says how many parts each function takes."""
    if len(text) > LONGEST:
        raise ExpressionFault(f"the expression has {len(text)} letters.", f"At most {LONGEST}; compute in two steps.")
    return _Reading(list(_tokens(text)), functions).whole()


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKENS.match(text, at)
        if match is None or match.lastgroup is None:
            found = text[at:].lstrip()[:10]
            raise ExpressionFault(
                f"the expression cannot be read at {found!r}.", "Texts stand in quotes, odd names in `…`."
            )
        yield _Token(match.lastgroup, match.group(match.lastgroup), at)
        at = match.end()
    yield _Token("end", "the end", at)


class _Reading:
    def __init__(self, tokens: list[_Token], functions: dict[str, tuple[int, int]]) -> None:
        self._tokens, self._functions = tokens, functions
        self._next = self._depth = self._parts = 0

    def whole(self) -> Expression:
        tree = self._choice()
        if self._here.kind != "end":
            raise self._lost("an operator")
        return tree

    @property
    def _here(self) -> _Token:
        return self._tokens[self._next]

    def _is(self, *texts: str) -> bool:
        return self._here.kind in ("sign", "name") and self._here.text in texts

    def _passed(self, *texts: str) -> bool:
        found = self._is(*texts)
        self._next += found
        return found

    def _lost(self, wanted: str) -> ExpressionFault:
        return ExpressionFault(
            f"the expression has {self._here.text[:40]!r} at letter {self._here.at + 1} instead of {wanted}.",
            "Write, for example, price * 2 or round(price / 3, 2).",
        )

    def _expect(self, text: str) -> None:
        if not self._passed(text):
            raise self._lost(repr(text))

    def _counted(self, part: Expression) -> Expression:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise ExpressionFault(f"the expression has more than {MOST_PARTS} parts.", "Compute in two steps.")
        return part

    def _choice(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionFault(f"the expression is more than {DEEPEST} deep.", "Compute in two steps.")
        yes = self._level(0)
        if self._passed("if"):
            condition = self._level(0)
            self._expect("else")
            yes = self._counted(Choice(condition, yes, self._choice()))
        self._depth -= 1
        return yes

    def _level(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self._signed()
        if level == _COMPARING and self._is("not"):
            return self._negated()
        left = self._level(level + 1)
        while self._is(*_LEVELS[level], *(("=", "<>", "not") if level == _COMPARING else ())):
            left = self._counted(self._pair(left, level))
            if level == _COMPARING and self._is(*_LEVELS[level]):
                raise ExpressionFault("two comparisons stand side by side.", "Join them: a < b and b < c.")
        return left

    def _pair(self, left: Expression, level: int) -> Expression:
        sign = self._here.text
        self._next += 1
        if sign == "not":
            self._expect("in")
            return Unary("not", Among(left, self._items()))
        if sign == "in":
            return Among(left, self._items())
        return Binary(_SIGNS.get(sign, sign), left, self._level(level + 1))

    def _negated(self) -> Expression:
        self._expect("not")
        return self._counted(Unary("not", self._deeper(_COMPARING)))

    def _deeper(self, level: int) -> Expression:
        # Signs may be piled up without brackets; they count as depth all the same.
        self._depth += 1
        if self._depth > DEEPEST:
            raise ExpressionFault(f"the expression is more than {DEEPEST} deep.", "Compute in two steps.")
        part = self._level(level)
        self._depth -= 1
        return part

    def _signed(self) -> Expression:
        if self._passed("-"):
            return self._counted(Unary("-", self._deeper(len(_LEVELS))))
        part = self._atom()
        if self._passed("**"):
            return self._counted(Binary("**", part, self._deeper(len(_LEVELS))))
        return part

    def _items(self) -> tuple[Expression, ...]:
        self._expect("(")
        items = [self._choice()]
        while self._passed(","):
            items.append(self._choice())
        self._expect(")")
        return tuple(items)

    def _atom(self) -> Expression:
        token = self._here
        if self._passed("("):
            inner = self._choice()
            self._expect(")")
            return inner
        if token.kind in ("sign", "end") or self._is("and", "or", "in", "else"):
            raise self._lost("a value")
        self._next += 1
        if token.kind == "quoted":
            return self._counted(Column(token.text))
        if token.kind == "name":
            return self._counted(self._named(token))
        return self._counted(Literal(_number(token.text) if token.kind == "number" else _text(token.text)))

    def _named(self, token: _Token) -> Expression:
        if not self._is("("):
            return Literal(_CONSTANTS[token.text]) if token.text in _CONSTANTS else Column(token.text)
        name = token.text.lower()
        if name not in self._functions:
            raise ExpressionFault(f"there is no function {token.text[:60]}.", nearest(name, self._functions))
        self._expect("(")
        parts = () if self._is(")") else self._list()
        self._expect(")")
        least, most = self._functions[name]
        if not least <= len(parts) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionFault(
                f"{name} takes {wanted} values and was given {len(parts)}.", "Separate them by commas."
            )
        return Choice(*parts) if name == "if" else Call(name, parts)

    def _list(self) -> tuple[Expression, ...]:
        parts = [self._choice()]
        while self._passed(","):
            parts.append(self._choice())
        return tuple(parts)


def _number(text: str) -> int | float:
    if text.isdigit() and len(text) <= 100:
        return int(text)
    number = float(text)
    if not finite(number):
        raise ExpressionFault(f"{text[:20]} is too large a number.", "Numbers reach to about 1.8e308.")
    return number


def _text(quoted: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), quoted[1:-1], flags=re.DOTALL)


def columns(tree: Expression) -> set[str]:
    """Every column the expression looks at."""
    match tree:
        case Column(name):
            return {name}
        case Unary(_, part):
            return columns(part)
        case Binary(_, left, right):
            return columns(left) | columns(right)
        case Choice(condition, yes, no):
            return columns(condition) | columns(yes) | columns(no)
        case Among(part, items):
            return columns(part).union(*map(columns, items))
        case Call(_, parts):
            return set().union(*map(columns, parts))
    return set()
