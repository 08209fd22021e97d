"""Who is let in: people we know, those on the owner's lists, customers where they may, whoever has a pairing code."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from laneway.channels.codes import KNOWN_ALREADY, NO_CODE, NOT_IN_GROUPS, TOO_MANY
from laneway.channels.intake import Intake, Limits
from laneway.channels.opened import welcome
from laneway.channels.people import NOT_YOURS, PRIVATE, Admitted, Paired, Refused, Welcome
from laneway.domain.conversation import PULLED, Incoming, Role
from laneway.errors import BadInput, Conflict
from laneway.settings import Settings
from laneway.store import conversations, notices, people
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate, written

OPEN = Welcome(customers=True)
NOTHING_STORED = ("messages", "threads", "jobs", "arrivals", "addresses", "outbox", "events")


async def stored(here: Gate) -> dict[str, int]:
    return {table: (await here.rows(f"SELECT count(*) FROM {table}"))[0][0] for table in NOTHING_STORED}


async def test_of_a_stranger_only_the_knock_is_kept_and_it_is_told_once_an_hour_how_to_get_in(db: Database) -> None:
    here = await gate(db)
    before = await stored(here)
    for user, name in (("7", "Adam"), ("8", "  Eve\u202e \x00\n" + "x" * 200)):
        first = await here.take("rm -rf /", user, name=name)
        assert (first.outcome, first.say) == ("refused", PRIVATE)
    for _ in range(3):
        assert (await here.take("let me in", name="Adam")).say == ""
    assert await stored(here) == before
    assert await here.rows("SELECT address, name, knocks FROM strangers ORDER BY address") == [
        ("telegram:7", "Adam", 4), ("telegram:8", "Eve " + "x" * 76, 1),
    ]  # fmt: skip
    await here.rows("UPDATE strangers SET told_at = told_at - interval '61 minutes'")
    assert (await here.take("hello?")).say == PRIVATE
    assert (await here.take("hello??")).say == ""


async def test_strangers_become_customers_only_where_the_owner_says_so(db: Database, tmp_path: Path) -> None:
    channels = ("telegram", "whatsapp", "waha")
    here = await gate(db, None, **welcome(Settings(home=tmp_path)))
    for channel in channels:
        assert (await here.take("hello", "7", channel=channel)).outcome == "refused", channel
    said_so = Settings.model_validate({"home": tmp_path} | {f"{channel}_customers": True for channel in channels})
    here = await gate(db, None, **welcome(said_so))
    for channel in channels:
        assert (await here.take("hello", "7", channel=channel)).outcome == "taken", channel


async def test_a_stranger_in_a_group_or_at_a_button_is_not_told(db: Database) -> None:
    here = await gate(db)
    assert await here.admit("hello", thread="-100") == Refused("")
    assert await here.admit("hello", silent=True) == Refused("")
    assert await here.admit("", press="a:1") == Refused(NOT_YOURS)
    # None of that was telling, so the first private message is answered.
    assert await here.admit("hello") == Refused(PRIVATE)


async def test_the_owners_list_leads_to_the_one_owner_on_every_channel(db: Database) -> None:
    here = await gate(
        db,
        telegram=Welcome(owners=frozenset({"7"})),
        whatsapp=Welcome(owners=frozenset({"+49 151 1234"})),
        waha=Welcome(owners=frozenset({"491511234"})),
    )
    assert await here.admit(user="7") == Admitted(here.owner)
    assert await here.admit(channel="whatsapp", user="491511234", thread=None) == Admitted(here.owner)
    assert await here.admit(channel="waha", user="491511234@c.us", thread=None) == Admitted(here.owner)
    assert await here.admit(channel="waha", user="491511234@lid", thread=None) == Refused(PRIVATE)
    owner = await here.person("telegram:7")
    assert {one["address"] for one in owner.addresses} == {
        "telegram:7", "whatsapp:491511234", "waha:491511234@c.us",
    }  # fmt: skip


async def test_ten_first_messages_at_once_make_one_customer_of_this_channel_alone(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    found = await asyncio.gather(*(here.admit(f"hi {n}", name="Ann\u200b") for n in range(10)))
    principals_found = {one.principal for one in found if isinstance(one, Admitted)}
    assert len(found) == 10
    assert [(one.role, one.name) for one in principals_found] == [(Role.CUSTOMER, "Ann")]
    assert (await here.rows("SELECT count(*) FROM principals WHERE role = 'customer'"))[0][0] == 1
    assert await here.admit(channel="whatsapp", thread=None) == Refused(PRIVATE)


async def test_two_people_are_never_made_one_and_the_owner_is_told_once(db: Database) -> None:
    here = await gate(db, whatsapp=OPEN, telegram=Welcome(owners=frozenset({"1"})))
    await here.take("hello", "1")
    phone = await here.admit(channel="whatsapp", user="49151", name="Ann [bank](http://evil.example)", thread=None)
    other = await here.admit(channel="whatsapp", user="DE.ab", name="A. Lee", thread=None)
    for _ in range(3):
        both = await here.admit(channel="whatsapp", user="DE.ab", also=("49151",), thread=None)
        assert both == other != phone
    assert (await here.person("whatsapp:49151")).name.startswith("Ann")
    [(body,)] = await here.rows("SELECT body FROM events WHERE kind = 'principal.two'")
    assert body["addresses"] == ["whatsapp:DE.ab", "whatsapp:49151"]
    [(told,)] = await here.rows("SELECT text FROM messages WHERE meta->>'notice' = 'principal.two'")
    assert "whatsapp:DE.ab (A. Lee) and whatsapp:49151 (Ann bank http://evil.example) are one person" in told


async def test_nothing_comes_from_somebody_blocked_by_any_address(db: Database) -> None:
    here = await gate(db, whatsapp=Welcome(customers=True, owners=frozenset({"49151"})))
    await here.rows("DELETE FROM strangers")
    async with db.transaction() as tx:
        ann = await people.allow(tx, "whatsapp:49151", Role.CUSTOMER, "Ann")
        await people.block(tx, ann.id, here.owner)
    code = await here.code()
    before = await stored(here)
    for text in ("hello", code, "/stop"):
        assert (await here.take(text, "49151", channel="whatsapp", thread=None)).say == ""
        assert await here.admit(text, "DE.ab", channel="whatsapp", also=("49151",), thread=None) == Refused("")
    assert await here.admit("", "49151", channel="whatsapp", press="a:1", thread=None) == Refused("")
    assert await stored(here) == before
    async with db.transaction() as tx:
        await people.unblock(tx, ann.id, here.owner)
    assert isinstance(await here.admit("hi", "49151", channel="whatsapp", thread=None), Admitted)


async def test_a_customer_whose_number_is_put_on_the_owners_list_is_the_owner_and_begins_anew(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    asked = await here.take("what do you charge?")
    assert asked.receipt is not None
    later = await gate(db, telegram=Welcome(customers=True, owners=frozenset({"7"})))
    assert await later.admit() == Admitted(here.owner)
    taken = await later.take("restart web1")
    assert taken.outcome == "taken"
    async with db.transaction() as tx:
        thread = await conversations.thread_on(tx, "telegram", "7")
        assert thread is not None
        assert (thread.world, thread.principal_id) == ("owner", here.owner.id)
        assert taken.receipt is not None
        trigger = await conversations.message(tx, taken.receipt.message_id)
        assert trigger is not None
        assert [one.text for one in await conversations.history(tx, trigger, 10)] == ["restart web1"]
    [(status,)] = await here.rows("SELECT status FROM jobs WHERE id = %s", asked.receipt.job_id)
    assert status == "cancelled"


async def test_two_customers_never_share_a_thread_and_none_speaks_in_groups(db: Database) -> None:
    here = await gate(db, telegram=Welcome(customers=True, owners=frozenset({"1"})), whatsapp=OPEN)
    await here.take("we are all here", "1", thread="-100")
    for user in ("7", "8"):
        assert (await here.take("mine", user)).outcome == "taken"
        assert (await here.take("mine", user, channel="whatsapp", thread=None)).outcome == "taken"
        assert (await here.take("ours", user, thread="-100")).outcome == "refused"
        assert (await here.take("another's", user, thread="8" if user == "7" else "7")).outcome == "refused"
    rows = await here.rows(
        "SELECT t.id, count(DISTINCT m.principal_id) FROM threads t JOIN messages m ON m.thread_id = t.id "
        "WHERE m.author = 'user' GROUP BY t.id"
    )
    assert [count for _, count in rows] == [1] * 5


async def test_notices_for_the_owner_are_read_by_nobody_else(db: Database) -> None:
    here = await gate(db, telegram=Welcome(owners=frozenset({"7", "9"})))
    await here.take("hello", "9")
    await here.take("hello", "7")
    await here.take("hello", "7", thread="-100/4")

    async def told() -> str:
        async with db.transaction() as tx:
            thread = await notices.owners_thread(tx, PULLED)
            found = None if thread is None else await conversations.thread(tx, thread)
            return "" if found is None else found.external_id

    assert await told() == "7", "not in the group, where others read along"
    async with db.transaction() as tx:
        await people.forget(tx, "telegram:7", here.owner)
    assert await told() == "9", "not on a device that is the owner's no more"


async def test_whoever_was_taken_just_now_is_not_once_blocked_and_what_was_being_done_is_stopped(db: Database) -> None:
    here = await gate(db, telegram=Welcome(customers=True))
    mine, others = await here.take("hello"), await here.take("hello", "8")
    assert (await here.take("and again")).outcome == "taken"
    person = await here.person("telegram:7")
    async with db.transaction() as tx:
        await people.block(tx, person.id, here.owner)
    assert (await here.take("still here?")).outcome == "refused"
    for taken, status in ((mine, "cancelled"), (others, "queued")):
        assert taken.receipt is not None
        assert await here.rows("SELECT status FROM jobs WHERE id = %s", taken.receipt.job_id) == [(status,)]
    async with db.transaction() as tx:
        await people.unblock(tx, person.id, here.owner)
    assert (await here.take("thanks")).outcome == "taken"
    in_group = await here.take("in a group", thread="-100")
    assert in_group.outcome == "refused", "a customer who is known is none in a group"


async def test_nobody_can_send_what_is_ours_to_set(db: Database) -> None:
    here = await gate(db)
    intake = Intake(db, ["workflow"], Limits(1000, 0))
    for key in ("workflow_run", "offer", "node_of", "command"):
        with pytest.raises(BadInput, match="ours to set"):
            await intake.receive(Incoming("http", "t", "1", "go", here.owner, lane="workflow", payload={key: "x"}))


WRONG = "2345-2345"


async def count(here: Gate, table: str) -> int:
    return int((await here.rows(f"SELECT count(*) FROM {table}"))[0][0])


async def test_a_code_makes_a_device_the_owners_once_however_often_it_comes_and_is_no_message(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    arrival = written((await here.code()).lower().replace("-", " "))
    taken = await asyncio.gather(*(here.door.take(arrival) for _ in range(5)))
    taken += [await here.door.take(arrival) for _ in range(3)]
    assert {one.outcome for one in taken} == {"paired"}
    assert taken[0].say == "Paired. I know you as the owner here, too."
    assert await here.admit() == Admitted(here.owner)
    assert await here.rows("SELECT author, text FROM messages") == [("assistant", taken[0].say)]
    assert [await count(here, table) for table in ("jobs", "arrivals")] == [0, 1]
    assert (await here.rows("SELECT count(*) FROM events WHERE kind = 'pairing.used'"))[0][0] == 1


async def test_a_code_is_good_for_one_hour_and_one_device_even_if_two_send_it_at_once(db: Database) -> None:
    here = await gate(db)
    code = await here.code()
    entries = await asyncio.gather(*(here.admit(code, user) for user in ("7", "8", "9")))
    assert sorted(type(one).__name__ for one in entries) == ["Paired", "Refused", "Refused"]
    assert await here.admit(code, "10") == Refused(NO_CODE)
    assert await count(here, "addresses") == 1
    late = await here.code()
    [(good,)] = await here.rows("SELECT extract(epoch FROM max(expires_at - created_at))::int FROM pairings")
    assert good == 3600
    await here.rows("UPDATE pairings SET expires_at = now() - interval '1 second'")
    assert await here.admit(late, "11") == Refused(NO_CODE)


async def test_five_wrong_tries_end_the_open_codes_and_the_owner_is_told(db: Database) -> None:
    here = await gate(db, telegram=Welcome(owners=frozenset({"1"})))
    await here.take("hello", "1")
    code = await here.code()
    for number in range(4):
        assert await here.admit(WRONG, str(100 + number)) == Refused(NO_CODE)
    [(left,)] = await here.rows("SELECT tries_left FROM pairings")
    assert left == 1
    assert await here.admit(WRONG, "104") == Refused(NO_CODE)
    assert await here.admit(code) == Refused(NO_CODE)
    [(told,)] = await here.rows("SELECT text FROM messages WHERE meta->>'notice' = 'pairing.ended'")
    assert told.startswith("A pairing code is void: 5 tries were wrong, the last one from telegram:104.")
    assert isinstance(await here.admit(await here.code()), Paired)


async def test_many_strangers_at_once_have_five_tries_together(db: Database) -> None:
    here = await gate(db)
    for _ in range(4):
        await here.code()
    code = await here.code()
    with pytest.raises(Conflict, match="5 codes are open"):
        await here.code()
    guesses = [f"{2222 + number}-2222".replace("0", "9").replace("1", "9") for number in range(16)]
    found = await asyncio.gather(*(here.admit(guess, f"{200 + n}") for n, guess in enumerate(guesses)))
    assert set(found) == {Refused(NO_CODE)}
    assert await here.rows("SELECT DISTINCT tries_left FROM pairings") == [(0,)]
    assert await here.admit(code) == Refused(NO_CODE)


async def test_each_stranger_has_five_tries_an_hour_and_one_delivered_again_is_the_same_try(db: Database) -> None:
    here = await gate(db)
    arrival = written(WRONG)
    await asyncio.gather(*(here.door.take(arrival) for _ in range(5)))
    assert await here.rows("SELECT tries FROM strangers") == [(1,)]
    for _ in range(4):
        assert await here.admit(WRONG) == Refused(NO_CODE)
    code = await here.code()
    assert await here.admit(code) == Refused(TOO_MANY)
    assert await here.admit(code) == Refused("")
    assert await here.rows("SELECT tries_left, used_at FROM pairings") == [(5, None)]
    await here.rows("UPDATE strangers SET tried_at = tried_at - interval '61 minutes'")
    assert isinstance(await here.admit(code), Paired)


async def test_a_code_in_a_group_is_not_taken_and_is_void(db: Database) -> None:
    here = await gate(db, telegram=Welcome(owners=frozenset({"1"}), customers=True))
    await here.admit(user="1")
    for user in ("7", "1"):
        code = await here.code()
        assert await here.admit(code, user, thread="-100") == Refused(NOT_IN_GROUPS)
        assert not isinstance(await here.admit(code, "8"), Paired)
    assert await here.admit(WRONG, "9", thread="-100") == Refused("")


async def test_a_code_is_nowhere_to_be_found(db: Database, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    here = await gate(db, telegram=OPEN)
    codes = [await here.code() for _ in range(3)]
    await here.take(codes[0], "7")
    await here.take(codes[1], "8", thread="-100")
    await here.take(codes[2], "7")
    tables = await here.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    everything = caplog.text
    for (table,) in tables:
        everything += "\n".join(str(row) for row in await here.rows(f"SELECT * FROM {table}"))
    assert "pairing.used" in everything
    for code in codes:
        assert code not in everything
        assert code.replace("-", "") not in everything.upper()


async def test_an_operator_is_joined_by_the_name_the_owner_gave_and_by_no_other(db: Database) -> None:
    here = await gate(db)
    first = await here.admit(await here.code(Role.OPERATOR, "Bob"), "7")
    second = await here.admit(await here.code(Role.OPERATOR, "Bob"), "8")
    third = await here.admit(await here.code(Role.OPERATOR), "9", name="Bob")
    assert isinstance(first, Paired)
    assert first.say == "Paired. I know you as Bob, an operator."
    assert first == second
    assert isinstance(third, Paired)
    assert third.principal.id != first.principal.id
    customers = [await here.admit(await here.code(Role.CUSTOMER, "Ann"), user) for user in ("10", "11")]
    assert len({one.principal.id for one in customers if isinstance(one, Paired)}) == 2


async def test_the_number_of_an_order_is_an_ordinary_message_of_a_customer_and_still_a_try(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    assert (await here.take("23456789", id="first")).outcome == "taken"
    await here.code()
    assert (await here.take("34567892")).outcome == "taken"
    assert (await here.take("23456789", id="first")).outcome == "duplicate"
    assert await here.rows("SELECT tries_left FROM pairings") == [(4,)]
    assert await here.admit(WRONG, "8") == Refused(NO_CODE)


async def test_a_code_that_its_owner_sends_is_no_order_and_still_good(db: Database) -> None:
    here = await gate(db, telegram=Welcome(owners=frozenset({"1"})))
    code = await here.code(Role.OPERATOR, "Bob")
    assert await here.admit(user="1") == Admitted(here.owner)
    assert await here.admit(code, "1") == Refused(KNOWN_ALREADY)
    assert isinstance(await here.admit(code, "7"), Paired)
    assert await here.admit(code, "1") == Refused(KNOWN_ALREADY)
    # A number of that shape is no code, and the owner's to send.
    assert await here.admit(WRONG, "1") == Admitted(here.owner)


async def test_a_code_takes_nobody_down_and_no_address_that_is_somebody_elses(db: Database) -> None:
    here = await gate(db, whatsapp=OPEN)
    async with db.transaction() as tx:
        await people.allow(tx, "whatsapp:49151", Role.OPERATOR, "Bob")
    code = await here.code(Role.CUSTOMER, "Ann")
    assert await here.admit(code, "49151", channel="whatsapp", thread=None) == Refused(KNOWN_ALREADY)
    await here.admit("hello", "DE.ab", channel="whatsapp", thread=None)
    entry = await here.admit(await here.code(), "DE.ab", channel="whatsapp", also=("49151",), thread=None)
    assert isinstance(entry, Paired)
    assert (await here.person("whatsapp:49151")).name == "Bob"
    assert (await here.person("whatsapp:DE.ab")).role is Role.OWNER
