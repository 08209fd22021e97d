"""The worked example of docs/adding-a-node.md runs as printed."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jsonschema_rs
import pytest

from laneway.domain.workflow_run import RunStatus
from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.nodes import KINDS
from laneway.lanes.workflow.schema import schema
from tests.lanes.workflow.documents import line, node, of
from tests.lanes.workflow.running_workflows import Workflows

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-node.md").read_text("utf-8")


def _block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return str(found[0])


@pytest.fixture
def checksum(tmp_path: Path) -> Iterator[ModuleType]:
    """The printed module, its type known to Laneway while the test lasts."""
    file = tmp_path / "checksum.py"
    file.write_text(_block("python"), "utf-8")
    spec = importlib.util.spec_from_file_location("checksum", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    KINDS[module.KIND.name] = module.KIND
    yield module
    del KINDS[module.KIND.name]


async def test_the_printed_node_runs(checksum: ModuleType, flows: Workflows) -> None:
    made = of([node("a", "transform", set={"n": 1}), node("b", "checksum")], line("a", "b"))
    run = await flows.run(made, input={})
    assert (run.status, run.output) == (RunStatus.DONE, {"sha256": hashlib.sha256(b'{"n": 1}').hexdigest()})


async def test_the_printed_node_fails_as_it_says(checksum: ModuleType, flows: Workflows) -> None:
    run = await flows.run(of([node("b", "checksum", input="x" * 50, most=10)], []), input={})
    assert run.status is RunStatus.FAILED
    assert "10 are allowed" in str(run.error)


def test_the_printed_schema_fits_where_the_page_says() -> None:
    whole = copied(schema())
    whole["$defs"] |= json.loads(_block("json"))
    kind = whole["$defs"]["node"]
    kind["properties"]["type"]["enum"].append("checksum")
    kind["allOf"].append(json.loads(json.dumps(kind["allOf"][0]).replace("function", "checksum")))
    validator = jsonschema_rs.Draft202012Validator(whole)
    assert validator.is_valid(of([node("b", "checksum", most=5)], []))
    assert not validator.is_valid(of([node("b", "checksum", most=0)], []))
