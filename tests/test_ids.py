"""Ids are valid, different, and in the order they were made."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from laneway.domain.ids import new_id


def test_ids_are_uuids_of_version_seven_that_tell_the_time() -> None:
    made = new_id()
    assert (made.version, made.variant) == (7, "specified in RFC 4122")
    assert abs((made.int >> 80) / 1000 - time.time()) < 5


def test_ids_sort_in_the_order_they_were_made() -> None:
    made = [new_id() for _ in range(5000)]
    assert made == sorted(set(made))
    assert all(one.version == 7 for one in made)


def test_threads_never_make_the_same_id() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_id(), range(5000)))
    assert len(set(made)) == 5000
