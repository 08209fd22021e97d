"""Pacing: nobody sends faster than the provider allows, nobody waits longer than needed, and holds are obeyed."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from laneway.channels.pacing import Limit, Pacer
from laneway.errors import TransientFault
from tests.channels.clocks import Time

CHAT, OTHER, ALL = Limit("chat 1", 1, 1.0), Limit("chat 2", 1, 1.0), Limit("all", 30, 1.0)
GROUP = Limit("group", 20, 60.0)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def pacer(time: Time) -> Pacer:
    return Pacer(time, time.sleep)


async def sent(pacer: Pacer, time: Time, count: int, *limits: Limit) -> list[float]:
    moments: list[float] = []
    for _ in range(count):
        await pacer.wait(limits)
        moments.append(round(time.seconds, 3))
    return moments


async def test_a_group_gets_twenty_a_minute_and_never_more(pacer: Pacer, time: Time) -> None:
    moments = await sent(pacer, time, 65, GROUP, Limit("g", 1, 1.0))
    assert moments[:20] == list(range(20))
    for first in moments:
        assert sum(first <= moment < first + 60 for moment in moments) <= 20
    assert moments[-1] == 184


async def test_those_who_wait_together_go_one_after_another(time: Time) -> None:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)
        time.advance(seconds)

    pacer = Pacer(time, sleep)
    moments: list[float] = []

    async def one() -> None:
        await pacer.wait([CHAT])
        moments.append(time.seconds)

    await asyncio.gather(*(one() for _ in range(5)))
    assert len(moments) == 5
    assert min(after - before for before, after in pairwise(sorted(moments))) >= 1.0


async def test_a_hold_is_obeyed_in_its_chat_only(pacer: Pacer, time: Time) -> None:
    pacer.hold(CHAT.key, 30)
    pacer.hold(CHAT.key, 5)
    assert await sent(pacer, time, 1, OTHER, ALL) == [0]
    with pytest.raises(TransientFault) as refused:
        await pacer.wait([CHAT, ALL], patience=3)
    assert refused.value.retry_after == 30
    assert await sent(pacer, time, 1, CHAT, ALL) == [30]


async def test_an_edit_leaves_room_for_the_final_message(pacer: Pacer, time: Time) -> None:
    edits = 0
    for _ in range(60):
        edits += pacer.take([GROUP, Limit("g", 1, 1.0)], keep=3)
        time.advance(1)
        if edits == 17:
            break
    assert edits == 17
    assert not pacer.room([GROUP], keep=3)
    assert pacer.room([GROUP], keep=2)
    began = time.seconds
    assert await sent(pacer, time, 3, GROUP) == [began] * 3
    assert not pacer.take([GROUP], keep=0)
