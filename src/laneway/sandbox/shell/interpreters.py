"""Interpreters: where their code comes from (an option, a file, a pipe), and in which language it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.streams import Stream
from laneway.sandbox.shell.tables import table


@dataclass(frozen=True, slots=True)
class Interpreter:
    language: str
    code: str = ""
    """Options whose value is code."""
    valued: str = ""
    awk: bool = False
    """Whether the first operand is code."""


INTERPRETERS = {
    name: Interpreter(**given) for names, given in table("interpreters").items() for name in names.split(", ")
}
_VERSIONED = re.compile(r"(python|pypy|perl|ruby|php|lua|bash|node|ksh|zsh|Rscript)-?\d+(\.\d+)*")


@dataclass(slots=True)
class Code:
    """What an interpreter is told to run."""

    language: str
    texts: list[str] = field(default_factory=list)
    file: str | None = None
    stdin: Stream | None = None
    arguments: list[str] = field(default_factory=list)
    module: str | None = None


def interpreter_of(program: str) -> Interpreter | None:
    found = INTERPRETERS.get(program)
    if found is None and (versioned := _VERSIONED.fullmatch(program)):
        found = INTERPRETERS.get(versioned[1])
    return found


def code_of(run: Invocation) -> Code | None:
    """The code an interpreter would run; None if the program is none."""
    kind = interpreter_of(run.program)
    if kind is None:
        return None
    args = [*run.args]
    if kind.language == "cmd":
        args = [word.replace("/", "-", 1) if word.lower() in ("/c", "/k") else word for word in args]
        kind = Interpreter("cmd", "-c -C -k")
    elif kind.language in ("powershell", "erlang", "lisp", "gdb"):
        args = [_long_option(word) for word in args]
        kind = Interpreter(kind.language, " ".join(_long_option(word) for word in kind.code.split()), kind.valued)
    elif kind.language == "shell":
        return _shell_code(run, kind)
    elif kind.language == "perl":
        args = [
            re.sub(r"^-[a-zA-Z0-9]*?(?=[eE]$)", "-", word) if re.fullmatch(r"-[a-zA-Z0-9]*[eE]", word) else word
            for word in args
        ]
    found = options(args, frozenset((kind.code + " " + kind.valued).split()), until_operand=True)
    code = Code(kind.language, found.of(*kind.code.split()))
    operands = found.operands
    if run.program == "deno" and operands[:1] in (["run"], ["eval"]):
        if operands[0] == "eval":
            code.texts += operands[1:2]
        operands = [word for word in operands[1:] if not word.startswith("-")]
    if kind.language in ("cmd", "powershell") and code.texts:
        code.texts = [" ".join([*code.texts, *operands])]
    if kind.language == "vim":
        code.texts += [word[1:] for word in operands if word.startswith("+")]
    if kind.awk and not code.texts and not found.has("-f", "--file"):
        code.texts, operands = operands[:1], operands[1:]
    if kind.language == "python" and found.has("-m"):
        code.module, code.arguments = found.of("-m")[0], operands
        return code
    if not code.texts and operands and operands[0] not in ("-", "/dev/stdin") and "-s" not in found.flags:
        code.file, operands = operands[0], operands[1:]
    code.arguments = operands
    if not code.texts and code.file is None and not kind.awk and run.stdin.given:
        code.stdin = run.stdin
    return code


def _shell_code(run: Invocation, kind: Interpreter) -> Code:
    """A shell's: `-c` makes the first operand the code, and the rest its arguments."""
    found = options(run.args, frozenset(kind.valued.split()), until_operand=True)
    words = [word for place, word in enumerate(found.operands) if not (place == 0 and word.startswith("+"))]
    code = Code("shell")
    if "-c" in found.flags:
        while words and words[0].startswith("-"):
            words = words[1:]
        code.texts, code.arguments = words[:1], words[2:]
        return code
    if words and words[0] not in ("-", "/dev/stdin") and "-s" not in found.flags:
        code.file, code.arguments = words[0], words[1:]
    else:
        code.arguments = words
        code.stdin = run.stdin if run.stdin.given else None
    return code


def _long_option(word: str) -> str:
    """Programs that spell long options with one dash, so that no cluster is seen in them."""
    return "-" + word if re.fullmatch(r"-[A-Za-z][\w-]+", word) else word
