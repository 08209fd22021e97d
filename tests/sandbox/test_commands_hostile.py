"""Hostile input: bounded in time, never allowed for being large, and never a crash."""

from __future__ import annotations

import ast
import random

from laneway.domain.action import Decision
from laneway.sandbox.commands import judge
from tests.sandbox.corpus import TUNED, labelled

UNITS = (
    "(", "$(", "{ ", "[[ ", "a|", "`", '"$(', "<<A\n", "a&&", "${", "a=(", "case a in ", "f(){ ", "sudo ", "eval ",
    "a=$a$a;", "{1..9}", "{a,b}", "find . -exec ", "$x", "xargs ", "python3 -c 'x' ;", "for i in {1..200}; do ",
    "bash -c '",
)  # fmt: skip


CRASHED = "The command could not be judged."


def test_what_repeats_without_end_is_judged_and_a_megabyte_is_asked_about_unread() -> None:
    # Of processor time all of them take seconds; a quadratic parse of one would take minutes.
    assert [unit for unit in UNITS if judge((unit * 20_000)[:20_000]).why == CRASHED] == []
    for unit in UNITS:
        verdict = judge((unit * 1_000_000)[:1_000_000])
        assert (verdict.decision, verdict.rule) == (Decision.ASK, "too-long")
    for command in ("sed '" + " " * 60_000 + "w x'", "last " + "a " * 900 + "!", "sysctl " + "a" * 60_000 + "!"):
        assert judge(command).changes


def test_what_is_nested_or_grown_too_far_is_not_allowed_and_a_danger_behind_many_words_is_seen() -> None:
    many = " ".join(f"build/x{n}.o" for n in range(3000))
    commands = (
        "sudo " * 60 + "rm -rf /", "bash -c '" * 1 + "x" * 70_000 + "'", "$(" * 60 + "rm -rf src" + ")" * 60,
        "{" + ",".join(f"a{n}x" for n in range(600)) + ",src}", "a=aaaaaaaa;" + "a=$a$a$a$a;" * 30,
        f"rm -f {many} src", "ls;" * 900 + "rm -rf src",
        "echo " + " ".join(f"f{n}" for n in range(200)) + " src | xargs rm",
    )  # fmt: skip
    assert [one[:60] for one in commands if judge(one).decision is Decision.ALLOW] == []


def test_random_text_and_random_cuts_of_real_commands_never_crash_the_guard() -> None:
    chance = random.Random(4)
    signs = "rm -rf/ $(){}[]|&;<>'\"`\\\n~*?!#=abc\t%^,.:@"
    texts = ["".join(chance.choice(signs) for _ in range(chance.randint(1, 160))) for _ in range(800)]
    for case in labelled(TUNED, "danger") + labelled(TUNED, "safe"):
        cut = chance.randint(0, len(case.command))
        texts.append(chance.choice([case.command[:cut], case.command[cut:]]))
    assert [text for text in texts if judge(text).why == CRASHED] == []


def test_python_code_that_nests_without_end_is_asked_about_and_spoils_no_later_reading() -> None:
    for code in (
        "1" + "+1" * 20_000, "(" * 3000 + ")" * 3000, "x" + ".a" * 30_000, "f" + "()" * 20_000, "lambda:" * 9000 + "1",
        "-" * 50_000 + "1", "if a:\n pass\n" + "elif b:\n pass\n" * 5000, "(\n" * 2000 + ")\n" * 2000,
    ):  # fmt: skip
        assert judge(f"python3 - <<'EOF'\n{code}\nEOF").decision is Decision.ASK, code[:20]
        # CPython 3.11 cannot build trees any more once one was too deep.
        assert ast.parse("def f(x):\n    return [i + 1 for i in x if i]")
