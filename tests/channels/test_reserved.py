"""What only Laneway itself may say of a message."""

from __future__ import annotations

import pytest

from laneway.channels.intake import Intake, Limits
from laneway.domain.conversation import Incoming
from laneway.errors import BadInput
from laneway.store import principals
from laneway.store.database import Database


@pytest.mark.parametrize("key", ["workflow_run", "offer", "node_of", "command"])
async def test_nobody_can_send_what_is_ours_to_set(database_url: str, key: str) -> None:
    db = Database(database_url)
    await db.open()
    try:
        async with db.transaction() as tx:
            owner = await principals.set_owner_key(tx, "lw_key")
        intake = Intake(db, ["workflow"], Limits(1000, 0))
        with pytest.raises(BadInput, match="ours to set"):
            await intake.receive(Incoming("http", "t", "1", "go", owner, lane="workflow", payload={key: "x"}))
    finally:
        await db.close()
