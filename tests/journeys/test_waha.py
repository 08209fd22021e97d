"""A WhatsApp bridge from end to end: what people write to the number is answered there, in their own way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from laneway.domain.conversation import PULLED, Role
from laneway.errors import SettingsError
from laneway.llm.scripted import Call
from laneway.store import conversations, outbox, principals
from laneway.store.database import Database
from tests.journeys.tooling import Counter, calls
from tests.journeys.waha_number import ANN, ANNS_LID, GROUP, OWNER, answers, number
from tests.servers.waha_people import Account
from tests.servers.waha_server import WahaServer
from tests.serving import scripted, serving


@pytest.fixture
def bridge() -> Iterator[WahaServer]:
    with WahaServer() as running:
        yield running


async def test_a_customers_question_is_answered_in_their_chat(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, answers()) as here:
        assert await here.says(ANN, "When are you open?") == 200
        await bridge.until(1)
        assert bridge.texts(ANN) == ["From 9 to 5."]
        verbs = [one.path.rpartition("/")[2] for one in bridge.asked if one.method == "POST"]
        assert verbs == ["sendSeen", "startTyping", "stopTyping", "sendText"]
        assert "reply_to" not in bridge.sent[0], "between two people an answer quotes nothing"


async def test_nobody_gets_in_without_the_right_signature(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
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


async def test_a_hidden_sender_is_known_by_number_and_answered(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    bridge.account.lids[ANNS_LID] = ANN
    async with number(bridge, database_url, tmp_path, answers()) as here:
        await here.says(ANNS_LID, "Are you there?")
        await bridge.until(1)
        await here.says(ANN, "Still there?")
        await bridge.until(2)
        assert [one["chatId"] for one in bridge.sent] == [ANN, ANN]
        threads = {one["thread_id"] for text in ("Are you there?", "Still there?") for one in await here.stored(text)}
        assert len(threads) == 1, "one person, one thread, whichever id the bridge used"
        assert (await here.state())["lids"] == 1


async def test_a_hidden_sender_without_a_number_is_answered_at_the_hidden_id(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    bridge.account.lids["999999999@lid"] = ANN
    async with number(bridge, database_url, tmp_path, answers()) as here:
        await here.says("777777777777@lid", "Hello?")
        await bridge.until(1)
        assert bridge.sent[0]["chatId"] == "777777777777@lid"


async def test_own_messages_statuses_and_channels_are_dropped(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        ours = bridge.account.sent(ANN, "From 9 to 5.", "3EB0A1B2C3D4E5F60718")
        assert await bridge.push(bridge.account.event(ours, "message.any")) == 200
        for chat in ("status@broadcast", "120363@newsletter"):
            assert await here.says(ANN, "Look at me", chat=chat) == 200
        other = bridge.account.event(Account().message(ANN, "For sales"), session="sales")
        assert await bridge.push(other) == 200
        await here.quiet(0.1)
        assert await here.messages() == []
        assert bridge.sent == []


async def test_the_owner_approves_by_typing_yes(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}), then="Pressed.")
    async with number(bridge, database_url, tmp_path, script, counter.entry(asks=True)) as here:
        await here.says(OWNER, "restart the server")
        await bridge.until(1)
        assert "May I do this?" in bridge.sent[0]["text"]
        assert "yes, no or always" in bridge.sent[0]["text"]
        assert counter.done == []
        await asyncio.sleep(1.2)
        await here.says(OWNER, "yes")
        await bridge.until(3)
        assert sorted(bridge.texts(OWNER)[1:]) == ["Pressed.", "Understood."]
        assert counter.done == ["red"]


async def test_the_message_of_the_seed_is_taken_at_the_same_door(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, answers("On Monday at nine?")) as here:
        said = {
            "chatId": "85260552717@c.us", "id": "msg_123", "body": "I want to book an appointment", "fromMe": False,
        }  # fmt: skip
        assert await bridge.push(said, key="wrong") == 401
        assert [await bridge.push(said) for _ in range(3)] == [200, 200, 200]
        assert await bridge.push(said | {"fromMe": True, "id": "msg_124"}) == 200
        await here.quiet()
        assert bridge.texts("85260552717@c.us") == ["On Monday at nine?"]


async def test_a_group_is_answered_only_when_it_asks_us(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        await here.says(OWNER, "lunch at one?", chat=GROUP)
        await here.quiet(0.3)
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
        await here.quiet(0)
        mine = answer["id"].rpartition("_")[2]
        await here.says(OWNER, "and now?", chat=GROUP, replyTo={"id": mine, "body": "..."})
        await bridge.until(2)


async def test_a_file_is_fetched_from_the_bridge_whatever_address_it_names(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        with WahaServer() as evil:
            told = bridge.account.file("list.txt", "text/plain", b"buy milk", evil.url)
            assert await here.says(ANN, "my list", hasMedia=True, media=told) == 200
            await here.quiet()
            assert evil.asked == [], "only the bridge is asked"
        [message] = await here.stored("my list")
        shown = (await here.http.get(f"/messages/{message['id']}")).json()
        [file] = shown["attachments"]
        assert file["meta"]["source"] == {"path": "/api/files/default/list.txt"}
        assert "buy milk" in file["preview"]
        [fetched] = [one for one in bridge.asked if one.path == "/api/files/default/list.txt"]
        assert fetched.key == bridge.api_key


async def test_an_edited_question_is_answered_as_it_stands_now(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        first = bridge.account.message(ANN, "Open on Sunday?")
        await bridge.push(bridge.account.event(first))
        await bridge.until(1)
        edit = bridge.account.message(ANN, "Open on Monday?", editedMessageId=first["id"].rpartition("_")[2])
        event = bridge.account.event(edit, "message.edited")
        assert [await bridge.push(event) for _ in range(3)] == [200, 200, 200]
        await here.quiet()
        assert [text.split("\n")[0] for text in bridge.texts(ANN)] == [
            "You said: Open on Sunday?",
            "You said: Open on Monday?",
        ]


async def test_a_deleted_question_is_no_longer_worked_on(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    script = calls(Call("press", {"button": "red"}))
    async with number(bridge, database_url, tmp_path, script, counter.entry(asks=True)) as here:
        said = bridge.account.message(OWNER, "restart the server")
        await bridge.push(bridge.account.event(said))
        await bridge.until(1)
        gone = {"after": said, "before": None, "revokedMessageId": said["id"].rpartition("_")[2]}
        assert await bridge.push(bridge.account.event(gone, "message.revoked")) == 200

        async def cancelled() -> bool:
            return bool((await here.figures())["jobs"].get("cancelled", 0) == 1)

        await here.until(cancelled)
        assert counter.done == []


async def test_a_long_answer_comes_in_parts_whatsapp_takes(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    lines = "\n".join(f"line {number} of the code" for number in range(400))
    async with number(bridge, database_url, tmp_path, answers(f"Here:\n```\n{lines}\n```\nThat is **all**.")) as here:
        await here.says(ANN, "Show me the code")
        await here.quiet()
        texts = bridge.texts(ANN)
        assert len(texts) == 3
        assert max(map(len, texts)) <= 4096
        assert all(text.count("```") % 2 == 0 for text in texts), "no code block is left open"
        assert texts[-1].endswith("That is *all*.")
        said = "\n".join(texts).replace("```\n", "").replace("\n```", "")
        assert [line for line in said.splitlines() if line.startswith("line ")] == lines.splitlines()


async def test_nobody_is_written_to_who_did_not_write_first(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
        db = Database(database_url)
        await db.open()
        async with db.transaction() as tx:
            bob = await principals.by_address(tx, "waha:4916000000000@c.us", Role.CUSTOMER, "Bob")
            thread = await conversations.ensure_thread(tx, "waha", str(bob.id), bob)
            await outbox.write(tx, thread.id, "Buy now!", external_id="ad", pulled=PULLED, meta={})
        await db.close()

        async def given_up() -> bool:
            rows = (await here.http.get("/outbox", params={"state": "undeliverable"})).json()["items"]
            return bool(rows) and "first contact is the customer's" in rows[0]["error"]

        await here.until(given_up)
        assert bridge.sent == []


async def test_the_settings_are_enough_and_a_key_for_signatures_is_needed(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    keys = {"waha_url": bridge.url, "waha_key": SecretStr(bridge.api_key)}
    with pytest.raises(SettingsError, match="WAHA_HMAC_KEY"):
        async with serving(database_url, tmp_path, scripted(answers()), **keys):
            pass
    signed = {"waha_hmac_key": SecretStr(bridge.hmac_key)}
    async with serving(database_url, tmp_path, scripted(answers()), **keys, **signed) as served:
        bridge.hook = f"{served.url}/waha/webhook"
        said = bridge.account.message(ANN, "When are you open?")
        assert await bridge.push(bridge.account.event(said)) == 200
        [sent] = await bridge.until(1)
        typed = [one for one in bridge.asked if one.path == "/api/startTyping"]
        assert (sent["text"], len(typed)) == ("From 9 to 5.", 1)


async def test_without_a_bridge_the_door_is_shut(database_url: str, tmp_path: Path) -> None:
    async with serving(database_url, tmp_path, scripted()) as served, httpx.AsyncClient(timeout=30) as http:
        assert (await http.post(f"{served.url}/waha/webhook", json={})).status_code == 404


async def test_a_number_that_is_closed_to_customers_tells_a_stranger_once(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path, waha_customers=False) as here:
        said = bridge.account.message(ANN, "Hello?")
        for kind in ("message", "message.any", "message"):
            assert await bridge.push(bridge.account.event(said, kind)) == 200
        await here.quiet(0.2)
        assert len(bridge.texts(ANN)) == 1
        assert "private" in bridge.texts(ANN)[0]
        assert await here.stored("Hello?") == []


async def test_a_message_that_no_database_can_hold_is_stored_all_the_same(
    bridge: WahaServer, database_url: str, tmp_path: Path
) -> None:
    async with number(bridge, database_url, tmp_path) as here:
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


async def test_a_stranger_is_told_that_a_code_is_wrong(bridge: WahaServer, database_url: str, tmp_path: Path) -> None:
    async with number(bridge, database_url, tmp_path, waha_customers=False) as here:
        event = bridge.account.event(bridge.account.message(ANN, "CDFH-JKMN"))
        assert [await bridge.push(event) for _ in range(3)] == [200, 200, 200]
        await bridge.until(1)
        await here.quiet(0.1)
        assert [text[:23] for text in bridge.texts(ANN)] == ["This code opens nothing"]
