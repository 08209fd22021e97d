"""Inline Python that provably only computes and prints: known calls, known names, nothing reached by detours."""

from __future__ import annotations

import ast

from laneway.sandbox.shell.holes import has_hole
from laneway.sandbox.shell.scripts.python_depth import tree_of
from laneway.sandbox.shell.tables import table

_TABLE = table("scripts/python")["proven"]
_CALLS = frozenset(_TABLE["calls"].split())
_MODULES = {name: frozenset(words.split()) for name, words in _TABLE["modules"].items()}
_DETOURS = frozenset(_TABLE["detours"].split())
_METHODS = frozenset(_TABLE["methods"].split())


def python_proven(text: str, *, alone: bool) -> bool:
    """Whether this Python changes nothing; `alone` says that it imports nothing from the folder it runs in."""
    if has_hole(text):
        return False
    try:
        nodes = list(ast.walk(tree_of(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    # Without isolation `import json` takes ./json.py first.
    return (not imported or alone) and imported <= set(_MODULES) and all(_is_plain(node, imported) for node in nodes)


def _is_plain(node: ast.AST, imported: set[str]) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.asname is None for alias in names)
        case ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.ClassDef() | ast.With() | ast.AsyncWith():
            return False
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in _MODULES:
            return name in imported and attribute in _MODULES[name] and isinstance(node.ctx, ast.Load)
        case ast.Attribute(attr=attribute):
            return attribute in _METHODS and isinstance(node.ctx, ast.Load)
        case ast.Call(func=ast.Name(id=name)):
            return name in _CALLS
        case ast.Call(func=ast.Attribute()):
            return True
        case ast.Call():
            return False
        case ast.Name(id=name, ctx=ast.Store()):
            return name not in _CALLS and name not in _MODULES and not name.startswith("_")
        case ast.Name(id=name):
            return not name.startswith("_") and name not in _DETOURS
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.NamedExpr():
            return False
    return True
