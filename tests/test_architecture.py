"""The house rules that a machine can check; import-linter checks the layers."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "laneway"
LONGEST_FILE, LONGEST_FUNCTION = 600, 60

EMPTY_NAMES = {
    "utils", "util", "helpers", "helper", "common", "misc", "core", "base", "manager", "service", "handler",
    "handlers", "processor", "data",
}  # fmt: skip
"""Names that do not say what is inside."""

BORDERS = {
    "the border of a job": "engine/border.py",
    "the border of delivery": "channels/delivery.py",
    "the border of the reactor chain": "reactors/",
    "the border of HTTP": "web/",
}
"""Where any exception may be caught: what the line says, and the place it may say it in."""

SQL = re.compile(
    r"\s*(SELECT\s|INSERT INTO\s|UPDATE\s+\w+\s+SET\s|DELETE FROM\s|WITH\s+\w+\s+AS\s*\(|CREATE\s+(TABLE|VIEW|INDEX)\s|"
    r"ALTER\s+TABLE\s|DROP\s+TABLE\s|LISTEN\s|NOTIFY\s|TRUNCATE\s|SET\s+(LOCAL|TRANSACTION)\s)"
)


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    source = path.read_text(encoding="utf-8")
    try:
        return ast.parse(source, str(path))
    except SystemError:
        # CPython before 3.11.5 miscounts its depth when something else is parsed at the same moment (gh-106905).
        return ast.parse(source, str(path))


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else ROOT))


EVERYTHING = ("src", "tests", "bench", "docs")


def test_no_file_holds_two_ideas() -> None:
    lengths = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in sources(*EVERYTHING)}
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_no_function_outgrows_a_screen() -> None:
    lengths = {
        f"{name(path)}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for path in sources(*EVERYTHING)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    longest = sorted(lengths.items(), key=lambda item: -item[1])
    print("Longest functions:", *(f"{lines:4} {where}" for where, lines in longest[:10]), sep="\n")
    assert {where: lines for where, lines in longest if lines > LONGEST_FUNCTION} == {}


def test_module_names_say_what_is_inside() -> None:
    empty = [name(path) for path in sources(*EVERYTHING) if {path.stem, path.parent.name} & EMPTY_NAMES]
    assert empty == []


def broad_catches() -> Iterator[tuple[str, str]]:
    """Each place that catches any exception, with the line that does."""
    for path in sources("src"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ExceptHandler) and _catches_all(node):
                yield name(path), lines[node.lineno - 1]


def _catches_all(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if any(isinstance(kind, ast.Name) and kind.id == "Exception" for kind in caught):
        return True
    # Cleaning up and passing on is not catching.
    passes_on = any(isinstance(node, ast.Raise) and node.exc is None for node in handler.body)
    return not passes_on and any(isinstance(kind, ast.Name) and kind.id == "BaseException" for kind in caught)


def test_any_exception_is_caught_at_the_four_borders_only() -> None:
    catches = list(broad_catches())
    strangers = [
        f"{file}: {line.strip()}"
        for file, line in catches
        if not any(said in line and file.startswith(place) for said, place in BORDERS.items())
    ]
    assert strangers == []
    for said in BORDERS:
        assert sum(said in line for _, line in catches) <= 1, f"{said} stands in two places"


def strings(module: ast.Module) -> Iterator[ast.Constant]:
    """Every string of a module that is not a docstring."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    docstrings = {id(node.body[0].value) for node in ast.walk(module)
                  if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node


def test_only_the_store_speaks_sql() -> None:
    spoken = [
        f"{name(path)}:{node.lineno}"
        for path in sources("src")
        if not path.is_relative_to(PACKAGE / "store")
        for node in strings(tree(path))
        if isinstance(node.value, str) and SQL.match(node.value)
    ]
    assert spoken == []


def imported(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Each import as (module, name); the name is empty for `import x`."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def test_only_the_engine_calls_dbos() -> None:
    # Its error classes may be named where they are caught; lanes make model calls durable with DBOSDurability.
    callers = [
        f"{name(path)}: {module} {what}"
        for path in sources("src")
        if not path.is_relative_to(PACKAGE / "engine")
        for module, what in imported(tree(path))
        if module.partition(".")[0] == "dbos" and not what.endswith("Error")
    ]
    assert callers == []


def test_the_domain_needs_the_standard_library_only() -> None:
    foreign = [
        f"{name(path)}: {module}"
        for path in sources("src/laneway/domain")
        for module, _ in imported(tree(path))
        if module.partition(".")[0] not in {*sys.stdlib_module_names, "laneway"}
    ]
    assert foreign == []


def test_tests_use_real_parts() -> None:
    mocked = [
        f"{name(path)}: {module}"
        for path in sources("tests", "bench")
        for module, what in imported(tree(path))
        if module in {"unittest.mock", "mock", "pytest_mock"} or (module, what) == ("unittest", "mock")
    ]
    patched = [
        f"{name(path)}:{node.lineno}"
        for path in sources("tests", "bench")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "setattr"
        and isinstance(node.value, ast.Name) and node.value.id == "monkeypatch"
    ]  # fmt: skip
    assert mocked + patched == []


def test_no_test_waits_by_the_clock() -> None:
    # What sleeps longer than this works until somebody stops it.
    slept = [
        f"{name(path)}:{node.lineno}"
        for path in sources("tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "sleep" and node.args
        and isinstance(node.args[0], ast.Constant) and 0.2 <= float(str(node.args[0].value)) < 20
    ]  # fmt: skip
    assert slept == []


@pytest.mark.parametrize("word", ["TODO", "FIXME", "NotImplementedError"])
def test_nothing_is_left_open_in_the_code(word: str) -> None:
    open_ends = [name(path) for path in sources("src") if re.search(rf"\b{word}\b", path.read_text(encoding="utf-8"))]
    assert open_ends == []
