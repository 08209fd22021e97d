"""Workflows in files and on the command line are read strictly: what JSON cannot say is refused, not guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from laneway.cli import workflow_runs
from laneway.cli.workflow import import_workflow
from laneway.cli.workflow_files import parsed, written
from laneway.errors import BadInput
from tests.cli.processes import Shell


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


@pytest.mark.parametrize(
    ("given", "why"),
    [('{"a":NaN}', "NaN is no JSON number"), ('{"a": 1, "a": 2}', "stands twice"), ("{a}", "not JSON")],
)
def test_an_input_that_is_no_json_is_refused_before_anything_is_asked_of_a_server(given: str, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        workflow_runs.run("T", given)


def test_a_number_with_a_leading_zero_is_a_text_in_yaml_and_stays_one() -> None:
    value = parsed("zip: 02139\nn: 010\nm: -007.5\no: 0\np: 0.5\nq: 10\nr: 089\n", "flow.yaml")
    assert value == {"zip": "02139", "n": "010", "m": "-007.5", "o": 0, "p": 0.5, "q": 10, "r": "089"}
    assert parsed(written(value, "yaml"), "flow.yaml") == value


def test_what_is_no_id_of_a_run_is_told_where_runs_are_listed(shell: Shell) -> None:
    nobody: dict[str, Any] = {"LANEWAY_URL": "http://127.0.0.1:9", "LANEWAY_KEY": "lw_any"}
    for command in ("retry", "cancel"):
        assert "`laneway workflow runs TAG`" in shell.refused("workflow", command, "notauuid", **nobody)
