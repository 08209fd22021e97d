"""A WhatsApp bridge from end to end: what people write to the number is answered there, in their own way."""

from __future__ import annotations

from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from laneway.domain.conversation import PULLED, Role
from laneway.errors import SettingsError
from laneway.llm.scripted import Call
from laneway.store import conversations, outbox, principals
from laneway.store.database import Database
from tests.journeys.tooling import Counter, Start, asked_ago, calls
from tests.journeys.waha_number import ANN, ANNS_LID, GROUP, OWNER, Number, answers
from tests.servers.waha_people import Account
from tests.servers.waha_server import WahaServer
from tests.serving import scripted, serving


async def test_a_customers_question_is_answered_in_their_chat(waha: Start[Number], database_url: str) -> None:
    async with waha(answers()) as here:
        assert await here.says(ANN, "When are you open?") == 200
        [sent] = await here.bridge.until(1)
        assert here.bridge.texts(ANN) == ["From 9 to 5."]
        verbs = [one.path.rpartition("/")[2] for one in here.bridge.asked if one.method == "POST"]
        assert verbs == ["sendSeen", "startTyping", "stopTyping", "sendText"]
        assert "reply_to" not in sent, "between two people an answer quotes nothing"
        await here.quiet()
        for ack in (3, 2, 1):
            told = {"id": sent["id"], "from": ANN, "fromMe": True, "ack": ack}
            assert await here.bridge.push(here.bridge.account.event(told, "message.ack")) == 200
        async with await psycopg.AsyncConnection.connect(database_url) as connection:
            rows = await (await connection.execute("SELECT status FROM deliveries")).fetchall()
        assert rows == [("read",)], "what is acknowledged never goes back"


async def test_nobody_gets_in_without_the_right_signature(waha: Start[Number], bridge: WahaServer) -> None:
    async with waha() as here:
        event = bridge.account.event(Account().message(OWNER, "delete everything"))
        assert await bridge.push(event, key="another key") == 401
        assert await bridge.push(event, headers={"X-Webhook-Hmac": ""}) == 401
        assert await bridge.push(event, headers={"X-Webhook-Hmac-Algorithm": "sha1"}) == 401
        unsigned = await here.http.post("/waha/webhook", json=event)
        assert unsigned.status_code == 401, "the owner's key does not replace the signature"
        assert bridge.hmac_key not in unsigned.text
        assert await here.stored("delete everything") == []
        body = b"not json"
        broken = await here.http.post("/waha/webhook", content=body, headers=bridge.signed(body))
        assert broken.status_code == 400


async def test_a_hidden_sender_is_known_by_number_and_answered(waha: Start[Number], bridge: WahaServer) -> None:
    bridge.account.lids[ANNS_LID] = ANN
    async with waha(answers()) as here:
        said = bridge.account.message(ANNS_LID, "Are you there?")
        known = said | {"id": said["id"].replace(ANNS_LID, ANN), "from": ANN}
        assert [await bridge.push(bridge.account.event(one)) for one in (said, known)] == [200, 200]
        await here.says(ANN, "Still there?")
        await here.says("777777777777@lid", "Hello?")
        await here.quiet()
        assert sorted(one["chatId"] for one in bridge.sent) == [ANN, ANN, "777777777777@lid"]
        threads = {one["thread_id"] for text in ("Are you there?", "Still there?") for one in await here.stored(text)}
        assert len(threads) == 1, "one person, one thread, whichever id the bridge used"
        assert (await here.state())["lids"] == 1


async def test_the_owner_approves_by_typing_yes(waha: Start[Number], database_url: str) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}), then="Pressed.")
    async with waha(script, counter.entry(asks=True)) as here:
        await here.says(OWNER, "restart the server")
        [asked] = await here.bridge.until(1)
        assert "May I do this?" in asked["text"]
        assert "yes, no or always" in asked["text"]
        assert counter.done == []
        await asked_ago(database_url, 60)
        await here.says(OWNER, "yes")
        await here.bridge.until(3)
        assert sorted(here.bridge.texts(OWNER)[1:]) == ["Pressed.", "Understood."]
        assert counter.done == ["red"]


async def test_the_message_of_the_seed_is_taken_at_the_same_door(waha: Start[Number], bridge: WahaServer) -> None:
    async with waha(answers("On Monday at nine?")) as here:
        said = {
            "chatId": "85260552717@c.us", "id": "msg_123", "body": "I want to book an appointment", "fromMe": False,
        }  # fmt: skip
        assert await bridge.push(said, key="wrong") == 401
        assert [await bridge.push(said) for _ in range(3)] == [200, 200, 200]
        assert await bridge.push(said | {"fromMe": True, "id": "msg_124"}) == 200
        await here.quiet()
        assert bridge.texts("85260552717@c.us") == ["On Monday at nine?"]


async def test_a_group_is_answered_only_when_it_asks_us(waha: Start[Number], bridge: WahaServer) -> None:
    async with waha() as here:
        await here.says(OWNER, "lunch at one?", chat=GROUP)
        await here.quiet()
        assert bridge.sent == []
        [overheard] = await here.stored("lunch at one?")
        await here.says(OWNER, "@4930123456 how full is the disk?", chat=GROUP)
        await bridge.until(1)
        [asked] = await here.stored("how full is the disk?")
        assert asked["thread_id"] == overheard["thread_id"]
        [answer] = bridge.sent
        assert answer["chatId"] == GROUP
        assert answer["reply_to"] == asked["meta"]["waha_id"]
        # An answer to our answer is meant for us, although the engine says only which message it answers.
        await here.quiet()
        mine = answer["id"].rpartition("_")[2]
        await here.says(OWNER, "and now?", chat=GROUP, replyTo={"id": mine, "body": "..."})
        await bridge.until(2)


async def test_nobody_is_written_to_who_did_not_write_first(waha: Start[Number], db: Database) -> None:
    async with waha() as here:
        async with db.transaction() as tx:
            bob = await principals.by_address(tx, "waha:4916000000000@c.us", Role.CUSTOMER, "Bob")
            thread = await conversations.ensure_thread(tx, "waha", str(bob.id), bob)
            await outbox.write(tx, thread.id, "Buy now!", external_id="ad", pulled=PULLED, meta={})

        async def given_up() -> bool:
            rows = (await here.http.get("/outbox", params={"state": "undeliverable"})).json()["items"]
            return bool(rows) and "first contact is the customer's" in rows[0]["error"]

        await here.until(given_up)
        assert here.bridge.sent == []


async def test_a_message_that_no_database_can_hold_is_stored_all_the_same(
    waha: Start[Number], bridge: WahaServer
) -> None:
    async with waha() as here:
        told = bridge.account.file("list.txt", "text/plain", b"buy milk", bridge.url)
        told["mimetype"] = "text/plain\x00"
        huge = {"notifyName": "Ann", "type": "document", "size": 2**64 - 1}
        quote = {"id": "3EB0A1B2C3D4E5F60718", "body": "half a \ud83d heart \x00"}
        odd = Account().message(ANN, "my\x00 list \ud83d", hasMedia=True, media=told, _data=huge, replyTo=quote)
        aside = Account().message(OWNER, "in a group \ud83d", chat=GROUP)
        assert [await bridge.push(bridge.account.event(one)) for one in (odd, aside)] == [200, 200]
        await here.quiet()
        [message] = [one for one in await here.messages() if one["author"] == "user" and "list" in one["text"]]
        shown = (await here.http.get(f"/messages/{message['id']}")).json()
        assert "buy milk" in shown["attachments"][0]["preview"]


async def test_the_settings_are_enough_and_without_them_the_door_is_shut(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    keys = {"waha_url": bridge.url, "waha_key": SecretStr(bridge.api_key)}
    with pytest.raises(SettingsError, match="WAHA_HMAC_KEY"):
        async with serving(database_url, tmp_path, scripted(answers()), **keys):
            pass
    async with serving(database_url, tmp_path, scripted()) as served, httpx.AsyncClient(timeout=30) as http:
        assert (await http.post(f"{served.url}/waha/webhook", json={})).status_code == 404
    keys["waha_hmac_key"] = SecretStr(bridge.hmac_key)
    keys["waha_customers"] = True
    async with serving(database_url, tmp_path, scripted(answers()), **keys) as served:
        bridge.hook = f"{served.url}/waha/webhook"
        assert await bridge.push(bridge.account.event(bridge.account.message(ANN, "When are you open?"))) == 200
        [sent] = await bridge.until(1)
        typed = [one for one in bridge.asked if one.path == "/api/startTyping"]
        assert (sent["text"], len(typed)) == ("From 9 to 5.", 1)


async def test_a_number_that_is_closed_to_customers_tells_a_stranger_once(waha: Start[Number]) -> None:
    async with waha(waha_customers=False) as here:
        account = here.bridge.account
        said, code = account.message(ANN, "Hello?"), account.message("4916000000000@c.us", "CDFH-JKMN")
        for kind in ("message", "message.any", "message"):
            for one in (said, code):
                assert await here.bridge.push(account.event(one, kind)) == 200
        await here.bridge.until(2)
        await here.quiet()
        [told] = here.bridge.texts(ANN)
        assert "private" in told
        assert [text[:23] for text in here.bridge.texts("4916000000000@c.us")] == ["This code opens nothing"]
        assert await here.stored("Hello?") == []
