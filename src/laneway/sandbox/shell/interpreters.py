"""Interpreters: where their code comes from (an option, a file, a pipe), and in which language it is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from laneway.sandbox.shell.invocation import Invocation
from laneway.sandbox.shell.options import options
from laneway.sandbox.shell.streams import Stream


@dataclass(frozen=True, slots=True)
class Interpreter:
    language: str
    code: str
    """Options whose value is code."""
    valued: str = ""
    awk: bool = False
    """Whether the first operand is code."""


_SHELL = Interpreter("shell", "-c", "-o -O --rcfile --init-file +o +O")
_PYTHON = Interpreter("python", "-c", "-m -W -X --check-hash-based-pycs")
_AWK = Interpreter("awk", "-e --source", "-F -v -f --field-separator --assign --file -i --include", awk=True)
_NODE = Interpreter("javascript", "-e --eval -p --print -pe", "-r --require --import --loader -C --env-file")
INTERPRETERS: dict[str, Interpreter] = {
    **dict.fromkeys("bash sh zsh dash ksh ash mksh fish rbash csh tcsh pwsh-sh".split(), _SHELL),
    **dict.fromkeys("python python2 python3 pypy pypy3 ipython ipython3".split(), _PYTHON),
    "perl": Interpreter("perl", "-e -E", "-I -M -m"), "ruby": Interpreter("ruby", "-e", "-I -r -C -E"), "irb": Interpreter("ruby", "-e"),
    "node": _NODE, "nodejs": _NODE, "bun": Interpreter("javascript", "-e --eval -p --print"), "tsx": _NODE, "ts-node": _NODE, "deno": Interpreter("javascript", "--eval"),
    "php": Interpreter("php", "-r -B -R -E", "-d -c -S -t -z"), "lua": Interpreter("lua", "-e", "-l"), "luajit": Interpreter("lua", "-e", "-l"),
    **dict.fromkeys("awk gawk mawk nawk".split(), _AWK), "tclsh": Interpreter("tcl", "-c"), "expect": Interpreter("tcl", "-c", "-f"), "osascript": Interpreter("applescript", "-e", "-l"),
    "Rscript": Interpreter("r", "-e"), "R": Interpreter("r", "-e", "-f"), "julia": Interpreter("julia", "-e -E --eval", "-t -p --project"), "groovy": Interpreter("groovy", "-e"), "scala": Interpreter("scala", "-e"), "ghc": Interpreter("haskell", "-e"), "elixir": Interpreter("elixir", "-e --eval"), "erl": Interpreter("erlang", "-eval"), "pwsh": Interpreter("powershell", "-c -Command -command -EncodedCommand -enc"), "powershell": Interpreter("powershell", "-c -Command -command -EncodedCommand -enc -e"), "powershell.exe": Interpreter("powershell", "-c -Command -command"), "cmd": Interpreter("cmd", "/c /C /k"), "cmd.exe": Interpreter("cmd", "/c /C"), "vim": Interpreter("vim", "-c --cmd +"), "vi": Interpreter("vim", "-c --cmd"), "nvim": Interpreter("vim", "-c --cmd -es"), "ex": Interpreter("vim", "-c"), "ed": Interpreter("vim", ""), "emacs": Interpreter("lisp", "--eval -eval", "-l"), "jshell": Interpreter("java", ""), "iex": Interpreter("powershell", "-c"), "Invoke-Expression": Interpreter("powershell", "-c"), "gdb": Interpreter("gdb", "-ex -eval-command"),
}  # fmt: skip
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
