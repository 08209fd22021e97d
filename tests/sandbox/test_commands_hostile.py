"""Hostile input: bounded in time, never allowed for being large, and never a crash."""

from __future__ import annotations

import ast
import random
import time

import pytest

from laneway.domain.action import Decision
from laneway.sandbox.commands import judge

UNITS = (
    "(", "$(", "{ ", "[[ ", "a|", "`", '"$(', "<<A\n", "a&&", "${", "a=(", "case a in ", "f(){ ", "sudo ", "eval ",
    "a=$a$a;", "{1..9}", "{a,b}", "find . -exec ", "$x", "xargs ", "python3 -c 'x' ;", "for i in {1..200}; do ",
    "bash -c '",
)  # fmt: skip
SECONDS = 15.0
"""Of processor time for one command on a slow machine; a quadratic parse of 64,000 characters takes minutes."""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("length", [5_000, 63_000])
def test_no_command_takes_long_to_judge(unit: str, length: int) -> None:
    began = time.process_time()
    judge((unit * length)[:length])
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("unit", UNITS)
def test_a_megabyte_is_asked_about_unread(unit: str) -> None:
    verdict = judge((unit * 1_000_000)[:1_000_000])
    assert (verdict.decision, verdict.rule) == (Decision.ASK, "too-long")


@pytest.mark.parametrize("command", [
    "sudo " * 60 + "rm -rf /", "bash -c '" * 1 + "x" * 70_000 + "'", "$(" * 60 + "rm -rf src" + ")" * 60,
    "{" + ",".join(f"a{n}x" for n in range(600)) + ",src}", "a=aaaaaaaa;" + "a=$a$a$a$a;" * 30,
])  # fmt: skip
def test_what_is_nested_or_grown_too_far_is_not_allowed(command: str) -> None:
    assert judge(command).decision is not Decision.ALLOW


def test_a_danger_behind_many_harmless_words_is_still_seen() -> None:
    many = " ".join(f"build/x{n}.o" for n in range(3000))
    assert judge(f"rm -f {many} src").decision is Decision.ASK
    assert judge("ls;" * 900 + "rm -rf src").decision is Decision.ASK
    assert judge("echo " + " ".join(f"f{n}" for n in range(200)) + " src | xargs rm").decision is Decision.ASK


def test_random_text_never_crashes_the_guard() -> None:
    chance = random.Random(4)
    signs = "rm -rf/ $(){}[]|&;<>'\"`\\\n~*?!#=abc\t%^,.:@"
    for _ in range(1500):
        text = "".join(chance.choice(signs) for _ in range(chance.randint(1, 160)))
        assert judge(text).why != "The command could not be judged.", text


def test_random_cuts_of_real_commands_never_crash_the_guard() -> None:
    from tests.sandbox.corpus import cases

    chance = random.Random(5)
    for case in cases("commands.jsonl"):
        cut = chance.randint(0, len(case.command))
        assert judge(case.command[:cut]).why != "The command could not be judged.", case.command[:cut]
        assert judge(case.command[cut:]).why != "The command could not be judged.", case.command[cut:]


@pytest.mark.parametrize(
    "code",
    ["1" + "+1" * 20_000, "(" * 3000 + ")" * 3000, "x" + ".a" * 30_000, "f" + "()" * 20_000, "lambda:" * 9000 + "1",
     "-" * 50_000 + "1", "if a:\n pass\n" + "elif b:\n pass\n" * 5000, "(\n" * 2000 + ")\n" * 2000],
)  # fmt: skip
def test_python_code_that_nests_without_end_is_asked_about_and_spoils_no_later_reading(code: str) -> None:
    assert judge(f"python3 - <<'EOF'\n{code}\nEOF").decision is Decision.ASK
    # CPython 3.11 cannot build trees any more once one was too deep.
    assert ast.parse("def f(x):\n    return [i + 1 for i in x if i]")
