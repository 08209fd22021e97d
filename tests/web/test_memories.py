"""What is remembered, over HTTP: listed by world and thread, and removed."""

from __future__ import annotations

from uuid import UUID, uuid4

from laneway.domain.conversation import World
from laneway.store import memories
from laneway.store.database import Database
from tests.web.conftest import Door


async def test_facts_are_listed_by_world_and_thread_and_removed(door: Door, db: Database) -> None:
    mine = await door.send("hello", thread="main")
    anns = await door.send("hello", sender={"id": "ann"})
    async with db.transaction() as tx:
        for world, thread in ((World.OWNER, mine["thread_id"]), (World.CUSTOMER, anns["thread_id"])):
            text = f"a fact of the {world}"
            await memories.remember(tx, world, UUID(thread), text, key=None, source="a page", job_id=None)
    assert len((await door.get("/memories"))["items"]) == 2
    [owners] = (await door.get("/memories", world="owner"))["items"]
    assert (owners["text"], owners["source"], owners["world"]) == ("a fact of the owner", "a page", "owner")
    [customers] = (await door.get("/memories", thread=anns["thread_id"]))["items"]
    assert customers["text"] == "a fact of the customer"
    first = await door.get("/memories", limit=1)
    assert len((await door.get("/memories", limit=1, before=first["next"]))["items"]) == 1
    assert (await door.http.delete(f"/memories/{owners['id']}")).json()["text"] == "a fact of the owner"
    assert (await door.http.delete(f"/memories/{owners['id']}")).status_code == 404
    assert (await door.get("/memories", world="owner"))["items"] == []
    await door.get("/memories", 404, thread=uuid4())
