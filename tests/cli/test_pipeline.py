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
    parts = ("3 (flights)", "1 (top_k)", "Ryanair", "Lufthansa")
    assert [part in printed for part in parts] == [True, True, True, False]


def test_programs_get_rows_plan_sentence_and_counts(shell: Shell) -> None:
    said = json.loads(shell.run("pipeline", "run", "-p", "flights under 100", "-d", "flights.csv", "--json"))
    assert said["rows"] == [{"flight": "A2", "airline": "Ryanair", "price": 45}]
    assert said["plan"]["steps"] == [{"do": "filter", "where": {"column": "price", "is": "<", "value": 100}}]
    assert said["counts"] == [{"step": "flights", "rows": 3}, {"step": "filter", "rows": 1}]
    assert said["sentence"]


def test_standard_input_is_a_table_too_and_named_tables_are_joined(shell: Shell) -> None:
    said = shell.run("pipeline", "run", "-p", "how many rows", "--data", "-", "--json", typed=FLIGHTS)
    assert json.loads(said)["rows"] == [{"count": 3}]
    said = shell.run("pipeline", "run", "-p", "orders without a customer", "--data", "orders=orders.json",
                     "--data", "customers=customers.ndjson", "--json")  # fmt: skip
    assert json.loads(said)["rows"] == [{"order_id": 2, "customer_id": 8}]


def test_a_refusal_says_why_and_ends_with_1_and_bad_input_with_2(shell: Shell) -> None:
    ended = shell.ended("pipeline", "run", "-p", "cheap flights", "-d", "flights.csv", code=1)
    assert ended.stderr.startswith("Not done: ")
    said = json.loads(shell.run("pipeline", "run", "-p", "cheap flights", "-d", "flights.csv", "--json", code=1))
    assert (said["rows"], said["plan"]) == (None, None)
    assert said["error"]["type"] == "not-understood"
    assert said["error"]["message"]
    assert said["error"]["hint"]
    assert "nothing.csv cannot be read" in shell.refused("pipeline", "run", "-p", "x", "-d", "nothing.csv")
    assert "what you want to see" in shell.refused("pipeline", "run", "-d", "flights.csv")


def test_every_line_is_answered_by_one_line_whatever_the_others_hold(shell: Shell) -> None:
    rows = [{"name": "a", "price": 5}, {"name": "b", "price": 50}]
    orders = {"orders": [{"order_id": 1, "customer_id": 3}], "customers": [{"id": 4}]}
    asked = [
        (json.dumps({"prompt": "the cheapest row", "data": rows}), rows[:1]),
        (json.dumps({"prompt": "something nice", "data": rows}), "not-understood"),
        (json.dumps({"prompt": "orders without a customer", "tables": orders}), orders["orders"]),
        ("{", "bad-input"),
        ('{"data": []}', "bad-input"),
        ('{"prompt": "x", "data": [1]}', "bad-input"),
        (f'{{"prompt": "sort by kg", "data": [{{"kg": 1, "n": {"[" * 1000}{"]" * 1000}}}]}}', "internal"),
        ('{"prompt": "sort by kg", "data": [{"kg": 2, "#": 1, "": 3}]}', [{"kg": 2, "#": 1, "": 3}]),
    ]
    typed = "\n".join(line for line, _ in asked)
    printed = shell.process("pipeline", "run", "--jsonl", typed=typed, code=2)
    said = [json.loads(line) for line in printed.splitlines()]
    assert [one.get("error", {}).get("type") or one["rows"] for one in said] == [answer for _, answer in asked]
    assert [one for one in said if "error" in one and (one["rows"] or one["plan"] or not one["error"]["message"])] == []
    (shell.folder / "asked.jsonl").write_text(typed)
    assert shell.run("pipeline", "run", "--jsonl", "--data", "asked.jsonl", code=2) == printed
