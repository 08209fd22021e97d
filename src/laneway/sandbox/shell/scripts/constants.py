"""Python expressions whose value the text tells: strings put together, decoded, joined; paths; lists of them."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import posixpath
from collections.abc import Mapping

from laneway.sandbox.shell.holes import hole
from laneway.sandbox.shell.tables import table

Value = str | int | list["Value"] | None
UNKNOWN = hole("v_x")
_KEEP = frozenset(table("scripts/python")["keep"].split())


class Constants:
    """Evaluates what is constant; `names` holds the variables assigned so far, `imported` what names stand for."""

    def __init__(self, names: Mapping[str, Value], home: str, imported: Mapping[str, str]) -> None:
        self.names = names
        self.imported = imported
        self.home = home

    def of(self, node: ast.AST | None, depth: int = 0) -> Value:
        if node is None or depth > 30:
            return None
        match node:
            case ast.Constant(value=str() | int() as value):
                return value
            case ast.Constant(value=bytes() as value):
                return value.decode("latin-1")
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.JoinedStr(values=parts):
                return "".join(self.text(part, depth) for part in parts)
            case ast.FormattedValue(value=value):
                return self.text(value, depth)
            case ast.BinOp(left=left, right=right, op=op):
                return self._binary(left, op, right, depth)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self.of(item, depth + 1) for item in items]
            case ast.Subscript():
                return self._subscript(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.Attribute():
                return self._attribute(node, depth)
            case ast.GeneratorExp(elt=element) | ast.ListComp(elt=element):
                return self._comprehension(node, element, depth)
        return None

    def text(self, node: ast.AST | None, depth: int = 0) -> str:
        """The value as text, a hole where it is not known."""
        value = self.of(node, depth + 1)
        if isinstance(value, list):
            return UNKNOWN
        return UNKNOWN if value is None else str(value)

    def _binary(self, left: ast.AST, op: ast.operator, right: ast.AST, depth: int) -> Value:
        first, second = self.of(left, depth + 1), self.of(right, depth + 1)
        if isinstance(op, ast.Div) and (isinstance(first, str) or isinstance(second, str)):
            return posixpath.join(self.text(left, depth), self.text(right, depth))
        if isinstance(op, ast.Add):
            if isinstance(first, list) or isinstance(second, list):
                return [
                    *(first if isinstance(first, list) else [None]),
                    *(second if isinstance(second, list) else [None]),
                ]
            if isinstance(first, int) and isinstance(second, int):
                return first + second
            return f"{UNKNOWN if first is None else first}{UNKNOWN if second is None else second}"
        if isinstance(op, ast.Mult) and isinstance(first, str) and isinstance(second, int):
            return first * max(0, min(second, 100))
        if isinstance(op, ast.Mod) and isinstance(first, str):
            given = second if isinstance(second, list) else [second]
            for value in given:
                first = first.replace("%s", str(value) if isinstance(value, str | int) else UNKNOWN, 1)
            return first
        return None

    def _subscript(self, node: ast.Subscript, depth: int) -> Value:
        value = self.of(node.value, depth + 1)
        match node.slice:
            case ast.Slice(lower=None, upper=None, step=ast.UnaryOp(operand=ast.Constant(value=1))):
                return value[::-1] if isinstance(value, str | list) else None
            case ast.Constant(value=int() as place) if isinstance(value, str | list) and place < len(value):
                return value[place]
            case ast.Constant(value="HOME"):
                return self.home
        return None

    def _attribute(self, node: ast.Attribute, depth: int) -> Value:
        value = self.of(node.value, depth + 1)
        if isinstance(value, str) and node.attr == "parent":
            return posixpath.dirname(value) or "."
        if isinstance(value, str) and node.attr in ("name", "stem"):
            return posixpath.basename(value)
        return None

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, element: ast.expr, depth: int) -> Value:
        source = self.of(node.generators[0].iter, depth + 1)
        target = node.generators[0].target
        if not isinstance(source, str | list) or not isinstance(target, ast.Name):
            return None
        made = []
        for item in list(source)[:500]:
            made.append(Constants({**self.names, target.id: item}, self.home, self.imported).of(element, depth + 1))
        return made

    def _call(self, node: ast.Call, depth: int) -> Value:
        plain = ast.unparse(node.func) if not isinstance(node.func, ast.Name) else node.func.id
        name = self.imported.get(plain, plain).rpartition(".")[2]
        args = [self.of(arg, depth + 1) for arg in node.args]
        first = args[0] if args else None
        if name in _KEEP and not (name == "decode" and len(args) > 1):
            return self._kept(name, node, args, depth)
        if name == "home":
            return self.home
        if name in ("getcwd", "cwd"):
            return "."
        if name in ("gettempdir", "mkdtemp", "mkstemp"):
            return "/tmp/python-x"  # noqa: S108
        if name == "chr" and isinstance(first, int):
            return chr(first) if 0 <= first < 0xD800 else None
        if name in ("glob", "rglob", "iglob", "listdir", "iterdir", "scandir", "walk"):
            return self._listed(name, node, first, depth)
        if name == "getenv" or (name == "get" and "environ" in ast.unparse(node.func)):
            return self.home if first == "HOME" else hole(f"v_{first}")
        return self._text_call(name, node, args, depth)

    def _kept(self, name: str, node: ast.Call, args: list[Value], depth: int) -> Value:
        """Calls that give back what they are given, as a path or as text."""
        inner = node.func.value if isinstance(node.func, ast.Attribute) and not args else None
        if name == "Path" and len(args) > 1:
            return posixpath.join(*[self.text(arg, depth) for arg in node.args])
        value = (
            self.of(inner, depth + 1) if inner is not None else (args[0] if args else "." if name == "Path" else None)
        )
        if isinstance(value, str) and value.startswith("~"):
            return self.home + value[1:]
        if name == "bytes" and isinstance(value, list) and all(isinstance(item, int) for item in value):
            return "".join(chr(item) for item in value if isinstance(item, int) and 0 <= item < 256)
        return value

    def _listed(self, name: str, node: ast.Call, first: Value, depth: int) -> Value:
        folder = self.text(node.func.value, depth) if isinstance(node.func, ast.Attribute) else ""
        pattern = first if isinstance(first, str) else "*"
        if folder in (UNKNOWN, "") or not isinstance(node.func, ast.Attribute):
            known = isinstance(first, str) or not node.args
            folder = "." if known else UNKNOWN
        if name in ("listdir", "scandir", "walk"):
            return [posixpath.join(first if isinstance(first, str) else folder, "*")]
        return [posixpath.join(folder, "**" if name == "rglob" else "", pattern)]

    def _text_call(self, name: str, node: ast.Call, args: list[Value], depth: int) -> Value:
        base = self.of(node.func.value, depth + 1) if isinstance(node.func, ast.Attribute) else None
        first = args[0] if args else None
        if name == "join":
            if isinstance(base, str) and isinstance(first, list):
                return base.join(item if isinstance(item, str) else UNKNOWN for item in first)
            return posixpath.join(*[self.text(arg, depth) for arg in node.args]) if node.args else None
        if name == "joinpath":
            return posixpath.join(
                self.text(node.func.value if isinstance(node.func, ast.Attribute) else None, depth),
                *[self.text(arg, depth) for arg in node.args],
            )
        if name == "format" and isinstance(base, str):
            for value in args:
                base = base.replace("{}", str(value) if isinstance(value, str | int) else UNKNOWN, 1)
            return base
        if name == "replace" and isinstance(base, str) and len(args) > 1:
            return base.replace(str(first), str(args[1]))
        if name == "split" and isinstance(base, str):
            return list(base.split(first) if isinstance(first, str) and first else base.split())
        if name in ("lower", "upper") and isinstance(base, str):
            return base.lower() if name == "lower" else base.upper()
        return _decoded(name, first, args)


def _decoded(name: str, first: Value, args: list[Value]) -> Value:
    """What a decoder makes of a constant."""
    if not isinstance(first, str):
        return None
    try:
        match name:
            case "b64decode" | "decodebytes" | "urlsafe_b64decode" | "standard_b64decode":
                return base64.b64decode(first + "==", altchars=b"-_" if "urlsafe" in name else None).decode("latin-1")
            case "b32decode":
                return base64.b32decode(first).decode("latin-1")
            case "fromhex" | "unhexlify" | "a2b_hex":
                return binascii.unhexlify(first.replace(" ", "")).decode("latin-1")
            case "decode" if len(args) > 1 and args[1] in ("rot13", "rot_13", "hex", "base64"):
                if args[1] in ("rot13", "rot_13"):
                    return codecs.encode(first, "rot13")
                plain = binascii.unhexlify(first) if args[1] == "hex" else base64.b64decode(first)
                return plain.decode("latin-1")
    except (ValueError, binascii.Error, LookupError):
        return None
    return None
