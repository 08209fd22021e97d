"""`laneway audit`, `laneway rehearse` and `laneway sessions review`, against a server and without one."""

from __future__ import annotations

import json
from pathlib import Path

from laneway.observe.discovery import discover
from laneway.observe.watching import Which
from tests.cli.conftest import Server
from tests.cli.processes import Shell, eventually
from tests.cli.test_sessions import KEY, session
from tests.observe.claude_logs import answer, result, use, used, user
from tests.observe.codex_logs import count, meta, said, spent
from tests.observe.logs import log


def entries(server: Server) -> int:
    return int(server.json("audit", "verify")["entries"])


def test_what_the_owner_does_is_audited_exported_and_verified(server: Server, tmp_path: Path) -> None:
    before = entries(server)
    server.shell.run("host-mode", "on")
    server.shell.run("host-mode", "off")
    eventually(lambda: entries(server) >= before + 2)
    listed = server.shell.run("audit", "list", "--what", "principal.host_mode")
    assert "principal.host_mode" in listed
    assert '"on":true' in listed
    head = server.json("audit", "verify")["head"]
    assert head in server.shell.run("audit", "verify")
    assert "Intact" in server.shell.run("audit", "verify", "--holds", head)
    gone = server.shell.run("audit", "verify", "--holds", "f" * 64, code=1)
    assert "is gone" in gone

    export = tmp_path / "audit.jsonl"
    server.shell.run("audit", "export", str(export))
    assert "Intact" in server.shell.run("audit", "verify", "--file", str(export))
    lines = export.read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if "host_mode" in line)
    lines[place] = lines[place].replace("true", "false").replace("host_mode", "host_mood")
    export.write_text("\n".join(lines) + "\n")
    broken = server.shell.run("audit", "verify", "--file", str(export), code=1)
    assert f"BROKEN after {place} entries. Entry {place + 1} was changed" in broken


def spending(folder: Path, name: str, turns: int) -> Path:
    path = folder / f"{name}.jsonl"
    records = [user("go", timestamp="2026-01-01T10:00:00Z", sessionId=name)]
    for turn in range(turns):
        records.append(answer(f"m{turn}", [use(f"t{turn}")], used(900, 100), sessionId=name))
        records.append(result(f"t{turn}") | {"sessionId": name})
    path.write_bytes(log(*records))
    return path


def test_a_rule_is_rehearsed_on_files_without_a_server(shell: Shell, tmp_path: Path) -> None:
    small, large = spending(tmp_path, "small", 2), spending(tmp_path, "large", 9)
    rule = tmp_path / "limit.toml"
    rule.write_text('[[rule]]\nname = "enough"\nat_least = { tokens = 5000 }\ndo = "kill"\n')
    told = shell.run("rehearse", "--rule", str(rule), str(small), str(large))
    assert "1 of 2 sessions would have been ended" in told
    assert "enough" in told
    found = json.loads(shell.run("rehearse", "--budget-tokens", "5000", "--json", str(small), str(large)))
    assert [one["killed"] is not None for one in found] == [False, True]
    assert found[1]["killed"]["tokens"] == 5000
    assert found[1]["spared"]["tokens"] == 4000
    assert "nothing to rehearse" in shell.refused("rehearse", str(small))
    assert "no-such" in shell.refused("rehearse", "--rule", "no-such.toml", str(small))


def test_a_reactor_that_fails_in_a_rehearsal_is_an_error(shell: Shell, tmp_path: Path) -> None:
    code = tmp_path / "odd.py"
    code.write_text("class Odd:\n    name = 'odd'\n    def handle(self, ctx):\n        return 1 / 0\nreactors = Odd\n")
    told = shell.run("rehearse", "--rule", str(code), str(spending(tmp_path, "small", 2)), code=1)
    assert "odd failed: " in told


TALK = """
from laneway.reactors import Continue, Intervene
class Talk:
    name = 'talk'
    def handle(self, ctx):
        return Intervene('somebody said hello') if 'hello there' in (ctx.event.text or '') else Continue()
reactors = Talk
"""


def test_jobs_are_rehearsed_from_the_server_and_reviewed_by_its_model(server: Server, tmp_path: Path) -> None:
    server.shell.run("send", "hello there", "--thread", "reviewed")
    code = tmp_path / "talk.py"
    code.write_text(TALK)
    found = server.json("rehearse", "--rule", str(code))
    said = [one for one in found if one["reactions"]]
    assert said
    assert said[0]["provider"] == "laneway"
    report = server.json("sessions", "review", said[0]["session_id"])
    assert report["label"].startswith("Written by the model gpt-4.1")
    assert report["text"]


def test_a_log_is_reviewed_by_rules_where_no_server_is_and_its_secrets_stay_here(shell: Shell) -> None:
    told = shell.run("sessions", "review", str(session(shell.folder)))
    assert told.startswith("Made by rules, not by a model: no server of yours answers.")
    assert "1 tool call" in told
    assert KEY not in told
    assert "Made by rules, not by a model." in shell.run("sessions", "review", "--offline", str(session(shell.folder)))


PARENT, FORK = "019b04ae-1111-7222-8333-444455556666", "019b04af-1111-7222-8333-444455556667"


def codex(folder: Path, name: str, *records: object, **fields: str) -> None:
    """A session of Codex whose model is gpt-5, in the folder and under the name that Codex gives it."""
    path = folder / ".codex" / "sessions" / "2026" / "01" / "01" / f"rollout-2026-01-01T00-00-00-{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    turn = {"timestamp": "2026-01-01T00:00:00Z", "type": "turn_context", "payload": {"cwd": "/w", "model": "gpt-5"}}
    path.write_bytes(log(meta(name, **fields), turn, said("user", "go"), *records))


def test_a_review_finds_a_session_by_the_beginning_of_its_id_and_says_what_it_cost(shell: Shell) -> None:
    codex(shell.folder, PARENT, count(spent(1000, 500, 2000)))
    # The fork repeats the count of its parent, which paid for it.
    codex(shell.folder, FORK, count(spent(1000, 500, 2000)), count(spent(2000, 500, 2000)), forked_from_id=PARENT)
    parts = [user("go", timestamp="2026-01-01T10:00:00Z"), answer("m", [use("t")], used(900, 90))]
    parts[1]["message"]["model"] = "claude-sonnet-4-5"
    session(shell.folder, "5c1e7a90-0000-4000-8000-000000000000.jsonl").write_bytes(log(*parts))
    costs = {"019b04ae": "3,500 tokens, $0.0065.", "019b04af": "1,000 tokens, $0.0013.", "5c1e": "990 tokens, $0.0040."}
    wrong = {
        name: told
        for name, cost in costs.items()
        if cost not in (told := shell.run("sessions", "review", "--offline", name))
    }
    assert wrong == {}
    assert "There is no session `zzz`." in shell.refused("sessions", "review", "zzz", code=1)
    assert "2 sessions begin" in shell.refused("sessions", "review", "019b")
    found = discover({"HOME": str(shell.folder)})
    assert [one.name[-4:] for one in found if Which(session="019b04ae").wants(one)] == ["6666"]
