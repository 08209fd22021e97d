"""Workflows in files and on the command line are read strictly: what JSON cannot say is refused, not guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laneway.cli import workflow_runs
from laneway.cli.workflow import import_workflow
from laneway.cli.workflow_files import parsed, written
from laneway.errors import BadInput


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": NaN}', "NaN is no JSON number"),
        ('[{"op": "add", "path": "/x", "value": -Infinity}]', "no JSON number"),
        ('{"a": 1e999}', "too large"),
        ('{"nodes": [], "edges": [], "nodes": [1]}', '"nodes" stands twice'),
    ],
)
def test_what_json_cannot_say_is_refused_with_the_files_name(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=why) as refused:
        parsed(text, "flow.json")
    assert "flow.json" in str(refused.value)
    file = tmp_path / "flow.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=why):
        import_workflow(str(file))


def test_an_input_without_a_number_is_refused_before_anything_is_asked_of_a_server() -> None:
    with pytest.raises(BadInput, match="NaN is no JSON number"):
        workflow_runs.run("T", '{"a":NaN}')
    with pytest.raises(BadInput, match="stands twice"):
        workflow_runs.run("T", '{"a": 1, "a": 2}')
    with pytest.raises(BadInput, match="not JSON"):
        workflow_runs.run("T", "{a}")


def test_a_number_with_a_leading_zero_is_a_text_in_yaml_and_stays_one() -> None:
    value = parsed("zip: 02139\nn: 010\nm: -007.5\no: 0\np: 0.5\nq: 10\nr: 089\n", "flow.yaml")
    assert value == {"zip": "02139", "n": "010", "m": "-007.5", "o": 0, "p": 0.5, "q": 10, "r": "089"}
    assert parsed(written(value, "yaml"), "flow.yaml") == value


@pytest.mark.parametrize("command", [workflow_runs.retry, workflow_runs.cancel])
def test_what_is_no_id_of_a_run_is_told_where_runs_are_listed(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWAY_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("LANEWAY_KEY", "lw_any")
    with pytest.raises(BadInput, match=r"`laneway workflow runs TAG`"):
        command("notauuid")
