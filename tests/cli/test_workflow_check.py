"""`laneway workflow`: lines, files and arguments are judged without a server, and what is no JSON is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from laneway.cli.workflow import import_workflow
from laneway.cli.workflow_check import LONGEST_LINE, check_lines
from laneway.cli.workflow_files import parsed, written
from laneway.errors import BadInput
from tests.cli.processes import Shell
from tests.lanes.workflow.documents import PRICES, add, edge, node


def _line(*operations: Any, workflow: Any = PRICES) -> str:
    return json.dumps({"workflow": workflow, "operations": list(operations)})


def _verdicts(*lines: bytes) -> list[dict[str, Any]]:
    out = io.BytesIO()
    check_lines(io.BytesIO(b"\n".join(lines)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_the_command_needs_no_server_and_prints_a_line_for_each_line(shell: Shell) -> None:
    mail = [add("/nodes/-", node("mail", "notify", message="Hi")), add("/edges/-", edge("cheap", "mail"))]
    typed = "\n".join([_line(*mail), _line(add("/edges/-", edge("cheap", "mail"))), "", "no JSON"]) + "\n"
    found = [json.loads(line) for line in shell.run("workflow", "patch", "--check", typed=typed).splitlines()]
    assert [(one["verdict"], one["reason"]) for one in found] == [
        ("accept", None),
        ("reject", "dangling-edge"),
        ("reject", "json-patch"),
    ]
    assert found[0]["document"]["nodes"][-1] == mail[0]["value"]
    assert found[1]["document"] is None
    assert "'mail', which does not exist" in found[1]["message"]
    assert not (shell.folder / "home").exists()
    assert shell.run("workflow", "patch", "--check") == ""


def test_hostile_lines_are_rejected_and_the_next_line_is_judged() -> None:
    deep = b'{"workflow": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b', "operations": []}'
    lines = [
        b"\xff\xfe\x00",
        b"[" * 1_000_000,
        deep,
        b"null",
        b"[]",
        b'{"workflow": {}}',
        b'{"operations": [], "operations": [], "workflow": {}}',
        b'{"workflow": {"nodes": NaN}, "operations": []}',
        b'{"workflow": "' + b"x" * 10_000_000 + b'", "operations": []}',
        b'{"workflow": "' + b"x" * (LONGEST_LINE - 100) + b'", "operations": []}',
        b'{"workflow": {}, "operations": "add"}',
        b'{"workflow": {}, "operations": [null]}',
        b'{"workflow": 1, "operations": [{"op": "add", "path": "", "value": "\\ud800"}]}',
        _line().encode(),
    ]
    found = _verdicts(*lines)
    assert [one["verdict"] for one in found] == ["reject"] * (len(lines) - 1) + ["accept"]
    assert {one["reason"] for one in found[:-1]} == {"json-patch"}
    assert all(one["message"] and one["document"] is None for one in found[:-1])


def test_an_accepted_line_gives_the_document_back_as_it_would_be_stored() -> None:
    operation = {"op": "replace", "path": "/edges/@check->cheap/condition", "value": '$.name == "é" && $.price < 100'}
    found = _verdicts(_line(operation).encode())[0]
    assert found["document"]["edges"][1]["condition"] == operation["value"]
    assert (found["verdict"], found["reason"], found["message"]) == ("accept", None, "The patch can be applied.")


def test_what_json_cannot_say_is_refused_with_the_files_name(tmp_path: Path) -> None:
    cases = {
        '{"a": NaN}': "NaN is no JSON number",
        '[{"op": "add", "path": "/x", "value": -Infinity}]': "no JSON number",
        '{"a": 1e999}': "too large",
        '{"nodes": [], "edges": [], "nodes": [1]}': '"nodes" stands twice',
    }
    file = tmp_path / "flow.json"
    for text, why in cases.items():
        file.write_text(text)
        with pytest.raises(BadInput, match=why) as refused:
            import_workflow(str(file))
        assert "flow.json" in str(refused.value)


def test_a_number_with_a_leading_zero_is_a_text_in_yaml_and_stays_one() -> None:
    value = parsed("zip: 02139\nn: 010\nm: -007.5\no: 0\np: 0.5\nq: 10\nr: 089\n", "flow.yaml")
    assert value == {"zip": "02139", "n": "010", "m": "-007.5", "o": 0, "p": 0.5, "q": 10, "r": "089"}
    assert parsed(written(value, "yaml"), "flow.yaml") == value


def test_what_is_no_id_of_a_run_is_told_where_runs_are_listed(shell: Shell) -> None:
    for command in ("retry", "cancel"):
        said = shell.refused("workflow", command, "notauuid", LANEWAY_URL="http://127.0.0.1:9", LANEWAY_KEY="lw_any")
        assert "`laneway workflow runs TAG`" in said
