"""Paths by node id become plain patches that hit the right place or nothing."""

from __future__ import annotations

import pytest

from laneway.lanes.workflow.node_paths import compiled
from laneway.lanes.workflow.patching import MOST_OPERATIONS, PatchRefused, applied
from tests.lanes.workflow.documents import PRICES, add, edge, node, put


def test_places_shift_with_the_operations_before() -> None:
    operations = [
        {"op": "remove", "path": "/nodes/@fetch"},
        put("/nodes/@cheap/config/message", "Now!"),
        add("/nodes/0", node("first")),
        put("/nodes/@cheap/config/channel", "email"),
        {"op": "remove", "path": "/edges/@fetch->check"},
        put("/edges/@check->cheap/condition", "$.price < 50"),
    ]
    plain = compiled(PRICES, operations)
    after = applied(PRICES, plain)
    assert [one["id"] for one in after["nodes"]] == ["first", "check", "cheap", "done"]
    assert after["nodes"][2]["config"] == {"channel": "email", "message": "Now!"}
    assert after["edges"][0]["condition"] == "$.price < 50"
    assert [one["path"] for one in plain if one["op"] == "replace"] == [
        "/nodes/1/config/message",
        "/nodes/2/config/channel",
        "/edges/0/condition",
    ]


def test_the_guard_refuses_a_document_in_which_the_place_is_another_node() -> None:
    plain = compiled(PRICES, [put("/nodes/@cheap/config/message", "Now!")])
    other = {**PRICES, "nodes": PRICES["nodes"][::-1]}
    with pytest.raises(PatchRefused, match="test failed"):
        applied(other, plain)


def test_a_new_node_or_edge_may_be_added_under_its_own_name_and_changed_by_it() -> None:
    operations = [
        add("/nodes/@mail", node("mail", "notify")),
        add("/edges/@done->mail", edge("done", "mail")),
        add("/edges/@done->mail/condition", "$.ok"),
        add("/nodes/@mail/config", {"message": "Hi", "tags": []}),
        add("/nodes/@mail/config/tags/-", "vpn"),
        {"op": "copy", "from": "/nodes/@fetch/timeout_ms", "path": "/nodes/@cheap/timeout_ms"},
    ]
    after = applied(PRICES, compiled(PRICES, operations))
    assert after["nodes"][-1] == node("mail", "notify", message="Hi", tags=["vpn"])
    assert after["edges"][-1] == edge("done", "mail", "$.ok")
    assert after["nodes"][2]["timeout_ms"] == 5000


REFUSED = [
    (put("/nodes/@nope/config", {}), "no node 'nope'. There are: fetch"),
    ({"op": "remove", "path": "/edges/@done->fetch"}, "no edge 'done->fetch'"),
    (add("/nodes/@fetch", node("fetch")), "is there already"),
    (add("/nodes/@fetsch", node("other")), "what is added is another one"),
    (add("/edges/@fetch->done", edge("done", "fetch")), "what is added is another one"),
    ({"op": "remove", "path": "/edges/@fetch"}, "is no edge"),
    ({"op": "remove", "path": "/nodes/@a b"}, "is no node"),
    ({"op": "remove", "path": "/nodes/@fetch/nothing"}, "There is no 'nothing'"),
]


def test_a_refusal_names_the_operation_as_it_was_written() -> None:
    for operation, why in REFUSED:
        with pytest.raises(PatchRefused, match=why) as refused:
            compiled(PRICES, [add("/metadata", {}), operation])
        assert refused.value.number == 2


def test_a_plain_patch_stays_as_it_is_and_too_long_a_one_is_refused() -> None:
    operations = [add("/metadata", {"name": "Prices"})]
    assert compiled(PRICES, operations) == operations
    with pytest.raises(PatchRefused, match="operations"):
        compiled(PRICES, operations * (MOST_OPERATIONS + 1))
    with pytest.raises(PatchRefused, match="list"):
        compiled(PRICES, {"op": "add"})  # type: ignore[arg-type]
    many = [put("/edges/@fetch->check", edge("fetch", "check"))] * MOST_OPERATIONS
    assert applied(PRICES, compiled(PRICES, many)) == PRICES
