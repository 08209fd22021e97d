"""JSON Patch: conformance, what is kept for the way back, and bounds."""

from __future__ import annotations

import json
import os
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow.document import copied, equal
from laneway.lanes.workflow.patching import MOST_PLAIN, PatchRefused, applied, inverse
from tests.lanes.workflow.patch_records import RECORDS


def _suite() -> list[dict[str, Any]]:
    """The public suite when it is at hand, else our own records, which are run in any case."""
    folder = os.environ.get("LANEWAY_TEST_DATA")
    paths = [Path(folder) / "json-patch-tests" / name for name in ("tests.json", "spec_tests.json")] if folder else []
    records = [record for path in paths if path.exists() for record in json.loads(path.read_text("utf-8"))]
    return [record for record in records if "patch" in record and not record.get("disabled")]


def _passes(record: dict[str, Any]) -> bool:
    before = json.dumps(record["doc"])
    try:
        after = applied(record["doc"], record["patch"])
    except PatchRefused:
        passed = "error" in record
    else:
        passed = "error" not in record and ("expected" not in record or equal(after, record["expected"]))
    return passed and json.dumps(record["doc"]) == before


def test_every_record_gives_what_it_says_and_leaves_its_document_alone() -> None:
    failed = [record for record in [*RECORDS, *_suite()] if not _passes(record)]
    assert failed == []
    assert len(RECORDS) >= 120
    assert len(_suite()) in (0, 108)


@pytest.mark.parametrize("record", [record for record in RECORDS if "expected" in record], ids=lambda r: r["comment"])
def test_the_inverse_of_a_record_gives_its_document_back(record: dict[str, Any]) -> None:
    back = inverse(record["doc"], record["patch"])
    assert _exact(applied(applied(record["doc"], record["patch"]), back)) == _exact(record["doc"])


def _exact(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("seed", range(60))
def test_the_inverse_of_any_patch_gives_the_exact_document_back(seed: int) -> None:
    chance = random.Random(seed)
    document = _value(chance, 4)
    operations = list(_operations(chance, document, 12))
    after = applied(document, operations)
    assert _exact(applied(after, inverse(document, operations))) == _exact(document)


def test_the_inverse_is_not_changed_by_what_happens_to_a_moved_value() -> None:
    document = {"a": {"n": 1}}
    operations: list[dict[str, Any]] = [
        {"op": "move", "from": "/a", "path": "/b"},
        {"op": "replace", "path": "/b/n", "value": 2},
    ]
    assert applied(applied(document, operations), inverse(document, operations)) == document


def test_what_was_added_is_not_shared_with_the_patch() -> None:
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/a", "value": {"n": 1}},
        {"op": "add", "path": "/a/m", "value": 2},
    ]
    applied({}, operations)
    assert operations[0]["value"] == {"n": 1}


def test_a_refusal_names_the_operation_its_path_and_the_reason() -> None:
    with pytest.raises(PatchRefused) as refused:
        applied(
            {"nodes": []}, [{"op": "test", "path": "", "value": {"nodes": []}}, {"op": "remove", "path": "/nodes/0"}]
        )
    assert (refused.value.number, refused.value.path) == (2, "/nodes/0")
    assert "Operation 2 (/nodes/0)" in str(refused.value)
    again = pickle.loads(pickle.dumps(refused.value))
    assert (again.number, str(again)) == (2, str(refused.value))


def test_copies_of_copies_do_not_grow_without_bound() -> None:
    operations = [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(40)]
    with pytest.raises(BadInput, match=r"writes too much|nested deeper|larger than"):
        applied({"a": "x" * 1000}, operations)
    lists = [{"op": "copy", "from": "/l", "path": "/l/-"} for _ in range(60)]
    with pytest.raises(BadInput):
        applied({"l": [1]}, lists)


def test_too_many_operations_too_large_and_too_deep_are_refused() -> None:
    one = {"op": "add", "path": "/a", "value": 1}
    with pytest.raises(PatchRefused, match="operations"):
        applied({}, [one] * (MOST_PLAIN + 1))
    with pytest.raises(TooLarge):
        applied({}, [{"op": "add", "path": "/a", "value": "x" * 1_000_001}])
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(TooLarge):
        applied({}, [{"op": "add", "path": "/a", "value": deep}])
    with pytest.raises(TooLarge):
        applied(deep, [])


def _value(chance: random.Random, depth: int) -> Any:
    if depth and chance.random() < 0.6:
        many = range(chance.randint(0, 4))
        if chance.random() < 0.5:
            return [_value(chance, depth - 1) for _ in many]
        return {chance.choice(["a", "b", "~", "a/b", "", "0", "-"]): _value(chance, depth - 1) for _ in many}
    return chance.choice([None, True, False, 0, 1, 1.0, 2.5, "", "text", [], {}])


def _operations(chance: random.Random, document: Any, count: int) -> Iterator[dict[str, Any]]:
    """Operations that can be applied one after the other, drawn at random."""
    now = copied(document)
    while count:
        places = list(_places(now, ""))
        operation: dict[str, Any] = {"op": chance.choice(["add", "remove", "replace", "move", "copy", "test"])}
        operation["path"] = chance.choice(places) + chance.choice(["", "", "/-", "/0", "/new", "/~01"])
        operation["from"] = chance.choice(places)
        operation["value"] = _value(chance, 2)
        count -= 1
        try:
            now = applied(now, [operation])
        except BadInput:
            continue
        yield operation


def _places(value: Any, path: str) -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _places(each, path + "/" + key.replace("~", "~0").replace("/", "~1"))
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _places(each, f"{path}/{index}")
