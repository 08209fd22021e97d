"""The schema that docs/adding-a-node.md prints fits where the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs

from laneway.lanes.workflow.document import copied
from laneway.lanes.workflow.schema import schema
from tests.lanes.workflow.documents import node, of

PAGE = (Path(__file__).parents[3] / "docs" / "adding-a-node.md").read_text("utf-8")


def test_the_printed_schema_fits_where_the_page_says() -> None:
    printed = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(printed) == 1
    whole = copied(schema())
    whole["$defs"] |= json.loads(printed[0])
    whole["$defs"]["node"]["properties"]["type"]["enum"].append("upload")
    workflow = jsonschema_rs.Draft202012Validator(whole)
    assert workflow.is_valid(of([node("b", "upload", url="https://a.example", text="Hi")], []))
    settings = jsonschema_rs.Draft202012Validator({"$ref": "#/$defs/upload", "$defs": whole["$defs"]})
    assert settings.is_valid({"url": "https://a.example", "text": "Hi"})
    assert not settings.is_valid({"text": 5})
