"""Inline Python: what it does, by its syntax tree and, where only the whole shows it, by its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from laneway.sandbox.shell.holes import has_hole, without_holes
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scripts.effects import Effect, Read
from laneway.sandbox.shell.scripts.python_depth import TooDeep, tree_of
from laneway.sandbox.shell.scripts.python_reader import Reader
from laneway.sandbox.shell.tables import table

_RISKY = re.compile(
    r"\b(os|subprocess|shutil|socket|eval|exec|open|__import__|ctypes|pty|Path|requests|urllib|compile|importlib)\b"
)
_NETWORK = re.compile(
    r"\b(requests|httpx|urllib|aiohttp|http\.client|smtplib|ftplib|paramiko|socket|telnetlib|websockets?)\b"
)
_PURE = frozenset(table("scripts/python")["pure"].split())


def python_effects(text: str, home: str, depth: int = 0) -> Iterator[Effect]:
    """What this Python does; unreadable code that could do anything is a finding."""
    try:
        tree = tree_of(without_holes(text, "x") if has_hole(text) else text)
    except TooDeep:
        yield Finding("too-complex", "The Python code is nested too deeply to read.")
        return
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if _RISKY.search(text):
            yield Finding("inline-script", "The Python code cannot be read, and names what can change things.")
        return
    if text.strip() and not without_holes(text).strip():
        yield Finding("opaque-code", "It runs Python code that the text does not show.")
        return
    if depth > 4:
        yield Finding("too-complex", "The Python code is nested too deeply to read.")
        return
    reader = Reader(home, lambda inner: python_effects(inner, home, depth + 1))
    try:
        reader.visit(tree)
    except RecursionError:
        yield Finding("too-complex", "The Python code is nested too deeply to read.")
        return
    yield from reader.effects
    yield from _whole(tree, reader)
    yield from reader.arguments


class _Unquoted(ast.NodeTransformer):
    """Code with its strings empty: what they say is data."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str | bytes) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")


def _whole(tree: ast.Module, reader: Reader) -> Iterator[Effect]:
    """What only the whole shows: shells joined to sockets, files read and sent, forks without end."""
    said = ast.unparse(_Unquoted().visit(tree))
    connects = "socket" in said and re.search(r"\bconnect(_ex)?\b", said)
    if connects and re.search(r"dup2|pty\.spawn|subprocess|os\.system|popen|Popen", said):
        yield Finding("reverse-shell", "The Python code joins a shell to another host.")
    if re.search(r"\bfork\s*\(", said) and re.search(r"\bwhile\b|\bfor\b", said):
        yield Finding("exhaust", "The Python code makes processes without end.")
    grows = re.search(r"while (True|1)\b", said) and re.search(r"append|\+=|\* 10 ?\*\*", said)
    if grows and not re.search(r"\bbreak\b|sleep|input\(|readline|return", said):
        yield Finding("exhaust", "The Python code takes memory without end.")
    if _NETWORK.search(said) and reader.sends:
        if re.search(r"\benviron\b", said) and not re.search(r"environ(\.get\(|\[)", said):
            yield Finding("send-secret", "The Python code sends the environment to another host.")
        elif any(isinstance(effect, Read) for effect in reader.effects):
            yield Finding("send-file", "The Python code sends local files to another host.")


def python_only_reads(text: str) -> bool:
    """Whether Python code imports nothing but what computes; its effects are judged apart."""
    modules = re.findall(r"(?:^|[;\n])\s*(?:import|from)\s+([\w., ]+)", text)
    named = {
        part.strip().partition(".")[0].partition(" ")[0]
        for group in modules
        for part in group.split(",")
        if part.strip()
    }
    return named - {"import"} <= _PURE and not re.search(
        r"__import__|importlib|\beval\b|\bexec\b|os\.(mk|make|ch|put|kill)|environ\[.*=", text
    )
