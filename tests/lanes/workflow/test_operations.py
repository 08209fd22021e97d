"""The patch between two documents makes the one from the other, and touches only what differs."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

from laneway.lanes.workflow.operations import between
from laneway.lanes.workflow.patching import applied
from tests.lanes.workflow.stored_documents import CHAIN

WORDS = ("fetch", "check", "mail", "wait", "tell")


def changed_by_chance(chance: random.Random, value: Any) -> Any:
    """The value with something else in it, somewhere."""
    if isinstance(value, list) and value and chance.random() < 0.5:
        place = chance.randrange(len(value))
        return chance.choice(
            (
                value[:place] + value[place + 1 :],
                [*value[:place], {"id": chance.choice(WORDS), "n": chance.randrange(3)}, *value[place:]],
                [*value[:place], changed_by_chance(chance, value[place]), *value[place + 1 :]],
                chance.sample(value, len(value)),
            )
        )
    if isinstance(value, dict) and value:
        key = chance.choice(list(value))
        return {**value, key: changed_by_chance(chance, value[key])}
    return chance.choice((None, 1, True, "x", [], [1, 1, 2], {"id": "mail"}))


def test_the_patch_between_any_two_documents_makes_the_one_from_the_other() -> None:
    chance = random.Random(11)
    for _ in range(600):
        after: Any = deepcopy(CHAIN)
        for _ in range(chance.randrange(1, 6)):
            after = changed_by_chance(chance, after)
        assert applied(deepcopy(CHAIN), between(CHAIN, after)) == after


def test_a_change_in_the_middle_leaves_its_neighbours_alone() -> None:
    after = deepcopy(CHAIN)
    after["nodes"][1]["timeout_ms"] = 5000
    after["nodes"].append({"id": "new", "type": "wait", "config": {"seconds": 1}})
    assert [(one["op"], one["path"]) for one in between(CHAIN, after)] == [
        ("add", "/nodes/1/timeout_ms"),
        ("add", f"/nodes/{len(CHAIN['nodes'])}"),
    ]
    assert between(CHAIN, {**CHAIN, "nodes": CHAIN["nodes"][1:]}) == [{"op": "remove", "path": "/nodes/0"}]
