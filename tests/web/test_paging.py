"""Part of a list: never more than was wanted, and a way to go on where there is more."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from laneway.web.shapes import Listing, Shape, paged


class Numbered(Shape):
    id: UUID
    seq: int


@dataclass
class Stored:
    id: UUID
    seq: int


@pytest.mark.parametrize(("there", "shown", "goes_on"), [(0, 0, False), (1, 1, False), (2, 2, False), (3, 2, True)])
def test_one_more_than_wanted_tells_that_the_list_goes_on(there: int, shown: int, goes_on: bool) -> None:
    which = Listing(limit=2)
    found = [Stored(uuid4(), 10 - number) for number in range(there)][: which.one_more]
    by_id, by_seq = paged(Numbered, found, which), paged(Numbered, found, which, by="seq")
    assert [one.seq for one in by_id.items] == [10, 9][:shown]
    assert by_id.next == (found[1].id if goes_on else None)
    assert by_seq.next == (9 if goes_on else None)
