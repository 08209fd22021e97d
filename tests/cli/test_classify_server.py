"""`laneway classify` asks the server, if there is one: it has learnt, and may ask the small model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from laneway.app import Parts
from laneway.llm.scripted import Asked, Say, ScriptedModel
from laneway.llm.single import only
from tests.cli.conftest import Server
from tests.cli.processes import Shell, free_port
from tests.cli.test_classify import lines
from tests.serving import serving

COIN = """
precision = 1.0
[labels.heads]
examples = ["coin one", "coin three", "coin five", "coin seven", "coin nine", "coin eleven"]
[labels.tails]
examples = ["coin two", "coin four", "coin six", "coin eight", "coin ten", "coin twelve"]
"""
UNCLEAR = "another coin"
FIELDS = ["label", "confidence", "tier", "unsure", "top", "ms"]


def told(shell: Shell, *arguments: str, typed: str = "", code: int = 0) -> tuple[str, str]:
    """What the command printed, and what it said beside that."""
    ended = shell.ended("classify", *arguments, typed=typed, code=code)
    return ended.stdout, ended.stderr


@dataclass
class Place:
    """A shell whose commands find a server, and what its small model was asked."""

    shell: Shell
    asked: list[str] = field(default_factory=list)

    def judge(self, asked: Asked) -> Say:
        self.asked.append(asked.text)
        return Say('{"intent": "heads", "summary": "A coin.", "plan": "Look at it.", "confidence": 0.9}')


@pytest.fixture
async def place(database_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    """A server with the local classifier, a small model, and a taxonomy that nobody can learn."""
    (tmp_path / "taxonomies").mkdir()
    (tmp_path / "taxonomies" / "coin.toml").write_text(COIN, encoding="utf-8")
    found = Place(Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path)}))
    parts = Parts(models=lambda db: only(ScriptedModel(), db, classify=ScriptedModel(found.judge)))
    async with serving(database_url, tmp_path, parts, local_classifier=True) as served:
        found.shell.environ |= {"LANEWAY_URL": served.url, "LANEWAY_KEY": served.key}
        yield found


@pytest.mark.slow
async def test_what_the_server_is_unsure_of_is_asked_of_the_small_model_and_remembered(place: Place) -> None:
    def work() -> None:
        printed, said = told(place.shell, "-t", "coin", "--json", UNCLEAR)
        judged = json.loads(printed)
        assert (list(judged), said) == (FIELDS, "")
        assert (judged["label"], judged["tier"], judged["unsure"]) == ("heads", "model", False)
        assert UNCLEAR in place.asked[0]

        asked = [{"text": UNCLEAR}, {"text": "Coin two!"}, {"text": ""}, {"turns": [{"author": "user", "text": "hi"}]}]
        typed = "\n".join(map(json.dumps, asked))
        printed, said = told(place.shell, "-t", "coin", "--jsonl", typed=typed, code=2)
        again, exact, empty, turns = lines(printed)
        assert (again["label"], again["tier"]) == ("heads", "memory")
        assert (exact["label"], exact["tier"], list(exact)) == ("tails", 0, FIELDS)
        assert list(empty) == list(turns) == ["error"]
        assert len(place.asked) == 1

        printed, said = told(place.shell, "-t", "coin", "--json", "--no-model", UNCLEAR)
        assert (json.loads(printed)["tier"], json.loads(printed)["unsure"], said) == (2, True, "")

    await asyncio.to_thread(work)


def test_a_server_without_encoders_judges_by_its_rules_and_hears_what_was_said_before(server: Server) -> None:
    printed, said = told(server.shell, "-t", "message", "--json", "restart nginx")
    judged = json.loads(printed)
    assert list(judged) == ["label", "needs_confirmation", *FIELDS[1:]]
    assert (judged["label"], judged["needs_confirmation"], judged["tier"], said) == ("command", True, 0, "")
    assert judged["top"][0] == ["command", judged["confidence"]]

    turns = [{"author": "assistant", "text": "Shall I restart nginx?"}, {"author": "user", "text": "yes please"}]
    asked = [{"turns": turns}, {"turns": [*turns[:1], {"author": "user", "text": "no"}]}, {"text": "how are you?"}]
    printed, _ = told(server.shell, "-t", "message", "--jsonl", typed="\n".join(map(json.dumps, asked)))
    assert [(one["label"], one["needs_confirmation"]) for one in lines(printed)] == [
        ("command", True), ("other", False), ("question", False),
    ]  # fmt: skip


def test_what_the_server_refuses_is_an_error_and_no_reason_to_judge_here(server: Server) -> None:
    said = server.shell.refused("classify", "-t", "colours", "red")
    assert said == "Error: There is no taxonomy `colours`. There are function, lane, message, route, secretary."
    assert "key" in server.shell.refused("classify", "-t", "message", "hello", code=1, LANEWAY_KEY="lw_wrong")


@pytest.mark.usefixtures("without_encoders")
def test_where_no_server_answers_this_process_judges_and_says_so_once(shell: Shell) -> None:
    home = Path(shell.environ["LANEWAY_HOME"])
    (home / "taxonomies").mkdir(parents=True)
    (home / "taxonomies" / "coin.toml").write_text(COIN, encoding="utf-8")
    address = f"http://127.0.0.1:{free_port()}"
    silent = Shell(shell.folder, {**shell.environ, "LANEWAY_URL": address, "LANEWAY_KEY": "lw_any"})
    typed = '{"text": "coin one"}\n{"text": "coin two"}\n'
    printed, said = told(silent, "-t", "coin", "--jsonl", typed=typed)
    assert [one["label"] for one in lines(printed)] == ["heads", "tails"]
    assert said.startswith("Judged in this process, without a model")
    assert (said.count("Judged in this process"), said.count(address)) == (1, 1)
    # Without a key there is nobody to ask, either.
    refused = shell.refused("classify", "-t", "colours", "red")
    assert "There are coin, function," in refused
    assert "No server was asked: There is no key" in refused
