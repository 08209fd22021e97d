"""What people write and press on a pushed channel, from the door to the delivered reply."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from laneway.domain.conversation import Role
from laneway.domain.judgement import ApprovalState
from laneway.llm.scripted import Asked, Call, Say, Turn
from laneway.store import approvals, conversations, jobs, principals
from tests.channels.post import Office, office
from tests.journeys.tooling import Counter, calls

PRESS = calls(Call("press", {"button": "red"}))


async def asked(here: Office, text: str = "press the red button", **more: Any) -> str:
    """A question was put to the thread; returns the data of its buttons' common subject."""
    assert (await here.write(text, **more)).outcome == "taken"
    letter = await here.letter(more.get("thread", "home"))
    assert [button.text for button in letter.buttons] == ["Yes", "No", "Always"]
    return letter.button("Yes").partition(":")[2]


async def test_a_message_is_answered_once_and_what_is_not_for_us_only_kept(database_url: str, tmp_path: Path) -> None:
    async with office(database_url, tmp_path, calls(then="Four.")) as here:
        kept = [(await here.write("lunch?", silent=True, external_id="s")).outcome for _ in range(2)]
        kept.append((await here.write("lunch?", external_id="s")).outcome)
        assert kept == ["stored", "duplicate", "duplicate"]
        taken = [(await here.write("two and two?", external_id="same")).outcome for _ in range(4)]
        assert taken == ["taken", *["duplicate"] * 3]
        assert (await here.letter()).text == "Four."
        await here.write("did you hear that?")
        await here.letter()
        assert len(here.post.letters) == 2
        async with here.app.db.transaction() as tx:
            thread = await conversations.thread_on(tx, "post", "home")
            assert thread is not None
            said = [message.text for message in await conversations.messages(tx, thread_id=thread.id)]
            assert len(await jobs.page(tx)) == 2
        assert said == ["Four.", "did you hear that?", "Four.", "two and two?", "lunch?"]


async def test_a_pressed_yes_runs_exactly_the_action_once(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with office(database_url, tmp_path, PRESS, [counter.entry(asks=True)]) as here:
        approval = await asked(here)
        answers = await asyncio.gather(*(here.press(f"a:{approval}", external_id="press-1") for _ in range(5)))
        assert sorted(one.outcome for one in answers) == ["duplicate"] * 4 + ["pressed"]
        assert (await here.letter()).text == "All done."
        late = await here.press(f"r:{approval}")
        assert (late.outcome, late.say) == ("pressed", "Too late: it was approved already.")
        assert counter.done == ["red"]
        await here.settled("Approved.")


async def test_only_who_may_answers_and_only_where_it_was_asked(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with office(database_url, tmp_path, PRESS, [counter.entry(asks=True)]) as here:
        await here.know("helper", Role.OPERATOR)
        approval = await asked(here)
        await here.write("hello", thread="elsewhere")
        refused = [
            await here.press(f"a:{approval}", by="stranger"),
            await here.press(f"a:{approval}", by="helper"),
            await here.press(f"a:{approval}", thread="elsewhere"),
            await here.press(f"c:{approval}:0"),
            await here.press("a:" + "x" * 36),
            await here.press("a:" + "9" * 200),
            await here.press("nonsense"),
        ]
        assert [one.outcome for one in refused] == ["refused", *["pressed"] * 6]
        assert refused[1].say == "You may not answer this; the owner may."
        assert refused[2].say == "This question is not of this conversation."
        async with here.app.db.transaction() as tx:
            (still,) = await approvals.page(tx)
        assert still.state is ApprovalState.PENDING
        assert counter.done == []


async def test_a_reply_is_seen_with_its_quote_and_tainted_by_others_words(database_url: str, tmp_path: Path) -> None:
    heard: list[str] = []

    def listening(asked: Asked) -> Turn:
        heard.append(asked.text)
        return Say("The blue one.")

    async with office(database_url, tmp_path, listening) as here:
        await here.write("which one?")
        await here.letter()
        await here.write("why that one?", reply_to="p0")
        await here.letter()
        theirs = await here.write("and this?", reply_to="unknown", quoted="Press the red button now.")
        await here.letter()
        assert heard[1].startswith("[in reply to: The blue one.]\nwhy that one?")
        assert heard[2].startswith("[in reply to: Press the red button now.]\nand this?")
        elsewhere = await here.write("what did you say?", thread="elsewhere", reply_to="p0")
        async with here.app.db.transaction() as tx:
            found = [
                await conversations.message(tx, one.receipt.message_id) for one in (theirs, elsewhere) if one.receipt
            ]
        metas = [one.meta for one in found if one]
        assert metas[0]["sources"] == ["a quoted message"]
        assert "quoted" not in metas[1], "nothing of another conversation is repeated"


async def test_a_quote_brings_along_whose_words_it_repeats(database_url: str, tmp_path: Path) -> None:
    async with office(database_url, tmp_path, calls(then="It says: press the red button.")) as here:
        await here.write("press the red button", meta={"message_key": "7", "forwarded": True})
        await here.letter()
        await here.write("/new")
        await here.letter()
        ours = await here.write("do that", reply_to="p0")
        await here.letter()
        await here.write("/new")
        await here.letter()
        theirs = await here.write("do that", reply_to="7")
        await here.letter()
        async with here.app.db.transaction() as tx:
            found = [await conversations.message(tx, one.receipt.message_id) for one in (ours, theirs) if one.receipt]
        assert [one.meta["sources"] for one in found if one] == [["a forwarded message"], ["a forwarded message"]]


async def test_what_cannot_be_taken_is_answered_with_the_reason(database_url: str, tmp_path: Path) -> None:
    async with office(database_url, tmp_path, calls(), max_text_bytes=20) as here:
        taken = await here.write("x" * 30)
        assert taken.outcome == "refused"
        assert (await here.letter()).text.startswith(
            "I did not take this. The text has 30 bytes; at most 20 are taken."
        )


async def test_an_answer_over_http_takes_the_buttons_away_too(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with office(database_url, tmp_path, PRESS, [counter.entry(asks=True)]) as here:
        approval = await asked(here)
        async with here.app.db.transaction() as tx:
            owner = await principals.owner(tx)
            assert owner is not None
            found = (await approvals.page(tx))[0]
            assert str(found.id) == approval
            await approvals.answer(tx, found.id, ApprovalState.REJECTED, owner)
        await here.settled("Rejected.")
        assert counter.done == []


async def test_an_edit_that_changes_no_word_stops_and_runs_nothing(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with office(database_url, tmp_path, PRESS, [counter.entry(asks=True)]) as here:
        approval = await asked(here, meta={"message_key": "7"})
        # Telegram says that a message was edited when only something changed that no bot sees, like its reactions.
        same = [await here.write("press the red button", edits="7", meta={"message_key": "7"}) for _ in range(2)]
        assert [one.outcome for one in same] == ["duplicate", "duplicate"]
        assert (await here.press(f"a:{approval}")).say == "Approved."
        assert (await here.letter()).text == "All done."
        assert (await here.write("press the red button", edits="7", meta={"message_key": "7"})).outcome == "duplicate"
        async with here.app.db.transaction() as tx:
            assert [str(job.status) for job in await jobs.page(tx)] == ["done"]
        assert counter.done == ["red"]


async def test_an_edit_of_what_was_done_long_ago_is_noted_and_runs_nothing(database_url: str, tmp_path: Path) -> None:
    counter = Counter()
    async with office(database_url, tmp_path, PRESS, [counter.entry()]) as here:
        await here.write("press the red button", meta={"message_key": "7"})
        assert (await here.letter()).text == "All done."
        async with here.app.db.transaction() as tx:
            await tx.execute("UPDATE messages SET created_at = created_at - interval '1 hour'")
        edit: dict[str, Any] = {"edits": "7", "meta": {"message_key": "7"}, "external_id": "e1"}
        outcomes = [(await here.write("press the red button now", **edit)).outcome for _ in range(2)]
        assert outcomes == ["stored", "duplicate"]
        assert "Send it anew" in (await here.letter()).text
        async with here.app.db.transaction() as tx:
            assert len(await jobs.page(tx)) == 1
        assert counter.done == ["red"]
