"""Variables that steer what runs: where programs are looked for, what they load, which pager or helper they start."""

from __future__ import annotations

import re
from functools import lru_cache

from laneway.sandbox.shell.holes import has_hole
from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.tables import table

_TABLE = table("steering")


def _names(key: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\s", "", _TABLE[key]))


_HARMLESS, _STEERING, _PAGERS = _names("harmless"), _names("steering"), _names("pagers")
_USUAL = re.compile(_TABLE["usual_pagers"])
_READS_INTO = {"read", "mapfile", "readarray"}
_NAMING = frozenset("export declare typeset readonly local let getopts unset printf wait test [".split())  # noqa: SIM905
_COMPUTED = re.compile("[$`\ue000]")
_ARITHMETIC = re.compile(
    r"\(\(|\blet\s|\s-(?:eq|ne|lt|le|gt|ge)\s|\$\{[#!]?\w+(?:\[|:\s*[\w$(])|\w\[[^\]]{0,200}(?:\]\+?=|[^\]]{200})|\s-[a-z]*i\s"
)
_FROM_OUTSIDE = re.compile(
    r"\$\((?!\()|`|\b(?:read|mapfile|readarray|xargs)\b|\bfor\s+\w+\s+in\b[^;\n]{0,300}(?:[*?\[]|[^;\n]{300})"
)
_IN_QUOTES = re.compile(r"\w\[[^\]\n]{0,200}(?:\$\((?!\()|`|[^\]\n]{200})")


def steers(run: Invocation) -> bool:
    """Whether variables of this command may make a program do something else than its arguments say."""
    if any(not _leaves(name, value, run.program) for name, value in run.environment.items()):
        return True
    return any(_assigned(name, value) for name, value in run.scope.variables.items())


def _leaves(name: str, value: str, program: str) -> bool:
    """Whether a variable given to one program leaves it what it is."""
    if _PAGERS.fullmatch(name):
        return _USUAL.fullmatch(value) is not None
    return _HARMLESS.fullmatch(name) is not None or (name == "IFS" and program in _READS_INTO)


def _assigned(name: str, value: list[str]) -> bool:
    return _is_steering(name) and not (_PAGERS.fullmatch(name) and _USUAL.fullmatch(" ".join(value)))


@lru_cache(maxsize=4096)
def _is_steering(name: str) -> bool:
    return _STEERING.fullmatch(name) is not None and _HARMLESS.fullmatch(name) is None


def names_plainly(run: Invocation) -> bool:
    """Whether a command that sets variables says which, exports none that counts, and runs no subscript."""
    if run.program not in _NAMING and run.program not in _READS_INTO:
        return True
    if any(_COMPUTED.search(word.partition("[")[2]) for word in run.args):
        return False
    words = [word for word in run.args if not word.startswith("-")]
    flags = "".join(word for word in run.args if re.fullmatch(r"[-+]\w+", word))
    if run.program in ("declare", "typeset", "local", "readonly", "export"):
        exports = run.program == "export" or "x" in flags
        names = [word.partition("=")[0] for word in words]
        if ("n" in flags and run.program != "export") or any(has_hole(name) for name in names):
            return False
        return not exports or all(_HARMLESS.fullmatch(name) or _PAGERS.fullmatch(name) for name in names)
    if run.program in ("let", "getopts", "unset", "wait"):
        named = re.findall(r"[A-Za-z_]\w*", " ".join(words))
        return not any(_STEERING.fullmatch(name) or has_hole(name) for name in named) and not any(map(has_hole, words))
    if run.program in _READS_INTO:
        return not any(has_hole(word) for word in words)
    return run.program != "printf" or run.args[:1] != ["-v"] or not has_hole("".join(run.args[1:2]))


def may_compute_code(source: str) -> bool:
    """Whether the shell's arithmetic may run text that comes from elsewhere: it evaluates subscripts it is handed."""
    if _IN_QUOTES.search(source):
        return True
    if not _ARITHMETIC.search(source):
        return False
    assigned = re.findall(r"\b([A-Za-z_]\w*)\s*[-+*/%&|^]?=(?!=)", source)
    return _FROM_OUTSIDE.search(source) is not None or any(_STEERING.fullmatch(name) for name in assigned)
