"""What docs/workflows.md and docs/adding-a-node.md say is what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs

from laneway.cli.workflow_check import judged
from laneway.lanes.workflow.checks import check, patched
from laneway.lanes.workflow.conditions import Erred, compiled
from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.finding import REASONS
from laneway.lanes.workflow.notes import notes
from laneway.lanes.workflow.schema import config_keys, node_types, schema
from tests.lanes.workflow.documents import node, of

PAGE = (Path(__file__).parents[3] / "docs" / "workflows.md").read_text("utf-8")


def _blocks() -> list[Any]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def _rows(first: str) -> list[list[str]]:
    """The cells of the table whose head begins with this word."""
    table = re.search(rf"^\| {re.escape(first)} \|.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    assert table, first
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table[0].strip().splitlines()[2:]]


def test_the_document_and_its_patch_pass_their_checks() -> None:
    document, operations = _blocks()
    assert check(document) == []
    assert notes(document) == []
    assert patched(document, operations).accepted


def test_every_type_stands_there_with_every_key_of_its_config() -> None:
    rows = _rows("type")
    assert [row[0].strip("`") for row in rows] == list(node_types())
    for name, _, keys in rows:
        wanted = [key for key in config_keys(name.strip("`")) if key != "join"]
        assert sorted(re.findall(r"`(\w+)`", keys)) == sorted(wanted), name


def test_every_reason_stands_there_in_its_order() -> None:
    assert [row[0].strip("`") for row in _rows("reason")] == list(REASONS)


def test_every_condition_gives_what_the_page_says() -> None:
    heading = re.search(r"\| condition \| when `output` is `(.*?)`", PAGE)
    assert heading
    output = json.loads(heading[1])
    for text, said in _rows("condition"):
        value = compiled(text.strip("`")).value(output)
        assert ("an error" if isinstance(value, Erred) else str(value).lower()) == said.split(":")[0].strip(), text


def test_the_command_prints_what_the_page_shows() -> None:
    example = re.search(r"echo '(.*?)' \|.*?\n(\{.*?\})\n", PAGE, re.DOTALL)
    assert example
    assert judged(example[1].replace("\n", "").encode()) == json.loads(example[2])


NODES_PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-node.md").read_text("utf-8")


def test_the_printed_schema_fits_where_the_page_says() -> None:
    printed = re.findall(r"```json\n(.*?)```", NODES_PAGE, re.DOTALL)
    assert len(printed) == 1
    whole = copied(schema())
    whole["$defs"] |= json.loads(printed[0])
    whole["$defs"]["node"]["properties"]["type"]["enum"].append("upload")
    workflow = jsonschema_rs.Draft202012Validator(whole)
    assert workflow.is_valid(of([node("b", "upload", url="https://a.example", text="Hi")], []))
    settings = jsonschema_rs.Draft202012Validator({"$ref": "#/$defs/upload", "$defs": whole["$defs"]})
    assert settings.is_valid({"url": "https://a.example", "text": "Hi"})
    assert not settings.is_valid({"text": 5})
