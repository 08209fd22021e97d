"""Pairing codes through the door: one use, one hour, five wrong tries, never a message, never on record."""

from __future__ import annotations

import asyncio
import logging

import pytest

from laneway.channels.codes import KNOWN_ALREADY, NO_CODE, NOT_IN_GROUPS, TOO_MANY
from laneway.channels.people import Admitted, Paired, Refused, Welcome
from laneway.domain.conversation import Role
from laneway.errors import Conflict
from laneway.store import people
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate, written

OPEN = Welcome(customers=True)
WRONG = "2345-2345"


async def count(here: Gate, table: str) -> int:
    return int((await here.rows(f"SELECT count(*) FROM {table}"))[0][0])


async def test_a_code_makes_a_device_the_owners_and_is_no_message(db: Database) -> None:
    here = await gate(db)
    code = await here.code()
    taken = await here.take(code.lower().replace("-", " "))
    assert (taken.outcome, taken.say) == ("paired", "Paired. I know you as the owner here, too.")
    assert await here.admit() == Admitted(here.owner)
    assert await count(here, "jobs") == 0
    assert await here.rows("SELECT author, text FROM messages") == [("assistant", taken.say)]


async def test_a_code_that_is_delivered_again_and_again_pairs_once_and_never_becomes_a_job(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    arrival = written(await here.code())
    taken = await asyncio.gather(*(here.door.take(arrival) for _ in range(5)))
    taken += [await here.door.take(arrival) for _ in range(3)]
    assert {one.outcome for one in taken} == {"paired"}
    assert await count(here, "messages") == 1
    assert await count(here, "jobs") == 0
    assert await count(here, "arrivals") == 1
    assert (await here.rows("SELECT count(*) FROM events WHERE kind = 'pairing.used'"))[0][0] == 1


async def test_a_code_is_good_for_one_device_even_if_two_send_it_at_once(db: Database) -> None:
    here = await gate(db)
    code = await here.code()
    entries = await asyncio.gather(*(here.admit(code, user) for user in ("7", "8", "9")))
    assert sorted(type(one).__name__ for one in entries) == ["Paired", "Refused", "Refused"]
    assert await here.admit(code, "10") == Refused(NO_CODE)
    assert await count(here, "addresses") == 1


async def test_a_code_is_good_for_one_hour(db: Database) -> None:
    here = await gate(db)
    code = await here.code()
    [(good,)] = await here.rows("SELECT extract(epoch FROM expires_at - created_at)::int FROM pairings")
    assert good == 3600
    await here.rows("UPDATE pairings SET expires_at = now() - interval '1 second'")
    assert await here.admit(code) == Refused(NO_CODE)


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


async def test_fifty_strangers_at_once_have_five_tries_together(db: Database) -> None:
    here = await gate(db)
    code = await here.code()
    guesses = [f"{2222 + number}-2222".replace("0", "9").replace("1", "9") for number in range(50)]
    found = await asyncio.gather(*(here.admit(guess, f"{200 + n}") for n, guess in enumerate(guesses)))
    assert set(found) == {Refused(NO_CODE)}
    assert await here.rows("SELECT tries_left FROM pairings") == [(0,)]
    assert await here.admit(code) == Refused(NO_CODE)


async def test_each_stranger_has_five_tries_an_hour(db: Database) -> None:
    here = await gate(db)
    for _ in range(5):
        assert await here.admit(WRONG) == Refused(NO_CODE)
    code = await here.code()
    assert await here.admit(code) == Refused(TOO_MANY)
    assert await here.admit(code) == Refused("")
    assert await here.rows("SELECT tries_left, used_at FROM pairings") == [(5, None)]
    await here.rows("UPDATE strangers SET tried_at = tried_at - interval '61 minutes'")
    assert isinstance(await here.admit(code), Paired)


async def test_a_wrong_code_that_is_delivered_five_times_is_one_try(db: Database) -> None:
    here = await gate(db)
    await here.code()
    arrival = written(WRONG)
    await asyncio.gather(*(here.door.take(arrival) for _ in range(5)))
    assert await here.rows("SELECT tries_left FROM pairings") == [(4,)]
    assert await here.rows("SELECT tries FROM strangers") == [(1,)]


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


async def test_a_customer_with_the_owners_code_is_the_owner_and_begins_anew(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    assert (await here.take("hello")).outcome == "taken"
    taken = await here.take(await here.code())
    assert taken.outcome == "paired"
    assert (await here.take("restart web1")).outcome == "taken"
    assert (await here.person("telegram:7")).role is Role.OWNER
    [(world, cut)] = await here.rows(
        "SELECT world, context_from >= (SELECT min(seq) FROM messages) FROM threads WHERE external_id = '7'"
    )
    assert (world, cut) == ("owner", True)


async def test_the_number_of_an_order_is_an_ordinary_message_of_a_customer_and_still_a_try(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    assert (await here.take("23456789", id="first")).outcome == "taken"
    await here.code()
    assert (await here.take("34567892")).outcome == "taken"
    assert (await here.take("23456789", id="first")).outcome == "duplicate"
    assert await here.rows("SELECT tries_left FROM pairings") == [(4,)]
    assert await here.admit(WRONG, "8") == Refused(NO_CODE)


async def test_a_code_that_its_owner_sends_is_no_order(db: Database) -> None:
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


async def test_only_five_codes_are_open_at_a_time(db: Database) -> None:
    here = await gate(db)
    for _ in range(5):
        await here.code()
    with pytest.raises(Conflict, match="5 codes are open"):
        await here.code()
