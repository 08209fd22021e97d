"""JSON Patch: conformance, what is kept for the way back, and bounds."""

from __future__ import annotations

import json
import os
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from laneway.errors import BadInput, TooLarge
from laneway.lanes.workflow.document import equal
from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.patching import MOST_PLAIN, PatchRefused, applied, inverse
from tests.lanes.workflow.chance import operations_by, value_by
from tests.lanes.workflow.stored_documents import CHAIN

RECORDS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("patch_records.json").read_text("utf-8"))
"""Patches, documents and what must come of them: our own records, over the same ground as json-patch-tests."""


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


def _exact(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _comes_back(document: Any, operations: list[dict[str, Any]]) -> bool:
    return _exact(applied(applied(document, operations), inverse(document, operations))) == _exact(document)


def test_the_inverse_of_every_record_gives_its_document_back() -> None:
    wrong = [one for one in RECORDS if "expected" in one and not _comes_back(one["doc"], one["patch"])]
    assert wrong == []


def test_the_inverse_of_any_patch_gives_the_exact_document_back() -> None:
    for seed in range(60):
        chance = random.Random(seed)
        document = value_by(chance, 4)
        assert _comes_back(document, list(operations_by(chance, document, 12))), seed


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
    for document, source, path in (({"a": "x" * 100_000}, "", "/{}"), ({"l": ["x" * 1000] * 90}, "/l", "/l/-")):
        operations = [{"op": "copy", "from": source, "path": path.format(number)} for number in range(40)]
        with pytest.raises(BadInput, match=r"writes too much|nested deeper|larger than"):
            applied(document, operations)


def test_too_many_operations_too_large_and_too_deep_are_refused() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    with pytest.raises(PatchRefused, match="operations"):
        applied({}, [{"op": "add", "path": "/a", "value": 1}] * (MOST_PLAIN + 1))
    for value in ("x" * 1_000_001, deep):
        with pytest.raises(TooLarge):
            applied({}, [{"op": "add", "path": "/a", "value": value}])
    with pytest.raises(TooLarge):
        applied(deep, [])


def test_the_patch_between_any_two_documents_makes_the_one_from_the_other() -> None:
    for seed in range(300):
        chance = random.Random(seed)
        after = applied(CHAIN, list(operations_by(chance, CHAIN, 6)))
        assert applied(CHAIN, between(CHAIN, after)) == after, seed
        shuffled = {**CHAIN, "nodes": chance.sample(CHAIN["nodes"], 3)}
        assert applied(CHAIN, between(CHAIN, shuffled)) == shuffled
