"""Who is let in: those we know, those on the owner's lists, customers where they may, and nobody else."""

from __future__ import annotations

import asyncio

from laneway.channels.people import NOT_YOURS, PRIVATE, Admitted, Refused, Welcome
from laneway.domain.conversation import PULLED, Role
from laneway.domain.judgement import ApprovalState
from laneway.store import conversations, notices, people, principals
from laneway.store.database import Database
from tests.channels.arriving import Gate, gate

OPEN = Welcome(customers=True)
NOTHING_STORED = ("messages", "threads", "jobs", "arrivals", "addresses", "outbox", "events")


async def stored(here: Gate) -> dict[str, int]:
    return {table: (await here.rows(f"SELECT count(*) FROM {table}"))[0][0] for table in NOTHING_STORED}


async def role_of(here: Gate, address: str) -> Role:
    return (await here.person(address)).role


async def test_of_a_stranger_only_the_knock_is_kept_and_it_is_told_once_an_hour_how_to_get_in(db: Database) -> None:
    here = await gate(db)
    before = await stored(here)
    assert await here.take("rm -rf /", name="  Eve\u202e \x00") == (await here.take("hello", "8"))
    for _ in range(3):
        assert (await here.take("let me in")).say == ""
    assert await stored(here) == before
    assert await here.rows("SELECT address, name, knocks FROM strangers ORDER BY address") == [
        ("telegram:7", "User 7", 4), ("telegram:8", "User 8", 1),
    ]  # fmt: skip
    await here.rows("UPDATE strangers SET told_at = told_at - interval '61 minutes'")
    again = await here.take("hello?")
    assert (again.outcome, again.say) == ("refused", PRIVATE)
    assert (await here.take("hello??")).say == ""


async def test_a_strangers_name_is_cleaned(db: Database) -> None:
    here = await gate(db)
    await here.admit(name="  Eve\u202e \x00\n" + "x" * 200)
    [(name,)] = await here.rows("SELECT name FROM strangers")
    assert name == "Eve " + "x" * 76


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


async def test_operators_on_the_list_are_people_of_their_own_whatever_they_call_themselves(db: Database) -> None:
    here = await gate(db, telegram=Welcome(operators=frozenset({"7", "8"})))
    first, second = await here.admit(user="7", name="Bob"), await here.admit(user="8", name="Bob")
    assert isinstance(first, Admitted)
    assert isinstance(second, Admitted)
    assert (first.principal.role, first.principal.name) == (Role.OPERATOR, "Bob")
    assert first.principal.id != second.principal.id
    assert await here.admit(user="9", name="Bob") == Refused(PRIVATE)


async def test_ten_first_messages_at_once_make_one_customer(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    found = await asyncio.gather(*(here.admit(f"hi {n}", name="Ann\u200b") for n in range(10)))
    principals_found = {one.principal for one in found if isinstance(one, Admitted)}
    assert len(found) == 10
    assert [(one.role, one.name) for one in principals_found] == [(Role.CUSTOMER, "Ann")]
    assert (await here.rows("SELECT count(*) FROM principals WHERE role = 'customer'"))[0][0] == 1


async def test_a_channel_that_is_open_lets_nobody_in_by_another(db: Database) -> None:
    here = await gate(db, whatsapp=OPEN)
    assert isinstance(await here.admit(channel="whatsapp", thread=None), Admitted)
    assert await here.admit() == Refused(PRIVATE)


async def test_that_somebody_was_seen_is_noted_once_a_minute_and_at_once_for_another_address(db: Database) -> None:
    here = await gate(db, whatsapp=OPEN)
    await here.admit(channel="whatsapp", user="49151", also=("DE.ab",), thread=None)

    async def newest() -> list[str]:
        return [one["address"] for one in (await here.person("whatsapp:49151")).addresses]

    async def versions() -> list[object]:
        return [row[0] for row in await here.rows("SELECT xmin::text FROM addresses ORDER BY address")]

    assert await newest() == ["whatsapp:49151", "whatsapp:DE.ab"]
    before = await versions()
    await here.admit(channel="whatsapp", user="49151", also=("DE.ab",), thread=None)
    assert await versions() == before
    await here.admit(channel="whatsapp", user="DE.ab", thread=None)
    assert await newest() == ["whatsapp:DE.ab", "whatsapp:49151"]
    await here.rows("UPDATE addresses SET seen_at = seen_at - interval '2 minutes'")
    before = await versions()
    await here.admit(channel="whatsapp", user="DE.ab", thread=None)
    assert await versions() != before


async def test_addresses_the_provider_vouches_for_become_one_persons(db: Database) -> None:
    here = await gate(db, whatsapp=OPEN)
    first = await here.admit(channel="whatsapp", user="49151", thread=None)
    second = await here.admit(channel="whatsapp", user="DE.ab", also=("49151",), thread=None)
    third = await here.admit(channel="whatsapp", user="DE.ab", thread=None)
    assert first == second == third


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


async def test_what_was_being_done_for_somebody_blocked_is_stopped(db: Database) -> None:
    here = await gate(db, telegram=OPEN)
    mine, others = await here.take("hello", "7"), await here.take("hello", "8")
    async with db.transaction() as tx:
        await people.block(tx, (await here.person("telegram:7")).id, here.owner)
    for taken, status in ((mine, "cancelled"), (others, "queued")):
        assert taken.receipt is not None
        assert await here.rows("SELECT status FROM jobs WHERE id = %s", taken.receipt.job_id) == [(status,)]


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


async def test_a_customer_cannot_answer_the_owners_question_typed_or_pressed(db: Database) -> None:
    here = await gate(db, telegram=Welcome(customers=True, owners=frozenset({"1"})))
    await here.take("hello", "7")
    for thread in ("1", "-100"):
        asked = await here.take("restart web1", "1", thread=thread)
        assert asked.receipt is not None
        approval = await here.asked(asked.receipt.job_id, asked.receipt.thread_id)
        for more in ({"text": "yes"}, {"text": "", "press": f"a:{approval}"}, {"text": "", "press": f"w:{approval}"}):
            text = more.pop("text")
            await here.take(text, "7", thread=thread, **more)
            await here.take(text, "7", **more)
            await here.take(text, "9", thread=thread, **more)
        assert await here.rows("SELECT state FROM approvals WHERE id = %s", approval) == [(ApprovalState.PENDING,)]
        pressed = await here.take("", "1", thread=thread, press=f"a:{approval}")
        assert (pressed.outcome, pressed.say) == ("pressed", "Approved.")
    assert (await here.rows("SELECT count(*) FROM permissions"))[0][0] == 0


async def test_whoever_is_let_in_by_the_owner_is_known_with_the_role_given(db: Database) -> None:
    here = await gate(db)
    async with db.transaction() as tx:
        bob = await people.allow(tx, "telegram:7", Role.OPERATOR, "Bob")
        assert (await people.allow(tx, "whatsapp:49151", Role.OPERATOR, "Bob")).id == bob.id
        await people.allow(tx, "telegram:8", Role.CUSTOMER, "Bob")
        await people.allow(tx, "telegram:9", Role.OWNER, None)
    assert [await role_of(here, f"telegram:{n}") for n in (7, 8, 9)] == ["operator", "customer", "owner"]
    assert await here.admit(user="9") == Admitted(here.owner)
    async with db.transaction() as tx:
        assert (await principals.by_id(tx, bob.id)) == (await principals.at_address(tx, "telegram:7"))


async def test_a_group_that_speaks_for_itself_is_no_person_alone(db: Database) -> None:
    # Telegram sends what an administrator writes without a name as the group's own words.
    here = await gate(db, telegram=OPEN)
    code = await here.code()
    anonymous = {"user": "-100", "thread": "-100"}
    assert await here.admit("hello", **anonymous) == Refused("")
    refused = await here.admit(code, **anonymous)
    assert isinstance(refused, Refused)
    assert await here.rows("SELECT address FROM addresses WHERE address = 'telegram:-100'") == []
    assert isinstance(await here.admit(code, "8"), Refused | Admitted), "the code was seen by others, so it is void"
    assert await role_of(here, "telegram:8") is Role.CUSTOMER


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


async def test_whoever_was_taken_just_now_is_not_once_blocked_and_not_where_another_is_linked(db: Database) -> None:
    here = await gate(db, telegram=Welcome(customers=True))
    assert (await here.take("hello")).outcome == "taken"
    assert (await here.take("and again")).outcome == "taken"
    person = await here.person("telegram:7")
    async with db.transaction() as tx:
        await people.block(tx, person.id, here.owner)
    assert (await here.take("still here?")).outcome == "refused"
    async with db.transaction() as tx:
        await people.unblock(tx, person.id, here.owner)
    assert (await here.take("thanks")).outcome == "taken"
    in_group = await here.take("in a group", thread="-100")
    assert in_group.outcome == "refused", "a customer who is known is none in a group"
