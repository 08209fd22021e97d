"""`laneway pipeline run`: requests about files and lines, without a server, a key or a model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.processes import Shell

FLIGHTS = "flight,airline,price\nA1,Lufthansa,180\nA2,Ryanair,45\nA3,Ryanair,\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "flights.csv").write_text(FLIGHTS, encoding="utf-8")
    (tmp_path / "orders.json").write_text('[{"order_id": 1, "customer_id": 7}, {"order_id": 2, "customer_id": 8}]')
    (tmp_path / "customers.ndjson").write_text('{"id": 7, "name": "Anna"}\n')
    return Shell(tmp_path, {"LANEWAY_HOME": str(tmp_path / "home"), "LANEWAY_URL": "http://127.0.0.1:1"})


def test_people_see_the_sentence_the_row_counts_and_a_table(shell: Shell) -> None:
    printed = shell.run("pipeline", "run", "--prompt", "the cheapest flight", "--data", "flights.csv")
    assert printed.startswith("From flights: ")
    assert "3 (flights)" in printed
    assert "1 (top_k)" in printed
    assert "Ryanair" in printed
    assert "Lufthansa" not in printed


def test_programs_get_rows_plan_sentence_and_counts(shell: Shell) -> None:
    said = json.loads(shell.run("pipeline", "run", "-p", "flights under 100", "-d", "flights.csv", "--json"))
    assert said["rows"] == [{"flight": "A2", "airline": "Ryanair", "price": 45}]
    assert said["plan"]["steps"] == [{"do": "filter", "where": {"column": "price", "is": "<", "value": 100}}]
    assert said["counts"] == [{"step": "flights", "rows": 3}, {"step": "filter", "rows": 1}]
    assert said["sentence"]


def test_standard_input_is_a_table_too(shell: Shell) -> None:
    said = shell.run("pipeline", "run", "-p", "how many rows", "--data", "-", "--json", typed=FLIGHTS)
    assert json.loads(said)["rows"] == [{"count": 3}]


def test_named_tables_are_joined(shell: Shell) -> None:
    said = shell.run("pipeline", "run", "-p", "orders without a customer", "--data", "orders=orders.json",
                     "--data", "customers=customers.ndjson", "--json")  # fmt: skip
    assert json.loads(said)["rows"] == [{"order_id": 2, "customer_id": 8}]


def test_a_refusal_says_why_and_ends_with_1(shell: Shell) -> None:
    ended = shell.ended("pipeline", "run", "-p", "cheap flights", "-d", "flights.csv", code=1)
    assert ended.stderr.startswith("Not done: ")
    said = json.loads(shell.run("pipeline", "run", "-p", "cheap flights", "-d", "flights.csv", "--json", code=1))
    assert (said["rows"], said["plan"]) == (None, None)
    assert said["error"]["type"] == "not-understood"
    assert said["error"]["message"]
    assert said["error"]["hint"]


def test_every_line_is_answered_by_one_line(shell: Shell) -> None:
    rows = [{"name": "a", "price": 5}, {"name": "b", "price": 50}]
    asked = [
        {"prompt": "the cheapest row", "data": rows},
        {"prompt": "something nice", "data": rows},
        {"prompt": "orders without a customer",
         "tables": {"orders": [{"order_id": 1, "customer_id": 3}], "customers": [{"id": 4}]}},
    ]  # fmt: skip
    printed = shell.process("pipeline", "run", "--jsonl", typed="\n".join(map(json.dumps, asked)))
    first, second, third = [json.loads(line) for line in printed.splitlines()]
    assert first["rows"] == rows[:1]
    assert "error" not in first
    assert (second["rows"], second["plan"]) == (None, None)
    assert second["error"]["message"]
    assert third["rows"] == [{"order_id": 1, "customer_id": 3}]


def test_a_broken_line_is_answered_and_the_others_too(shell: Shell) -> None:
    lines = ['{"prompt": "how many rows", "data": [{"a": 1}]}', "{", '{"data": []}', '{"prompt": "x", "data": [1]}']
    (shell.folder / "asked.jsonl").write_text("\n".join(lines))
    printed = shell.run("pipeline", "run", "--jsonl", "--data", "asked.jsonl", code=2)
    said = [json.loads(line) for line in printed.splitlines()]
    assert said[0]["rows"] == [{"count": 1}]
    assert [one["error"]["type"] for one in said[1:]] == ["bad-input"] * 3


def test_a_missing_file_or_prompt_is_named(shell: Shell) -> None:
    assert "nothing.csv cannot be read" in shell.refused("pipeline", "run", "-p", "x", "-d", "nothing.csv")
    assert "what you want to see" in shell.refused("pipeline", "run", "-d", "flights.csv")


def test_a_line_that_breaks_something_here_is_answered_and_the_next_ones_are_read(shell: Shell) -> None:
    deep = f'{{"prompt": "sort by kg", "data": [{{"kg": 1, "n": {"[" * 1000}{"]" * 1000}}}]}}'
    odd = '{"prompt": "sort by kg", "data": [{"kg": 2, "#": 1, "": 3}, {"kg": 1, "#": 2, "": 4}]}'
    lines = shell.process("pipeline", "run", "--jsonl", typed=f"{deep}\n{odd}\n", code=2).splitlines()
    broken, answered = map(json.loads, lines)
    assert (broken["rows"], broken["plan"], broken["error"]["type"]) == (None, None, "internal")
    assert answered["rows"] == [{"kg": 1, "#": 2, "": 4}, {"kg": 2, "#": 1, "": 3}]
