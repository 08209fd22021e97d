"""References are told from texts that only look like them."""

from __future__ import annotations

import pytest

from laneway.lanes.workflow.references import placed, whole


def test_a_whole_reference_gives_its_way() -> None:
    found = whole("$nodes.fetch-1.rows[0].a_b['x y'][\"z\"]")
    assert found is not None
    assert (found.root, found.node) == ("nodes", "fetch-1")
    assert found.parts == ("fetch-1", "rows", 0, "a_b", "x y", "z")


@pytest.mark.parametrize("text", ["nodes.a", "$nodes.a ", "a $nodes.a", "$nodesa", "$env.HOME", "$5", "${$nodes.a}"])
def test_what_is_no_whole_reference(text: str) -> None:
    assert whole(text) is None


def test_references_are_found_with_their_places() -> None:
    config = {"a": "$input.x", "l": [{"b/c": "from ${$nodes.n.y} to ${ $secrets.KEY }"}], "n": 5, "p": "costs $5"}
    assert [(one.path, one.text) for one in placed(config)] == [
        ("/a", "$input.x"),
        ("/l/0/b~1c", "${$nodes.n.y}"),
        ("/l/0/b~1c", "${ $secrets.KEY }"),
    ]


@pytest.mark.parametrize("text", ["$nodes.a..b", "$nodes.a[x]", "Hi ${$nodes.a", "Hi ${$nope.a}", "$input.a b"])
def test_what_looks_like_a_reference_and_is_none_is_found_too(text: str) -> None:
    assert [one.reference for one in placed({"a": text})] == [None]
