"""Syntax nodes as words: quotes taken off, variables and substitutions put in as far as the text tells."""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from tree_sitter import Node

from laneway.sandbox.shell.holes import EMPTY, SPLIT, ansi_c, fields, has_hole, hole, shield, unshield
from laneway.sandbox.shell.scope import Scope
from laneway.sandbox.shell.streams import Stream

Substitute = Callable[[Node, Scope, "Expander"], Stream]
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_IN_QUOTES = re.compile(r'\\([$`"\\\n])')
_PARAMETER = re.compile(r"([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[^\]]*\])?(.*)", re.DOTALL)
_OPERATOR = re.compile(r":?[-=+?]|##?|%%?|//?|/[#%]|\^\^?|,,?|@|:", re.DOTALL)


class Expander:
    """Turns nodes of one source into words; runs command substitutions by `substitute`."""

    def __init__(self, source: bytes, substitute: Substitute, spend: Callable[[int], None]) -> None:
        self.source = source
        self.spend = spend
        self.substitute = substitute
        self.visited: set[int] = set()
        """Where the substitutions begin that were run."""

    def raw(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def between(self, node: Node, body: Node | None) -> list[str]:
        """Words before a redirection that the grammar leaves out: the lone dash of `cat - <<EOF`."""
        following = [child for child in node.children if body is not None and child.start_byte >= body.end_byte]
        if body is None or not following:
            return []
        return (
            self.source[body.end_byte : following[0].start_byte].decode("utf-8", "replace").replace("\\\n", " ").split()
        )

    def words(self, node: Node, scope: Scope) -> list[str]:
        """The words a node becomes on the command line."""
        return fields(self.render(node, scope), scope.home)

    def value(self, node: Node | None, scope: Scope) -> str:
        """The text a node becomes where no splitting takes place: the right of an assignment, a here-string."""
        if node is None:
            return ""
        text = self.render(node, scope).replace(SPLIT, " ")
        if text.startswith("~"):
            return " ".join(fields(text, scope.home))
        return unshield(text)

    def render(self, node: Node, scope: Scope, quoted: bool = False) -> str:
        match node.type:
            case "word" | "extglob_pattern" | "regex" | "brace_expression":
                return _ESCAPED.sub(lambda found: "" if found[1] == "\n" else shield(found[1]), self.raw(node))
            case "raw_string":
                return shield(self.raw(node)[1:-1]) or EMPTY
            case "ansi_c_string":
                return shield(ansi_c(self.raw(node)[2:-1])) or EMPTY
            case "string":
                opened = self.raw(node).startswith("$") + 1
                text = self.span(node, node.start_byte + opened, node.end_byte - 1, scope, quoted=True)
                return text or EMPTY
            case "simple_expansion":
                values = self._parameter(self.raw(node)[1:], scope)
                return self._shown(values if quoted else _divided(values, scope), quoted)
            case "expansion":
                return self._expansion(node, scope, quoted)
            case "command_substitution":
                return self._substituted(node, scope, quoted)
            case "process_substitution":
                return self._process(node, scope)
            case "arithmetic_expansion":
                return "42"
            case "concatenation" | "command_name" | "translated_string" | "subscript":
                return self.span(node, node.start_byte, node.end_byte, scope, quoted)
        return shield(self.raw(node)) if quoted else self.raw(node)

    def span(self, node: Node, start: int, end: int, scope: Scope, quoted: bool = False) -> str:
        """A stretch of source with the nodes in it rendered; the rest is plain text."""
        parts, place = [], start
        for child in node.children:
            if child.start_byte < place or child.end_byte > end or not child.is_named or child.type in _PLAIN:
                continue
            parts.append(self._plain(place, child.start_byte, quoted))
            parts.append(self.render(child, scope, quoted))
            place = child.end_byte
        parts.append(self._plain(place, end, quoted))
        return "".join(parts)

    def _plain(self, start: int, end: int, quoted: bool) -> str:
        text = self.source[start:end].decode("utf-8", "replace")
        if quoted:
            return shield(_IN_QUOTES.sub(lambda found: "" if found[1] == "\n" else found[1], text))
        return _ESCAPED.sub(lambda found: "" if found[1] == "\n" else shield(found[1]), text)

    def _shown(self, values: list[str] | None, quoted: bool) -> str:
        if values is None:
            return EMPTY
        self.spend(sum(map(len, values)))
        if quoted:
            return SPLIT.join(shield(value) or EMPTY for value in values)
        return SPLIT.join(values)

    def _parameter(self, name: str, scope: Scope) -> list[str]:
        if name in ("@", "*"):
            return list(scope.positional) if scope.positional is not None else [hole("v_args")]
        if name.isdigit() and name != "0":
            given = scope.positional
            if given is None:
                return [hole(f"v_{name}")]
            return [given[int(name) - 1]] if int(name) <= len(given) else [""]
        if name == "0":
            return ["bash"]
        known = scope.value(name)
        return [hole(f"v_{name}")] if known is None else known

    def _expansion(self, node: Node, scope: Scope, quoted: bool) -> str:
        found = _PARAMETER.fullmatch(self.raw(node)[2:-1])
        if found is None:
            return hole("v_x")
        sign, name, index, rest = found.groups()
        values = self._parameter(name, scope)
        if index is not None and index[1:-1].isdigit():
            values = values[int(index[1:-1]) : int(index[1:-1]) + 1] or [""]
        elif index is None and name not in "@*":
            values = values[:1] or [""]
        if sign == "#":
            return "3"
        if sign == "!":
            values = self._parameter(values[0], scope) if not has_hole(values[0]) else [hole("v_x")]
        operator = _OPERATOR.match(rest)
        if operator is None:
            return self._shown(values if quoted else _divided(values, scope), quoted)
        start = node.end_byte - 1 - len(rest[operator.end() :].encode())
        argument = self.span(node, start, node.end_byte - 1, scope, quoted)
        return self._operate(operator[0], values, argument, name, scope, quoted)

    def _operate(self, sign: str, values: list[str], argument: str, name: str, scope: Scope, quoted: bool) -> str:
        first = values[0]
        unset = first == "" or first == hole(f"v_{name}")
        plain = unshield(argument)
        if sign.lstrip(":") in ("-", "=", "+") and sign != ":":
            if (sign[-1] == "+") or unset:
                if sign[-1] == "=":
                    scope.variables[name] = [plain]
                return argument or EMPTY
            return self._shown(values, quoted)
        if unset or has_hole(first) or sign[-1] in "?@":
            return self._shown(values, quoted)
        return self._shown([_changed(sign, value, plain) for value in values], quoted)

    def _substituted(self, node: Node, scope: Scope, quoted: bool) -> str:
        stream = self.substitute(node, scope, self)
        if stream.text is not None:
            return self._shown([stream.text.rstrip("\n")], quoted)
        if stream.paths:
            return self._shown(list(stream.paths), quoted)
        return stream.as_hole()

    def _process(self, node: Node, scope: Scope) -> str:
        stream = self.substitute(node, scope, self)
        path = f"/dev/fd/{60 + len(scope.written)}"
        scope.written[path] = stream
        return path


def _divided(values: list[str], scope: Scope) -> list[str]:
    """Values as they are divided into words where the text sets other dividing characters than blanks."""
    signs = (scope.variables.get("IFS") or [""])[0]
    if not signs.strip():
        return values
    return [re.sub(f"[{re.escape(signs)}]", " ", value) for value in values]


_PLAIN = {"string_content", "heredoc_content", "comment", "special_variable_name", "variable_name"}


def _changed(sign: str, value: str, argument: str) -> str:
    if sign == ":":
        return _slice(value, argument)
    if sign[0] == "^":
        return value.upper() if sign == "^^" else value[:1].upper() + value[1:]
    if sign[0] == ",":
        return value.lower() if sign == ",," else value[:1].lower() + value[1:]
    if sign[0] == "/":
        old, _, new = argument.partition("/")
        return value.replace(old, new, -1 if sign == "//" else 1) if old else value
    return _trimmed(sign, value, argument)


def _slice(value: str, argument: str) -> str:
    numbers = argument.split(":")
    try:
        start = int(numbers[0])
        length = int(numbers[1]) if len(numbers) > 1 else len(value)
    except ValueError:
        return hole("v_x")
    return value[start : start + length] if length >= 0 else value[start:length]


def _trimmed(sign: str, value: str, pattern: str) -> str:
    cuts = range(len(value) + 1)
    if sign[0] == "#":
        ends = [cut for cut in cuts if fnmatchcase(value[:cut], pattern)]
        return value[(ends[-1] if sign == "##" else ends[0]) :] if ends else value
    starts = [cut for cut in cuts if fnmatchcase(value[cut:], pattern)]
    return value[: (starts[0] if sign == "%%" else starts[-1])] if starts else value
