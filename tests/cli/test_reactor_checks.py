"""What `laneway doctor` says of the owner's own reactors."""

from __future__ import annotations

import json

from tests.cli.processes import Shell

CODE = """
class Quiet:
    name = "quiet"

    def handle(self, ctx):
        from laneway.reactors import Continue
        return Continue()

reactors = Quiet
"""


def test_own_reactors_are_named_and_so_is_each_that_is_left_out_and_why(shell: Shell) -> None:
    folder = shell.folder / "mine"
    folder.mkdir(mode=0o700)
    for name, text in {
        "good.py": CODE,
        "bad.py": "1 / 0",
        "rules.toml": "[[rule]]\nname = 'x'",
        "open.py": CODE,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o666 if name == "open.py" else 0o600)
    told = json.loads(shell.run("doctor", "--json", code=1, LANEWAY_REACTORS=str(folder)))
    found = {one["check"]: one for one in told["findings"] if one["check"].startswith("reactor")}
    assert found["reactors"]["says"] == "Besides those that come with Laneway: quiet."
    assert found["reactor bad.py"]["says"] == "It is left out: ZeroDivisionError: division by zero"
    assert "names no condition" in found["reactor rules.toml"]["says"]
    assert found["reactor open.py"]["says"].startswith("It is left out: Others may write to ")
    assert {name: one["state"] for name, one in found.items()} == {
        "reactors": "ok", "reactor bad.py": "fail", "reactor rules.toml": "fail", "reactor open.py": "fail",
    }  # fmt: skip
