"""Corrections are stored as pending, decided once with an event, and read back in the order they were learnt."""

from __future__ import annotations

from typing import Any

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming, Message, Principal
from laneway.domain.judgement import Correction, CorrectionState
from laneway.store import conversations, corrections, events, principals
from laneway.store.database import CORRECTIONS, Database


@pytest.fixture
async def said(db: Database) -> tuple[Message, Principal]:
    async with db.transaction() as tx:
        owner = await principals.set_owner_key(tx, "lw_one")
    receipt = await Intake(db, [], Limits(100, 100)).receive(Incoming("http", "main", "1", "flush it", owner))
    async with db.transaction() as tx:
        message = await conversations.message(tx, receipt.message_id)
    assert message is not None
    return message, owner


async def add(db: Database, said: tuple[Message, Principal], text: str) -> Correction:
    given: dict[str, Any] = {"taxonomy": "message", "text": text, "label": "command", "flag": True}
    async with db.transaction() as tx:
        return await corrections.add(tx, said[0], principal_id=said[1].id, **given)


async def test_a_correction_waits_until_it_is_decided_once_and_the_event_says_why(
    db: Database, said: tuple[Message, Principal]
) -> None:
    listening = db.listen(CORRECTIONS)
    assert await anext(listening) is None
    stored = await add(db, said, "flush it")
    assert await anext(listening) == (CORRECTIONS, ""), "whoever learns is woken"
    await listening.aclose()
    assert (stored.state, stored.flag, stored.decided_at) == (CorrectionState.PENDING, True, None)
    async with db.transaction() as tx:
        assert await corrections.accepted(tx, "message") == []
        assert await corrections.next_pending(tx) == stored
        assert await corrections.decide(tx, stored.id, CorrectionState.ACCEPTED, "Learnt.")
        assert not await corrections.decide(tx, stored.id, CorrectionState.REFUSED, "It does harm.")
    second = await add(db, said, "x")
    async with db.transaction() as tx:
        assert await corrections.decide(tx, second.id, CorrectionState.REFUSED, "It does harm.")
    async with db.transaction() as tx:
        assert [one.id for one in await corrections.accepted(tx, "message")] == [stored.id]
        assert await corrections.accepted(tx, "lane") == []
        assert await corrections.next_pending(tx) is None
        found = {one.state: one.reason for one in await corrections.of_message(tx, said[0].id)}
        last = (await events.after(tx, events.START))[-1]
    assert found == {CorrectionState.ACCEPTED: "Learnt.", CorrectionState.REFUSED: "It does harm."}
    assert (last.kind, last.thread_id) == ("classification.correction_refused", said[0].thread_id)
    assert (last.body["reason"], last.body["message_id"]) == ("It does harm.", str(said[0].id))
