"""A reader of Python's syntax tree: collects what each call runs, removes, writes, reads and sends."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable

from laneway.sandbox.shell.holes import has_hole
from laneway.sandbox.shell.place_names import SECRET_VARIABLE
from laneway.sandbox.shell.programs.hosts import METADATA, is_foreign
from laneway.sandbox.shell.programs.sql import sql_findings
from laneway.sandbox.shell.rules import Finding
from laneway.sandbox.shell.scripts.constants import UNKNOWN, Constants, Value
from laneway.sandbox.shell.scripts.effects import Argument, Effect, Read, Remove, Run, Shell, Write
from laneway.sandbox.shell.tables import table

_SHELL, _RUN, _EXEC, _REMOVE, _PATH_REMOVE, _WRITE_SECOND, _PATH_WRITE, _MODULES, _STORE_LOSS, _SEND, _KEEP, _NAMING = (
    frozenset(table("scripts/python")[name].split())
    for name in (
        "shell", "run", "exec", "remove", "path_remove", "write_second", "path_write", "modules", "store_loss", "send",
        "keep", "naming",
    )
)  # fmt: skip
_FETCH = re.compile(r"\b(urlopen|requests\.get|httpx\.get|urllib\.urlopen|urlretrieve|recv)\b")


class Reader(ast.NodeVisitor):
    """Collects the effects of one module, in order."""

    def __init__(self, home: str, again: Callable[[str], Iterable[Effect]]) -> None:
        self.effects: list[Effect] = []
        self.names: dict[str, Value] = {}
        self.imported: dict[str, str] = {}
        self.home = home
        self.again = again
        """Reads code inside code."""
        self.sends = False
        self.arguments: list[Argument] = []
        """What functions are given that nobody here knows."""

    @property
    def constants(self) -> Constants:
        return Constants(self.names, self.home, self.imported)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.imported[alias.asname or alias.name.partition(".")[0]] = (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = self.constants.of(node.value)
                called = self._dotted(node.value)
                if called:
                    self.imported[target.id] = called

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self.names[node.target.id] = self.constants.of(node.value)

    def visit_For(self, node: ast.For) -> None:
        self._bind(node.target, node.iter)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> None:
        for part in node.generators:
            self._bind(part.target, part.iter)
        self.generic_visit(node)

    def _bind(self, target: ast.expr, source: ast.expr) -> None:
        value = self.constants.of(source)
        if isinstance(target, ast.Tuple):
            # A walk through folders gives the folder first.
            target = target.elts[0] if target.elts else target
        if isinstance(target, ast.Name):
            texts = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
            self.names[target.id] = texts[0] if len(texts) == 1 or (texts and len(set(texts)) == 1) else None
            if len(texts) > 1:
                self.names[target.id] = (
                    "{" + ",".join(texts) + "}" if all("/" not in item for item in texts) else texts[0]
                )

    def _dotted(self, node: ast.AST) -> str:
        """The full name of what is called: `os.system`, whatever it was imported as."""
        match node:
            case ast.Name(id=name):
                return self.imported.get(name, "")
            case ast.Attribute(value=value, attr=attr):
                base = self._dotted(value)
                return f"{base}.{attr}" if base else ""
            case ast.Call(func=ast.Name(id="__import__"), args=[first, *_]):
                return str(self.constants.of(first) or "?")
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[first, *_]):
                return str(self.constants.of(first) or "?")
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, name, *_]):
                return f"{self._dotted(owner)}.{self.constants.of(name) or '?'}"
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=name):
                return str(self.constants.of(name) or "?")
        return ""

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        full = self._dotted(node.func)
        plain = (isinstance(node.func, ast.Name) and node.func.id) or ""
        name = (full or plain or (node.func.attr if isinstance(node.func, ast.Attribute) else "")).rpartition(".")[2]
        module = full.rpartition(".")[0]
        if name == "?" or module == "?":
            self.effects.append(
                Finding("opaque-code", "The Python code calls something by a name put together at run time.")
            )
        self._shells(node, name, module)
        self._files(node, name, module, plain)
        self._others(node, name, plain, full)
        if name not in _KEEP | _NAMING | _RUN | _SHELL | _EXEC | _REMOVE | _PATH_REMOVE:
            owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            values = [self.constants.of(part) for part in (*owner, *node.args)]
            texts = [item for value in values for item in (value if isinstance(value, list) else [value])]
            self.arguments += [Argument(item) for item in texts if isinstance(item, str)]

    def _shells(self, node: ast.Call, name: str, module: str) -> None:
        if not (module in _MODULES or (name in _SHELL and not module) or module.startswith(("subprocess", "os"))):
            return
        first = self.constants.of(node.args[0]) if node.args else self.constants.of(_keyword(node, "args"))
        if name in _SHELL:
            self.effects.append(Shell(self.constants.text(node.args[0]) if node.args else UNKNOWN))
        elif name in _RUN and module != "asyncio":
            self._ran(first)
        elif name in _EXEC or name == "create_subprocess_exec":
            words: list[Value] = []
            for arg in node.args[1:] if name in _EXEC else node.args:
                value = self.constants.of(arg)
                words += value if isinstance(value, list) else [value]
            self._ran(words or [first])

    def _ran(self, value: Value) -> None:
        if isinstance(value, list):
            self.effects.append(Run(tuple(item if isinstance(item, str) else UNKNOWN for item in value)))
        else:
            self.effects.append(Shell(value if isinstance(value, str) else UNKNOWN))

    def _files(self, node: ast.Call, name: str, module: str, plain: str) -> None:
        known = module in _MODULES or module.startswith(("os", "shutil", "pathlib"))
        method = isinstance(node.func, ast.Attribute) and not known
        base = self.constants.text(node.func.value) if isinstance(node.func, ast.Attribute) and method else UNKNOWN
        first = self.constants.text(node.args[0]) if node.args else UNKNOWN
        if known and name in _REMOVE and node.args:
            self.effects.append(Remove(first))
        elif method and name in _PATH_REMOVE and (name != "remove" or not node.args) and len(node.args) <= 1:
            if name in ("unlink", "rmdir") or base != UNKNOWN:
                self.effects.append(Remove(base))
        elif known and name in _WRITE_SECOND and len(node.args) > 1:
            if name in ("move", "rename", "replace"):
                self.effects.append(Run(("mv", first, self.constants.text(node.args[1]))))
            else:
                self.effects += [Read(first), Write(self.constants.text(node.args[1]))]
        elif known and name in ("symlink", "link") and len(node.args) > 1:
            second = self.constants.text(node.args[1])
            self.effects.append(Run(("ln", *(["-s"] if name == "symlink" else []), "--", first, second)))
        elif method and name in ("symlink_to", "hardlink_to"):
            self.effects.append(Run(("ln", *(["-s"] if name == "symlink_to" else []), "--", first, base)))
        elif known and name == "chdir":
            self.effects.append(Run(("cd", first)))
        elif method and name in _PATH_WRITE:
            content = self.constants.of(node.args[0]) if node.args else None
            self.effects.append(Write(base, empties=content == ""))
        elif name == "close" and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
            self._emptied(node.func.value)
        elif method and name in ("read_text", "read_bytes"):
            self.effects.append(Read(base))
        elif plain == "open" or (name == "open" and (known or base != UNKNOWN)):
            self._opened(
                node,
                base if method and plain != "open" and not known else first,
                method and not known and plain != "open",
            )

    def _emptied(self, opened: ast.Call) -> None:
        """A file opened for writing and closed at once is empty."""
        mode = self.constants.of(opened.args[1]) if len(opened.args) > 1 else None
        if isinstance(opened.func, ast.Name) and opened.func.id == "open" and isinstance(mode, str) and "w" in mode:
            self.effects.append(Write(self.constants.text(opened.args[0]), empties=True))

    def _opened(self, node: ast.Call, path: str, method: bool) -> None:
        place = 0 if method else 1
        mode = (
            self.constants.of(node.args[place])
            if len(node.args) > place
            else self.constants.of(_keyword(node, "mode")) or "r"
        )
        if isinstance(mode, str) and re.search(r"[wax+]", mode):
            if path != UNKNOWN:
                self.effects.append(Write(path))
        else:
            self.effects.append(Read(path))

    def _others(self, node: ast.Call, name: str, plain: str, full: str) -> None:
        first = self.constants.of(node.args[0]) if node.args else None
        if plain in ("eval", "exec", "compile") or full in ("builtins.eval", "builtins.exec"):
            self._evaluated(node, first)
        elif full.startswith(("pickle.load", "marshal.load", "dill.load", "ctypes.")) or name == "CDLL":
            self.effects.append(Finding("opaque-code", "The Python code runs or loads what the text does not show."))
        elif full in ("os.kill", "os.killpg") and first in (-1, 0, 1):
            self.effects.append(Finding("kill", "The Python code ends every process."))
        elif full in ("os.setuid", "os.setgid", "os.chroot"):
            self.effects.append(Finding("root-command", "The Python code changes whose rights it has."))
        elif name in ("execute", "executemany", "executescript", "text") and isinstance(first, str):
            self.effects += list(sql_findings(first))
        elif name in _STORE_LOSS or (
            name in ("delete_many", "remove")
            and node.args
            and isinstance(node.args[0], ast.Dict)
            and not node.args[0].keys
        ):
            self.effects.append(Finding("store-loss", f"The Python code calls {name}, which loses data for good."))
        elif name.startswith(("delete_", "terminate_")) and "boto3" in self.imported.values():
            self.effects.append(Finding("cloud-loss", f"The Python code calls {name} in a cloud account."))
        elif name in _SEND:
            self._sent(node, name, first)
        elif (
            plain == "print" and re.search(r"environ", ast.unparse(node)) and SECRET_VARIABLE.search(ast.unparse(node))
        ):
            self.effects.append(Finding("own-secret", "The Python code shows a variable that carries a secret."))

    def _evaluated(self, node: ast.Call, first: Value) -> None:
        source = ast.unparse(node)
        if isinstance(first, str) and not has_hole(first):
            self.effects += list(self.again(first))
        elif _FETCH.search(source):
            self.effects.append(Finding("network-code", "The Python code runs code from the network."))
        elif isinstance(node.args[0] if node.args else None, ast.Constant) or (
            re.search(r"open\(|read_text", source) and not re.search(r"decode|decompress|loads", source)
        ):
            return
        else:
            self.effects.append(Finding("opaque-code", "The Python code runs code that the text does not show."))

    def _sent(self, node: ast.Call, name: str, first: Value) -> None:
        address = first if isinstance(first, str) else None
        if name == "request" and len(node.args) > 1:
            second = self.constants.of(node.args[1])
            address = second if isinstance(second, str) else None
        if address and METADATA.search(address):
            self.effects.append(Finding("metadata", "The Python code asks for the credentials of this machine."))
        if name == "delete" and address and address.startswith("http"):
            self.effects.append(Finding("store-loss", f"The Python code deletes at {address}."))
        carries = len(node.args) > 1 or bool(node.keywords) or name in ("send", "sendall", "sendmail", "storbinary")
        if carries and name != "get" and not (address and not is_foreign(address)):
            self.sends = True
        if (
            name in ("get", "urlopen", "Request")
            and address
            and is_foreign(address)
            and (has_hole(address) or UNKNOWN in address)
        ):
            self.sends = True


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)
