"""Wrapping never makes a dangerous command allowed; being data never makes it dangerous."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable, Iterator

from laneway.domain.action import Decision
from laneway.sandbox.commands import judge
from tests.sandbox.corpus import TUNED, Case, labelled

WORKSPACE = "/home/dev/shop"

WRAPPED: dict[str, Callable[[str], str]] = {
    "sudo": lambda c: f"sudo bash -c {shlex.quote(c)}",
    "env": lambda c: f"env A=1 bash -c {shlex.quote(c)}",
    "sh -c twice": lambda c: "sh -c " + shlex.quote(f"sh -c {shlex.quote(c)}"),
    "timeout nohup": lambda c: f"timeout 9 nohup bash -c {shlex.quote(c)} &",
    "xargs": lambda c: f"echo x | xargs -I% bash -c {shlex.quote(c)}",
    "subshell": lambda c: f"(\n{c}\n)",
    "after a reading": lambda c: f"ls &&\n{c}",
    "in an if": lambda c: f"if true; then\n{c}\nfi",
    "in a loop": lambda c: f"for _ in 1; do\n{c}\ndone",
    "a function": lambda c: f"go() {{\n{c}\n}}\ngo",
    "eval": lambda c: f"eval {shlex.quote(c)}",
    "a variable": lambda c: f"c={shlex.quote(c)}; eval \"$c\"",
    "a pipe to sh": lambda c: f"printf %s {shlex.quote(c)} | sh",
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | bash",
    "a here-string": lambda c: f"bash <<< {shlex.quote(c)}",
    "a file": lambda c: f"echo {shlex.quote(c)} > /tmp/run.sh; sh /tmp/run.sh",
    "python": lambda c: f"python3 -c {shlex.quote('import os; os.system(' + repr(c) + ')')}",
    "python subprocess": lambda c: f"python3 - <<'PY'\nimport subprocess as s\ns.run({c!r}, shell=True)\nPY",
    "perl": lambda c: f"perl -e {shlex.quote('system(' + json.dumps(c, ensure_ascii=False) + ')')}",
    "node": lambda c: f"node -e {shlex.quote('require(`child_process`).execSync(' + json.dumps(c) + ')')}",
    "ssh": lambda c: f"ssh web1 {shlex.quote(c)}",
    "docker exec": lambda c: f"docker exec web sh -c {shlex.quote(c)}",
    "find -exec": lambda c: f"find . -maxdepth 0 -exec bash -c {shlex.quote(c)} \\;",
    "watch": lambda c: f"watch {shlex.quote(c)}",
    "git alias": lambda c: f"git -c alias.x={shlex.quote('!' + c)} x",
    "trap": lambda c: f"trap {shlex.quote(c)} EXIT",
    "substitution": lambda c: f"echo \"$(\n{c}\n)\"",
}  # fmt: skip

QUOTED: dict[str, Callable[[str], str]] = {
    "a commit message": lambda c: f"git commit -m {shlex.quote(c)}",
    "echo": lambda c: f"echo {shlex.quote(c)}",
    "a note": lambda c: f"printf '%s\\n' {shlex.quote(c)} >> notes.txt",
    "a grep pattern": lambda c: f"grep -rnF {shlex.quote(c)} docs",
    "rg": lambda c: f"rg -e {shlex.quote(c)}",
    "a here-document to a file": lambda c: f"cat > docs/x.md <<'END_OF_TEXT'\n{c}\nEND_OF_TEXT",
    "a here-document to cat": lambda c: f"cat <<'END_OF_TEXT'\n{c}\nEND_OF_TEXT",
    "a commit message by here-document": lambda c: f"git commit -F - <<'END_OF_TEXT'\n{c}\nEND_OF_TEXT",
    "a comment": lambda c: "ls\n" + "\n".join(f"# {line}" for line in c.splitlines()),
    "a pull request": lambda c: f"gh pr create --title fix --body {shlex.quote(c)}",
    "python text": lambda c: f"python3 -c {shlex.quote('print(' + repr(c) + ')')}",
    "json": lambda c: f"jq -n --arg c {shlex.quote(c)} '{{c: $c}}'",
    "a variable never run": lambda c: f"x={shlex.quote(c)}; echo \"$x\" | wc -c",
    "awk": lambda c: f"awk -v c={shlex.quote(c)} '$0 == c' log.txt",
    "a function never called": lambda c: f"unused() {{\n{c}\n}}\nls",
}  # fmt: skip

DANGEROUS = [
    case
    for case in labelled(TUNED, "danger")
    # What ends a line or a here-document does not stay itself inside quotes.
    if not any(sign in case.command for sign in ("\\", "<<", "<>")) and not case.command.rstrip().endswith("&")
]
CHANGED_BY = {"find -exec": "{}", "xargs": "%", "a file": "$@"}
"""What a dress itself changes: find and xargs put something there, a script of its own has no arguments."""


def dressed(dresses: dict[str, Callable[[str], str]]) -> Iterator[tuple[str, Case]]:
    """Every dangerous command with every fourth dress, each time from another one on."""
    for number, case in enumerate(DANGEROUS):
        for how in list(dresses)[number % 4 :: 4]:
            yield how, case


def test_wrapping_a_dangerous_command_never_makes_it_allowed() -> None:
    # The workspace is no danger's excuse on another host; here it is the same as in the corpus.
    allowed = [
        f"{how}: {case.command}"
        for how, case in dressed(WRAPPED)
        if CHANGED_BY.get(how, "\n\n") not in case.command
        and judge(WRAPPED[how](case.command), case.cwd).decision is Decision.ALLOW
    ]
    assert not allowed, "\n".join(allowed)


def test_quoting_a_dangerous_command_as_data_never_makes_it_dangerous() -> None:
    alarms = [
        f"{how}: {case.command}"
        for how, case in dressed(QUOTED)
        if judge(QUOTED[how](case.command), WORKSPACE).decision is not Decision.ALLOW
    ]
    assert not alarms, "\n".join(alarms)


def test_a_wrapped_removal_is_found() -> None:
    wrappers = (
        "sudo", "doas", "env", "timeout 5", "nohup", "nice -n 5", "stdbuf -oL", "setsid", "command", "exec", "time",
        "busybox", "ionice -c3", "xargs", "strace -f", "unbuffer", "caffeinate", "poetry run", "uv run --",
        "bundle exec", "npx", "docker exec web", "kubectl exec web --", "ssh web1", "flock /tmp/l",
        "parallel :::  x | xargs", "builtin", "unknown-wrapper", "unknown-wrapper --", "tmux new-window",
        "conda run -n x", "mise exec --", "chronic",
    )  # fmt: skip
    allowed = [one for one in wrappers if judge(f"{one} rm -rf src ~/data", WORKSPACE).decision is Decision.ALLOW]
    assert allowed == []
